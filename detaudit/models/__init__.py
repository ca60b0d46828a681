"""Opening models: ONNX files, audonnx folders, and zip archives of either."""

from __future__ import annotations

from detaudit.models.audonnx import audonnx_shape
from detaudit.models.model import IdRange, Labels, Model, RandomOp, TensorInfo
from detaudit.models.opening import open_model

__all__ = [
    "IdRange",
    "Labels",
    "Model",
    "RandomOp",
    "TensorInfo",
    "audonnx_shape",
    "open_model",
]
