"""Unpacking zip archives that nobody vouches for."""

from __future__ import annotations

import lzma
import re
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from detaudit.errors import ModelError


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may grow to.

    Attributes:
        members: number of files and folders
        total: bytes of all files together
        ratio: bytes per byte of the archive
        small: bytes up to which the ratio does not matter, as zeros pack well

    """

    members: int = 10_000
    total: int = 64 * 2**30
    ratio: int = 100
    small: int = 256 * 2**20


_LIMITS = Limits()
_BLOCK = 1 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    ValueError,
    OverflowError,
    RuntimeError,
)
"""What the standard library raises on an archive that is broken or not to its liking."""

_DEPTH = 64
"""Folders in each other; nobody packs a model deeper."""

_Member = tuple[PurePosixPath, zipfile.ZipInfo]
"""Safe name of a member, and the member."""


def unpack(path: Path, work: Path, limits: Limits = _LIMITS) -> Path:
    """Unpack a zip archive into a new folder, or refuse all of it.

    Every name and size is checked before anything is written, and the sizes again while the
    files are written, since an archive may lie about them. Whatever fails, the new folder is
    removed.

    Args:
        path: the archive
        work: existing folder
        limits: what the archive may grow to

    Returns:
        the new folder inside ``work``

    Raises:
        ModelError: if a member would leave the folder, is a link or a device, is encrypted or
            appears twice, if the archive is too large, packed too tightly or damaged, or if
            there is no room for it

    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = _checked(archive, path, limits)
            _check_room(members, path, work)
            folder = Path(tempfile.mkdtemp(prefix="unpacked-", dir=work))
            try:
                for name, member in members:
                    _extract(archive, member, folder / name, path)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
    except DAMAGE as error:
        raise ModelError(f"{path}: the archive is damaged or was cut off: {error}") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(f"{path}: could not be unpacked into {work}: {reason}") from None
    return folder


def list_names(path: Path) -> tuple[str, ...]:
    """List what an archive holds.

    Args:
        path: the archive

    Returns:
        names of its members as they are written there

    Raises:
        ModelError: if it is damaged

    """
    try:
        with zipfile.ZipFile(path) as archive:
            return tuple(archive.namelist())
    except DAMAGE as error:
        raise ModelError(f"{path}: the archive is damaged or was cut off: {error}") from None


def check_growth(members: list[zipfile.ZipInfo], path: Path, limits: Limits = _LIMITS) -> None:
    """Refuse an archive that grows too much, as bombs do.

    Args:
        members: what it holds
        path: the archive
        limits: what it may grow to

    Raises:
        ModelError: if it is refused

    """
    total = sum(member.file_size for member in members)
    if total > limits.total:
        raise ModelError(f"{path}: refused, unpacks to {total} bytes; {limits.total} are the limit")
    if total > max(limits.small, limits.ratio * path.stat().st_size):
        raise ModelError(
            f"{path}: refused, unpacks to {total} bytes, more than {limits.ratio} times its size"
        )


def _checked(archive: zipfile.ZipFile, path: Path, limits: Limits) -> list[_Member]:
    """Check all members, and give those to unpack with their safe names."""
    members = archive.infolist()
    if len(members) > limits.members:
        raise ModelError(
            f"{path}: refused, holds {len(members)} members; {limits.members} are the limit"
        )
    check_growth(members, path, limits)
    names = [_check_member(member, path) for member in members]
    _check_unique(names, members, path)
    return [
        (name, member)
        for name, member in zip(names, members, strict=True)
        if name.parts and name.parts[0] != "__MACOSX" and name.name != ".DS_Store"
    ]


def _check_member(member: zipfile.ZipInfo, path: Path) -> PurePosixPath:
    """Refuse a member that is not a plain file or folder inside the archive's folder."""
    name = member.orig_filename
    shown = ascii(name)
    parts = PurePosixPath(name).parts
    if (
        not name
        or name.startswith("/")
        or ".." in parts
        or "\\" in name
        or re.match("[A-Za-z]:", name)
    ):
        raise ModelError(f"{path}: refused, member {shown} would leave the folder")
    if len(parts) > _DEPTH:
        raise ModelError(f"{path}: refused, a member lies {len(parts)} folders deep")
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in name):
        raise ModelError(f"{path}: refused, member {shown} has control characters in its name")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ModelError(f"{path}: refused, member {shown} is a link or a special file")
    if member.flag_bits & 0x2041:  # encrypted, strongly encrypted, encrypted directory
        raise ModelError(f"{path}: refused, member {shown} is encrypted")
    if member.compress_type not in _METHODS:
        raise ModelError(
            f"{path}: member {shown} is packed by method {member.compress_type}; "
            "pack the archive with deflate, as zip programs do by default"
        )
    return PurePosixPath(name)


def _check_unique(names: list[PurePosixPath], members: list[zipfile.ZipInfo], path: Path) -> None:
    """Refuse names that would fall on each other on some file system."""
    files: set[tuple[str, ...]] = set()
    folders: set[tuple[str, ...]] = set()
    for name, member in zip(names, members, strict=True):
        parts = tuple(unicodedata.normalize("NFC", part).casefold() for part in name.parts)
        folders.update(parts[:length] for length in range(1, len(parts)))
        if member.is_dir():
            folders.add(parts)
        elif parts in files:
            raise ModelError(f"{path}: refused, member {str(name)!a} appears twice")
        else:
            files.add(parts)
    both = files & folders
    if both:
        shown = "/".join(min(both))
        raise ModelError(f"{path}: refused, member {shown!a} is a file and a folder")


def _check_room(members: list[_Member], path: Path, work: Path) -> None:
    """Refuse an archive that does not fit on the disk."""
    total, free = sum(member.file_size for _, member in members), shutil.disk_usage(work).free
    if total > free:
        raise ModelError(
            f"{path}: no room to unpack it: needs {total} bytes, {free} are free in {work}"
        )


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, path: Path) -> None:
    """Write one member, of exactly the size that the archive declares."""
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    left = member.file_size
    with archive.open(member) as source, target.open("xb") as file:
        while block := source.read(_BLOCK):
            left -= len(block)
            if left < 0:
                break
            file.write(block)
    if left:
        raise ModelError(
            f"{path}: the archive is damaged or was cut off: member {member.filename!a} "
            "has another size than declared"
        )
