"""The one way in which the builders write a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from onnx import (
    FunctionProto,
    GraphProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
    save,
)

FLOAT = TensorProto.FLOAT
Shape = Sequence[int | str | None] | None


def value(name: str, shape: Shape = ("n",), dtype: int = FLOAT) -> ValueInfoProto:
    """Declare a tensor; a name in the shape is a dynamic axis, no shape an unknown rank."""
    return helper.make_tensor_value_info(name, dtype, shape)


def draw(seed: int, *shape: int) -> np.ndarray:
    """Draw float32 weights of the size that keeps activations near one."""
    scale = 1 / np.sqrt(shape[0] if shape else 1)
    return (np.random.RandomState(seed).standard_normal(shape) * scale).astype(np.float32)


def make_graph(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    weights: Mapping[str, np.ndarray] | None = None,
    name: str = "graph",
) -> GraphProto:
    """Join nodes to a graph; weights become initializers."""
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in (weights or {}).items()]
    return helper.make_graph(nodes, name, inputs, outputs, tensors)


def write(
    path: Path,
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    weights: Mapping[str, np.ndarray] | None = None,
    *,
    opset: int = 17,
    ir: int = 9,
    domains: Mapping[str, int] | None = None,
    functions: Sequence[FunctionProto] = (),
) -> Path:
    """Write a model of operator set 17 and IR version 9 unless said otherwise."""
    imports = {"": opset, **(domains or {})}
    model = helper.make_model(
        make_graph(nodes, inputs, outputs, weights),
        opset_imports=[helper.make_opsetid(*item) for item in imports.items()],
        functions=functions,
        ir_version=ir,
        producer_name="detaudit-tests",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    save(model, path)
    return path
