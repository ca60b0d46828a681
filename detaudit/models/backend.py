"""Which library runs a model, told by its name and by what its file begins with."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath
from typing import Literal

from detaudit.models.torch_files import is_torch_archive
from detaudit.models.torch_reference import looks_like_reference

Backend = Literal["ort", "torch"]
"""ONNX Runtime or torch."""

_TORCH_SUFFIXES = (".pt", ".pth", ".pt2", ".ts", ".jit", ".py")
_ONNX_BEGIN = b"\x08"
"""The version of the format comes first in an ONNX file."""


def find_backend(model: str) -> Backend:
    """Library that runs a model.

    What cannot be read or is nothing that either library opens goes to the one whose refusal
    tells more: by the suffix of the name.

    Args:
        model: what the user names

    Examples:
        >>> find_backend("net.py:make"), find_backend("model.onnx")
        ('torch', 'ort')

    """
    path = Path(model)
    named_so = path.suffix.lower() in _TORCH_SUFFIXES
    try:
        if path.is_dir():
            return "ort"
        if path.is_file():
            return "torch" if _is_torch_file(path, named_so) else "ort"
    except (OSError, ValueError):
        pass
    return "torch" if named_so or looks_like_reference(model) else "ort"


def _is_torch_file(path: Path, named_so: bool) -> bool:
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"PK"):
        return _is_torch_zip(path, named_so)
    if head.startswith((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"PYTORCH1")):
        return True
    return head.startswith(b'{"', 8) or (named_so and not head.startswith(_ONNX_BEGIN))


def _is_torch_zip(path: Path, named_so: bool) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [PurePosixPath(name) for name in archive.namelist()]
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError):
        return named_so
    # An archive with a model for ONNX Runtime is opened as that, whatever lies beside it.
    if any(
        (name.suffix == ".onnx" or name.name == "model.yaml") and len(name.parts) < 3
        for name in names
    ):
        return False
    return is_torch_archive(map(str, names))
