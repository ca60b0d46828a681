"""Finding sizes of axes in a graph: where they are measured, and what they cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from detaudit.models.scope import attribute, operand
from detaudit.models.tables import Lookup

if TYPE_CHECKING:
    import onnx

    from detaudit.models.scope import Scope

_SAME_SHAPE = (
    *("Cast", "Identity", "Neg", "Abs", "Sign", "Not", "CumSum"),
    *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
)
"""Operators whose output has the shape of input 0, comparisons being with a constant."""


def sliced_tables(scope: Scope) -> Iterator[Lookup]:
    """Find the constants of which a computed number of entries is taken.

    Args:
        scope: graph, subgraph or function

    Yields:
        the tensor that holds the number, with the number of entries that there are; a slice
        that wants more gets fewer, and what is added to it then no longer fits

    """
    for node in scope.nodes:
        table, ends = operand(node, 0), operand(node, 2)
        if node.op_type != "Slice" or scope.tensor(table) is None:
            continue
        axes, dims = scope.value(operand(node, 3)), scope.dims(table)
        if axes is None or not dims:
            continue
        for axis, end in zip(axes.tolist(), _elements(scope, ends, axes.size), strict=False):
            if scope.tensor(end) is None and -len(dims) <= axis < len(dims) and dims[axis] > 1:
                sizes = ", ".join(map(str, dims))
                yield Lookup(end, dims[axis], f"takes a part of '{table}' [{sizes}]")


def shape_axis(scope: Scope, name: str) -> tuple[str, int] | None:
    """Tell which axis of which tensor a computed integer measures.

    Args:
        scope: where the name is looked up
        name: tensor that holds the integer

    Returns:
        tensor and axis, None when it measures no single axis; the last entry of a running
        count of ones is at most the size of the axis that it runs along

    """
    node = scope.producers.get(name)
    if node is None:
        return None
    if node.op_type == "CumSum":
        axis = _integer(scope, operand(node, 1))
        return None if axis is None else (operand(node, 0), axis)
    if node.op_type == "Shape":
        first = attribute(node, "start", 0)
        return (operand(node, 0), first) if _takes_one(first, attribute(node, "end")) else None
    if node.op_type == "Gather":
        axis = _integer(scope, operand(node, 1))
    elif node.op_type == "Slice":
        start, end = (_integer(scope, operand(node, position)) for position in (1, 2))
        axis = start if start is not None and _takes_one(start, end) else None
    else:
        return None
    measured = _whole_shape(scope, operand(node, 0))
    return None if measured is None or axis is None else (measured, axis)


def axis_name(scope: Scope, name: str, axis: int) -> str | None:
    """Name an axis of a tensor, through operators that keep its shape.

    Args:
        scope: where the name is looked up
        name: tensor
        axis: axis, counted from the end when negative

    Returns:
        the name of an open axis, None for a fixed or unnamed one

    """
    for _ in range(len(scope.producers) + 1):
        if name in scope.types and scope.types[name].tensor_type.HasField("shape"):
            axes = scope.types[name].tensor_type.shape.dim
            return (axes[axis].dim_param or None) if -len(axes) <= axis < len(axes) else None
        node = scope.producers.get(name)
        if node is None or node.op_type not in _SAME_SHAPE:
            return None
        name = operand(node, 0)
    return None


def _elements(scope: Scope, name: str, count: int) -> list[str]:
    """Name the tensors that a short vector is joined from."""
    node = scope.producers.get(name)
    if node is not None and node.op_type == "Concat" and len(node.input) == count:
        return list(node.input)
    return [name] if count == 1 else []


def _whole_shape(scope: Scope, name: str) -> str | None:
    """Name the tensor whose whole shape a vector holds."""
    node: onnx.NodeProto | None = scope.producers.get(name)
    while node is not None and node.op_type == "Cast":
        node = scope.producers.get(operand(node, 0))
    if node is None or node.op_type != "Shape" or node.attribute:
        return None
    return operand(node, 0)


def _integer(scope: Scope, name: str) -> int | None:
    """Read a constant of one element."""
    value = scope.value(name)
    return int(value.item()) if value is not None and value.size == 1 else None


def _takes_one(start: int, end: int | None) -> bool:
    """Tell whether a slice of a shape holds one axis."""
    if start == -1:
        return end is None or end > 0
    return end is not None and end == start + 1
