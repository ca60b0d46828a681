"""Fixtures for opening models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import parser

from detaudit.models.model import Model
from detaudit.models.opening import open_model

PLAIN = """<ir_version: 8, opset_import: ["" : 17]>
    plain (float[n, 4] x) => (float[n, 4] y) { y = Relu (x) }"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Folder for unpacked and rewritten files."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a model that is given as text, or as a parsed model, and give its path."""

    def write_model(model: str | onnx.ModelProto = PLAIN, name: str = "model.onnx") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        parsed = parser.parse_model(model) if isinstance(model, str) else model
        path.write_bytes(parsed.SerializeToString())
        return path

    return write_model


@pytest.fixture
def opened(write: Callable[..., Path], work: Path) -> Callable[..., Model]:
    """Write a model and open it."""

    def write_and_open(model: str | onnx.ModelProto = PLAIN, **options: object) -> Model:
        return open_model(write(model), work=work, **options)  # type: ignore[arg-type]

    return write_and_open
