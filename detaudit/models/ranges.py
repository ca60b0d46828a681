"""Which integers the inputs may hold, and how long they may be, as their tables demand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from detaudit.models.lengths import axis_name, shape_axis, sliced_tables
from detaudit.models.model import IdRange
from detaudit.models.scope import operand, walk
from detaudit.models.tables import find_lookups

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import onnx

    from detaudit.models.scope import Scope

    _Integers = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class _Bound:
    """A demand on the elements of a tensor.

    Attributes:
        scope: where the name is looked up
        name: the tensor
        low: smallest allowed value
        high: largest allowed value
        reason: what demands it
        length: whether it holds for sizes of axes only, not for values that a user gives:
            of a sum that must stay small, each part is bounded only when none is negative

    """

    scope: Scope
    name: str
    low: float
    high: float
    reason: str
    length: bool = False


def find_ranges(
    model: onnx.ModelProto, inputs: tuple[str, ...]
) -> tuple[tuple[IdRange, ...], tuple[tuple[str, int], ...]]:
    """Trace tables back to the inputs that index them.

    Args:
        model: parsed model
        inputs: names of the inputs that are fed

    Returns:
        range per input that reaches a table, negative integers (which count from the end)
        left out where others remain; and largest size per named axis, from tables that are
        indexed by position

    Examples:
        >>> from onnx import parser
        >>> text = '''<ir_version: 9, opset_import: ["" : 17]>
        ...     net (int64[n] ids) => (float[n, 2] y) <float[3, 2] words = {1, 2, 3, 4, 5, 6}> {
        ...         y = Gather (words, ids)
        ...     }'''
        >>> find_ranges(parser.parse_model(text), ("ids",))[0]
        (IdRange(input='ids', low=0, high=2, reason="indexes 'words' [3, 2]"),)

    """
    model = _inlined(model)
    values: dict[str, list[_Bound]] = {}
    lengths: dict[str, int] = {}
    pending = [bound for scope in walk(model) if not scope.function for bound in _demands(scope)]
    seen: set[tuple[str, str, float, float, bool]] = set()
    while pending:
        bound = pending.pop()
        key = (bound.scope.path, bound.name, bound.low, bound.high, bound.length)
        if key in seen:
            continue
        seen.add(key)
        size = _length(bound)
        if size is not None and bound.high >= 1:
            lengths[size] = min(int(bound.high), lengths.get(size, int(bound.high)))
        elif bound.name in inputs:
            if not bound.length:
                values.setdefault(bound.name, []).append(bound)
        else:
            pending.extend(_upstream(bound))
    ranges = (_range(name, values[name]) for name in inputs if name in values)
    named = {
        axis.dim_param for value in model.graph.input for axis in value.type.tensor_type.shape.dim
    }
    return (
        tuple(found for found in ranges if found),
        tuple(sorted((name, size) for name, size in lengths.items() if name in named)),
    )


def _inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """Put the bodies of local functions in the place of their calls."""
    from onnx import inliner

    if not model.functions:
        return model
    try:
        return inliner.inline_local_functions(model)
    except Exception:  # classes of the library's own: too large to be copied, or broken
        return model


def _demands(scope: Scope) -> Iterator[_Bound]:
    """Give what the tables of a scope demand."""
    for lookup in find_lookups(scope):
        yield _Bound(scope, lookup.index, 0, lookup.size - 1, lookup.reason)
    for lookup in sliced_tables(scope):
        yield _Bound(scope, lookup.index, 0, lookup.size, lookup.reason, length=True)


def _range(name: str, bounds: list[_Bound]) -> IdRange | None:
    """Join the demands on one input, None when they contradict each other."""
    tightest = min(bounds, key=lambda bound: bound.high)
    high = math.floor(tightest.high)
    low = max(bound.low for bound in bounds)
    low = math.ceil(max(low, 0) if high >= 0 else low)
    return IdRange(name, low, high, tightest.reason) if low <= high else None


def _length(bound: _Bound) -> str | None:
    """Name the input axis whose size a tensor holds, or None."""
    found = shape_axis(bound.scope, bound.name)
    return axis_name(bound.scope, *found) if found else None


def _upstream(bound: _Bound) -> Iterator[_Bound]:
    """Carry a demand over the operator that makes the tensor, to the operator's inputs."""
    node = bound.scope.producers.get(bound.name)
    if node is None:
        return
    if node.op_type == "If":
        place = list(node.output).index(bound.name)
        for branch in bound.scope.children(node):
            if place < len(branch.outputs):
                yield replace(bound, scope=branch, name=branch.outputs[place])
    elif node.op_type in _SAME_VALUES:
        for position in _SAME_VALUES[node.op_type] or range(len(node.input)):
            yield replace(bound, name=operand(node, position))
    elif node.op_type in _CHANGED_VALUES:
        yield from _CHANGED_VALUES[node.op_type](bound, node)


_SAME_VALUES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        ("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose"), (0,)
    ),
    **dict.fromkeys(("Slice", "Gather", "GatherElements", "GatherND", "Expand", "Tile"), (0,)),
    **dict.fromkeys(("Split", "Pad", "ReduceMax", "ReduceMin"), (0,)),
    "Where": (1, 2),
    "ScatterND": (0, 2),
    "ScatterElements": (0, 2),
    "Concat": (),
}
"""Operators that move integers without changing them, with the inputs they take them from;
none listed means all."""


def _add(bound: _Bound, node: onnx.NodeProto) -> Iterator[_Bound]:
    """Shift a demand by a constant; parts of a sum of lengths are bounded by the whole."""
    for position in (0, 1):
        shift = bound.scope.value(operand(node, 1 - position))
        part = replace(bound, name=operand(node, position))
        if shift is None:
            yield replace(part, length=True)
        elif shift.size:
            yield replace(part, low=bound.low - shift.min(), high=bound.high - shift.max())


def _subtract(bound: _Bound, node: onnx.NodeProto) -> Iterator[_Bound]:
    """Shift a demand, or turn it round where the constant comes first."""
    first, second = operand(node, 0), operand(node, 1)
    shift = bound.scope.value(second)
    if shift is not None and shift.size:
        yield replace(bound, name=first, low=bound.low + shift.max(), high=bound.high + shift.min())
    whole = bound.scope.value(first)
    if whole is not None and whole.size:
        yield replace(
            bound, name=second, low=whole.max() - bound.high, high=whole.min() - bound.low
        )


def _multiply(bound: _Bound, node: onnx.NodeProto) -> Iterator[_Bound]:
    """Shrink a demand by a positive constant; a mask of ones leaves a length as it is."""
    for position in (0, 1):
        factor = bound.scope.value(operand(node, 1 - position))
        part = replace(bound, name=operand(node, position))
        if factor is None:
            yield replace(part, length=True)
        elif factor.size and factor.min() > 0:
            yield replace(part, low=bound.low / factor.min(), high=bound.high / factor.max())


def _clip(bound: _Bound, node: onnx.NodeProto) -> Iterator[_Bound]:
    """Drop a demand that clipping fulfils."""
    floor, ceiling = operand(node, 1), operand(node, 2)
    yield from _cut(bound, operand(node, 0), bound.scope.value(floor), bound.scope.value(ceiling))


def _maximum(bound: _Bound, node: onnx.NodeProto) -> Iterator[_Bound]:
    """Drop the lower demand where a constant fulfils it."""
    for position in (0, 1):
        floor = bound.scope.value(operand(node, 1 - position))
        yield from _cut(bound, operand(node, position), floor, None)


def _minimum(bound: _Bound, node: onnx.NodeProto) -> Iterator[_Bound]:
    """Drop the upper demand where a constant fulfils it."""
    for position in (0, 1):
        ceiling = bound.scope.value(operand(node, 1 - position))
        yield from _cut(bound, operand(node, position), None, ceiling)


def _cut(
    bound: _Bound, name: str, floor: _Integers | None, ceiling: _Integers | None
) -> Iterator[_Bound]:
    """Carry what is left of a demand when values are cut at a floor and at a ceiling."""
    low = bound.low if floor is None or floor.min() < bound.low else -math.inf
    if ceiling is None or ceiling.max() > bound.high:
        yield replace(bound, name=name, low=low)


def _modulo(bound: _Bound, node: onnx.NodeProto) -> Iterator[_Bound]:
    """Drop a demand that the remainder fulfils."""
    divisor = bound.scope.value(operand(node, 1))
    if divisor is None or divisor.size == 0 or divisor.max() - 1 > bound.high:
        yield replace(bound, name=operand(node, 0))


def _count(bound: _Bound, node: onnx.NodeProto) -> Iterator[_Bound]:
    """Bound the end of a counted range, which stops one short of it."""
    step = bound.scope.value(operand(node, 2))
    if step is not None and step.item() == 1:
        yield replace(bound, name=operand(node, 1), high=bound.high + 1, length=True)


_CHANGED_VALUES: dict[str, Callable[[_Bound, onnx.NodeProto], Iterator[_Bound]]] = {
    "Add": _add,
    "Sub": _subtract,
    "Mul": _multiply,
    "Clip": _clip,
    "Max": _maximum,
    "Min": _minimum,
    "Mod": _modulo,
    "Range": _count,
}
"""Operators that calculate, with the rule that carries a demand over them."""
