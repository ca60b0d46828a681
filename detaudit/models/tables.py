"""Finding what a graph indexes: embeddings, position tables, one-hot vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from detaudit.models.scope import attribute, operand

if TYPE_CHECKING:
    import onnx

    from detaudit.models.scope import Scope


@dataclass(frozen=True, slots=True)
class Lookup:
    """A tensor of integers that choose among the entries of a table.

    Attributes:
        index: name of the tensor
        size: number of entries; integers from 0 to ``size - 1`` are in range
        reason: what they choose from, such as ``indexes 'embeddings' [30522, 768]``

    """

    index: str
    size: int
    reason: str


_BY_AXIS = {
    ("", "Gather"): "axis",
    ("", "GatherElements"): "axis",
    ("", "Scatter"): "axis",
    ("", "ScatterElements"): "axis",
    ("com.microsoft", "GatherBlockQuantized"): "gather_axis",
}
"""Operators that choose along one axis of input 0 by input 1, with that axis's attribute."""

_BY_ROW = {
    ("", "RotaryEmbedding"): ((3, 1),),
    ("com.microsoft", "RotaryEmbedding"): ((1, 2),),
    ("com.microsoft", "TorchEmbedding"): ((1, 0),),
    ("com.microsoft", "EmbedLayerNormalization"): ((0, 2), (1, 4), (8, 3)),
    ("com.microsoft", "QEmbedLayerNormalization"): ((0, 2), (1, 4)),
}
"""Operators that choose rows, with the inputs that hold the index and the table."""

_BY_COORDINATE = (("", "GatherND"), ("", "ScatterND"), ("com.microsoft", "GatherND"))
"""Operators whose index has several coordinates, one per axis of the table."""


def find_lookups(scope: Scope) -> Iterator[Lookup]:
    """Find the tensors of a scope that choose among the entries of a table of known size.

    Args:
        scope: graph, subgraph or function

    Yields:
        one entry per tensor and table

    """
    for node in scope.nodes:
        key = ("" if node.domain == "ai.onnx" else node.domain, node.op_type)
        if key in _BY_AXIS:
            yield from _rows(scope, node, 1, 0, attribute(node, _BY_AXIS[key], 0))
        elif key in _BY_COORDINATE:
            yield from _coordinates(scope, node)
        elif key == ("", "OneHot"):
            yield from _one_hot(scope, node)
        elif key == ("", "Equal"):
            yield from _one_hot_by_comparison(scope, node)
        for index, table in _BY_ROW.get(key, ()):
            yield from _rows(scope, node, index, table, 0)


def _rows(
    scope: Scope, node: onnx.NodeProto, index: int, table: int, axis: int
) -> Iterator[Lookup]:
    """Give the lookup of a node that chooses along one axis of a table."""
    name = operand(node, table)
    dims = scope.dims(name)
    if dims and -len(dims) <= axis < len(dims) and dims[axis] > 0 and operand(node, index):
        yield Lookup(operand(node, index), dims[axis], _indexes(name, dims))


def _coordinates(scope: Scope, node: onnx.NodeProto) -> Iterator[Lookup]:
    """Give the lookup by coordinates, all of which stay below the smallest axis that they index."""
    name, index = operand(node, 0), operand(node, 1)
    dims, shape = scope.dims(name), scope.dims(index)
    if not dims:
        return
    first = attribute(node, "batch_dims", 0)
    count = shape[-1] if shape and shape[-1] > 0 else len(dims) - first
    indexed = dims[first : first + count]
    if indexed and min(indexed) > 0:
        yield Lookup(index, min(indexed), _indexes(name, dims))


def _one_hot(scope: Scope, node: onnx.NodeProto) -> Iterator[Lookup]:
    """Give the lookup of a OneHot node of constant depth."""
    depth = scope.value(operand(node, 1))
    if depth is not None and depth.size == 1 and depth.item() > 0:
        size = int(depth.item())
        yield Lookup(operand(node, 0), size, f"becomes a one-hot vector of {size}")


def _one_hot_by_comparison(scope: Scope, node: onnx.NodeProto) -> Iterator[Lookup]:
    """Give the lookup of integers that are compared with 0, 1, 2, … along an axis."""
    import numpy as np

    for position in (0, 1):
        classes = scope.value(operand(node, 1 - position))
        if classes is None or classes.size < 3 or classes.ndim == 0:
            continue
        if max(classes.shape) == classes.size and np.array_equal(
            classes.ravel(), np.arange(classes.size)
        ):
            reason = f"is compared with each of 0 to {classes.size - 1}"
            yield Lookup(operand(node, position), classes.size, reason)


def _indexes(name: str, dims: tuple[int, ...]) -> str:
    """Say which table is indexed."""
    sizes = ", ".join("?" if size < 0 else str(size) for size in dims)
    return f"indexes '{name}' [{sizes}]"
