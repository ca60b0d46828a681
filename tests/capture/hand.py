"""Models made by hand: what is declared, without a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from detaudit.capture.inputs import Inputs, make_inputs
from detaudit.models.model import Model, TensorInfo
from detaudit.spec import InputSpec


def make_model(*inputs: TensorInfo, **facts: Any) -> Model:
    """Model that declares these inputs."""
    path = Path("hand.onnx")
    known = {"format": "onnx", "root": None, "outputs": (), **facts}
    return Model(path=path, sha256="", size=0, graph=path, inputs=inputs, **known)


def tensor(name: str, dtype: str = "float32", *shape: int | str | None) -> TensorInfo:
    """Input or output of known rank."""
    return TensorInfo(name, dtype, shape)


def make(model: Model, *, equal_sizes: int | None = None, **spec: Any) -> Inputs:
    """Inputs of a model under a specification."""
    return make_inputs(model, InputSpec(**spec), equal_sizes=equal_sizes)
