"""Recognising what kind of file something is by what it holds, whatever its name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from detaudit.errors import ModelError, UsageError

SUPPORTED = (
    "detaudit opens ONNX files, audonnx folders, zip archives of either, and of torch exported "
    "programs (.pt2), TorchScript files and code, such as net.py:make"
)

_HEAD = 512
"""Bytes that are looked at; a tar archive names itself at 257."""

_OTHER_KINDS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"version https://git-lfs.github.com/", "a Git LFS pointer; fetch it with 'git lfs pull'"),
    (0, b"\x1f\x8b", "a gzip file"),
    (0, b"BZh", "a bzip2 file"),
    (0, b"\xfd7zXZ\x00", "an xz file"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd file"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!", "a rar archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"PYTORCH1", "a TorchScript file of torch 1.0, which no later torch reads; export it anew"),
    (0, b"\x89HDF", "an HDF5 file"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (4, b"ORTM", "a model in ORT format, which tools cannot read; give the ONNX file"),
    (4, b"TFL3", "a TensorFlow Lite model"),
    (0, b"RIFF", "a sound or picture file"),
)

_PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))

Kind = Literal["onnx", "zip", "yaml", "pickle", "safetensors"]


def one_line(text: object) -> str:
    r"""Write a name from a file so that it cannot break or colour the line it is shown in.

    Examples:
        >>> print(one_line("größe\n\x1b[31m"))
        größe\n\x1b[31m

    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(text))


def find_existing(path: str | os.PathLike[str]) -> Path:
    """Check that there is something at a path.

    Args:
        path: what the user names

    Returns:
        the same as a path

    Raises:
        UsageError: if there is nothing

    """
    found = Path(path)
    try:
        if str(path) and found.exists():
            return found
    except OSError as error:
        raise UsageError(f"{path}: cannot be reached: {error.strerror}") from None
    if found.is_symlink():
        raise UsageError(f"{path}: is a link to a file that does not exist")
    raise UsageError(f"{path}: no such file or folder")


def recognise(path: Path) -> Kind:
    """Tell what kind of model file this is.

    Args:
        path: existing file

    Returns:
        ``"zip"``, ``"pickle"``, ``"safetensors"``, ``"yaml"`` for the description in an audonnx
        folder, or ``"onnx"`` for what may be ONNX, which has no signature and is known only once
        it is parsed

    Raises:
        ModelError: if it cannot be read, is empty, or is of a kind that is not supported

    """
    if not path.is_file():
        raise ModelError(f"{path}: is neither a file nor a folder; {SUPPORTED}")
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    if not head:
        raise ModelError(f"{path}: the file is empty; {SUPPORTED}")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return "zip"
    if head.startswith(b"$audonnx"):
        return "yaml"
    if head.startswith(_PICKLES):
        return "pickle"
    for start, signature, kind in _OTHER_KINDS:
        if head.startswith(signature, start):
            raise ModelError(f"{path}: is {kind}; {SUPPORTED}")
    if head.startswith(b'{"', 8):
        return "safetensors"
    if head.lstrip()[:1] in (b"<", b"{", b"#"):
        raise ModelError(f"{path}: is a text file, not a model; {SUPPORTED}")
    return "onnx"
