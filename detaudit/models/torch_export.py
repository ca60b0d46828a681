"""What an exported program of torch would run when it is loaded."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from detaudit.errors import ModelError
from detaudit.models.archive import check_growth
from detaudit.models.content import one_line
from detaudit.models.pickles import Pickled, read_pickle, read_saved
from detaudit.models.torch_program import find_code

_OLD_PROGRAM = "serialized_exported_program.json"
_COMPILED = (".so", ".dll", ".dylib", ".pyd", ".o", ".a", ".cpp", ".cubin")
_WEIGHTS = ("data/weights/", "data/constants/")
_SCRIPTED = "data/constants/custom_obj_"
"""Objects that torch reads without Python."""


def check(archive: zipfile.ZipFile, path: Path, *, trust: bool) -> None:
    """Make sure that torch can load a program from an archive, and runs no code by that.

    ``torch.export.load`` loads compiled code, unpickles what is marked so, and evaluates the
    expressions for open sizes as Python. Without trust none of these may do anything but that.

    Args:
        archive: what ``torch.export.save`` has written
        path: its file, for messages
        trust: whether code that it brings may run

    Raises:
        ModelError: if it holds no program that is called ``model``, or brings code
        Exception: what reading a damaged archive raises

    """
    old = _OLD_PROGRAM in archive.namelist()
    members = {_inner(entry.filename, old): entry for entry in archive.infolist()}
    programs = sorted(name for name in members if _is_program(name))
    compiled = sorted(name for name in members if _is_compiled(name))
    if not programs:
        compiled_only = "compiled code (AOTInductor) and " if compiled else ""
        raise ModelError(f"{path}: holds {compiled_only}no program; save it with torch.export.save")
    if _OLD_PROGRAM not in programs and "models/model.json" not in programs:
        names = ", ".join(one_line(PurePosixPath(name).stem) for name in programs)
        raise ModelError(
            f"{path}: holds programs named {names} and none named model, as torch asks"
        )
    if not trust:
        brought = _find_brought(archive, path, members, programs, compiled)
        if brought:
            raise ModelError(
                f"{path}: brings code that loading or calling it would run ({one_line(brought)}); "
                "if you trust where it comes from, add --trust"
            )


def _find_brought(
    archive: zipfile.ZipFile,
    path: Path,
    members: Mapping[str, zipfile.ZipInfo],
    programs: list[str],
    compiled: list[str],
) -> str:
    """The first piece of code in an archive, empty where there is none."""
    if compiled:
        return compiled[0]
    if len(members) != len(archive.infolist()):
        return "members that hide others of the same name"
    if _OLD_PROGRAM in members and any(name.endswith("archive_format") for name in members):
        return "a second program"
    read = [*programs, *(name for name in members if name.endswith("_config.json"))]
    check_growth([members[name] for name in read], path)
    for name in programs:
        if code := find_code(json.loads(archive.read(members[name]))):
            return code
    marked = set(_find_marked(archive, members))
    for name, member in members.items():
        foreign = _find_foreign(archive, path, member, marked=name in marked)
        if foreign and not name.startswith(_SCRIPTED):
            return f"{foreign} in {name}"
    return ""


def _find_foreign(
    archive: zipfile.ZipFile, path: Path, member: zipfile.ZipInfo, *, marked: bool
) -> str:
    """The first name that unpickling a member would import beside those of tensors."""
    with archive.open(member) as file:
        start = file.read(4)
        file.seek(0)
        if start == b"PK\x03\x04":
            found = _read_inner(file, path)
        else:
            found = read_saved(file) if marked and member.file_size else ()
    return next((name for part in found for name in part.foreign), "")


def _read_inner(file: IO[bytes], path: Path) -> tuple[Pickled, ...]:
    with zipfile.ZipFile(file) as archive:
        members = [one for one in archive.infolist() if one.filename.endswith(".pkl")]
        check_growth(members, path)
        return tuple(read_pickle(archive.open(one)) for one in members)


def _find_marked(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> Iterator[str]:
    """Members that torch would unpickle."""
    for name, member in members.items():
        if name.endswith(".pt") or PurePosixPath(name).name.startswith("opaque_obj_"):
            yield name
        if name.endswith("_config.json"):
            for entry in _entries(json.loads(archive.read(member))):
                if entry.get("use_pickle"):
                    yield from (f"{folder}{entry.get('path_name')}" for folder in _WEIGHTS)


def _entries(config: Any) -> Iterator[Mapping[str, Any]]:
    entries = config.get("config") if isinstance(config, dict) else None
    if isinstance(entries, dict):
        yield from (entry for entry in entries.values() if isinstance(entry, dict))


def _inner(name: str, old: bool) -> str:
    """Name without the folder that torch from 2.8 on names after the file."""
    return name if old else name.partition("/")[2]


def _is_program(name: str) -> bool:
    return name == _OLD_PROGRAM or (name.startswith("models/") and name.endswith(".json"))


def _is_compiled(name: str) -> bool:
    return name.startswith("data/aotinductor/") or name.lower().endswith(_COMPILED)
