"""Files of torch, told apart by what they hold and without running any code of theirs."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from detaudit.errors import ModelError
from detaudit.models import external, pickles, torch_export
from detaudit.models.archive import DAMAGE, check_growth
from detaudit.models.content import SUPPORTED, find_existing, one_line, recognise
from detaudit.models.pickles import Pickled, read_pickle, read_saved

Kind = Literal["export", "script", "pickle"]
"""What ``torch.export.save``, ``torch.jit.save`` or ``torch.save`` of a module has written."""

_Shape = Literal["export", "script", "pickle", "package"]

_SHOWN = 4


def is_torch_archive(names: Iterable[str]) -> bool:
    """Tell by the names in a zip archive whether torch has written it.

    Args:
        names: as the archive gives them; torch puts all in a folder named after the file

    """
    return _tell_shape(names) is not None


def read_torch_file(path: Path, *, trust: bool) -> Kind:
    """Tell what a file of torch holds, whatever its name.

    Args:
        path: the file
        trust: whether code that the file brings may run

    Returns:
        its kind

    Raises:
        UsageError: if the path does not exist
        ModelError: if it is no file of torch, is damaged, holds weights without a network, or
            brings code and is not trusted

    """
    path = find_existing(path)
    if path.is_dir():
        raise ModelError(f"{path}: is a folder; a model of torch is a file, or code as net.py:make")
    kind = recognise(path)
    if kind == "zip":
        return _read_archive(path, trust)
    if kind == "pickle":
        return _judge_pickle(_read_legacy(path), path, trust)
    if kind == "safetensors":
        raise _without_network(path)
    raise ModelError(f"{path}: is no model of torch, or a damaged one; {SUPPORTED}")


def measure_parts(paths: Sequence[Path]) -> tuple[int, str]:
    """Give size and digest of the files that make a model of torch.

    Args:
        paths: the model file, or all code and the checkpoint; one or more

    Returns:
        bytes of all files, and the SHA-256 of the only one, or of what ``sha256sum`` prints for
        them sorted by name, where files of the same name in several folders take these before it

    Raises:
        ModelError: if one cannot be read

    """
    files = list(dict.fromkeys(path.resolve() for path in paths))
    digests = [external.digest_file(path) for path in files]
    size = sum(path.stat().st_size for path in files)
    if len(files) == 1:
        return size, digests[0]
    depth = 1
    while len({path.parts[-depth:] for path in files}) < len(files):
        depth += 1
    names = ["/".join(path.parts[-depth:]) for path in files]
    return size, external.digest(dict(zip(names, digests, strict=True)))


def _tell_shape(names: Iterable[str]) -> _Shape | None:
    every = set(names)
    inner = every | {name.partition("/")[2] for name in every}
    if inner & {"archive_format", "serialized_exported_program.json"}:
        return "export"
    if ".data/extern_modules" in inner:
        return "package"
    old_script = "model.json" in inner and any(name.startswith("code/") for name in inner)
    if "constants.pkl" in inner or old_script:
        return "script"
    return "pickle" if "data.pkl" in inner else None


def _read_archive(path: Path, trust: bool) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            shape = _tell_shape(archive.namelist())
            if shape == "export":
                torch_export.check(archive, path, trust=trust)
                return "export"
            if shape == "script":
                return "script"
            if shape == "pickle":
                return _judge_pickle(_read_members(archive, path), path, trust)
    except DAMAGE as error:
        raise _damaged(path, error) from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    if shape == "package":
        raise ModelError(
            f"{path}: is a package of torch.package, which detaudit does not open; save the model "
            "with torch.export.save, or give code that builds it: net.py:make"
        )
    raise ModelError(f"{path}: is a zip archive that torch has not written; {SUPPORTED}")


def _read_members(archive: zipfile.ZipFile, path: Path) -> list[Pickled]:
    members = [entry for entry in archive.infolist() if Path(entry.filename).name == "data.pkl"]
    check_growth(members, path)
    found = []
    for member in members:
        with archive.open(member) as file:
            found.append(read_pickle(file))
    return found


def _read_legacy(path: Path) -> tuple[Pickled, ...]:
    try:
        with path.open("rb") as file:
            found = read_saved(file)
    except pickles.DAMAGE as error:
        raise _damaged(path, error) from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(found) == 1:
        raise ModelError(f"{path}: is a pickle that torch.save has not written; {SUPPORTED}")
    return found


def _judge_pickle(found: Sequence[Pickled], path: Path, trust: bool) -> Literal["pickle"]:
    foreign = tuple(dict.fromkeys(name for part in found for name in part.foreign))
    if not foreign:
        raise _without_network(path)
    if found[0].container:
        raise ModelError(
            f"{path}: holds no network but a dict or list with weights and objects of other kinds "
            f"({_list(foreign)}); save the weights alone, and give the code that builds the "
            "network too: net.py:make:WEIGHTS.pth"
        )
    if not trust:
        raise ModelError(
            f"{path}: is a pickled module, and unpickling runs code that the file names "
            f"({_list(foreign)}); if you trust where it comes from, add --trust; better save it "
            "with torch.export.save or torch.jit.save, or give its code: net.py:make:WEIGHTS.pth"
        )
    return "pickle"


def _without_network(path: Path) -> ModelError:
    return ModelError(
        f"{path}: holds weights without a network; give the code that builds it too: "
        f"net.py:make:{path}"
    )


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _damaged(path: Path, error: BaseException) -> ModelError:
    reason = one_line(error)
    return ModelError(f"{path}: is damaged or was cut off" + (f": {reason}" if reason else ""))
