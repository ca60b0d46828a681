"""Which library runs a model, told by its name and the first bytes of its file."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Literal

Backend = Literal["ort", "torch"]
"""ONNX Runtime or torch."""

_FACTORY = re.compile(r".+\.py:[^:]+(?::.+)?|[A-Za-z_]\w*(?:\.\w+)*:[A-Za-z_][\w.]*(?::.+)?")


def find_backend(model: str) -> Backend:
    """Library that runs a model.

    Args:
        model: what the user names

    Examples:
        >>> find_backend("net.py:make"), find_backend("model.onnx")
        ('torch', 'ort')

    """
    path = Path(model)
    if not path.exists():
        return "torch" if _FACTORY.fullmatch(model) else "ort"
    if path.is_file() and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = {Path(name).name for name in archive.namelist()}
        return "torch" if names & {"data.pkl", "archive_format"} else "ort"
    return "ort"
