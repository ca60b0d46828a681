"""Inputs and outputs of an exported program."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from detaudit.worker.torch.outputs import name_outputs
from detaudit.worker.torch.signature import Signature

_INPUT = "USER_INPUT"


@dataclass(frozen=True, slots=True)
class _Slot:
    """Place of an input in the structure of the arguments."""

    value: Any


def read_program(program: Any, module: Any) -> Signature:
    """Signature of an exported program.

    Args:
        program: the ``ExportedProgram``
        module: what its ``module()`` returned

    Returns:
        inputs in the structure of the call that was exported, with the symbols of their open axes
        and the sizes that these may have

    """
    from torch.utils._pytree import tree_unflatten

    held = {node.name: node.meta.get("val") for node in program.graph.nodes}
    slots = [
        _Slot(held.get(spec.arg.name, getattr(spec.arg, "value", None)))
        for spec in program.graph_signature.input_specs
        if spec.kind.name == _INPUT
    ]
    args, named = tree_unflatten(slots, program.call_spec.in_spec)
    names = _name_arguments(module, len(args))
    found = Signature()
    found.call = {
        "args": [_build(found, names[i], item) for i, item in enumerate(args)],
        "kwargs": {name: _build(found, name, item) for name, item in named.items()},
    }
    symbols = {size for entry in found.inputs for size in entry["shape"] if isinstance(size, str)}
    found.limits = [
        [str(symbol), _bound(span.upper), _bound(span.lower) or 0]
        for symbol, span in program.range_constraints.items()
        if str(symbol) in symbols
    ]
    out = program.call_spec.out_spec
    found.outputs = name_outputs(tree_unflatten(range(out.num_leaves), out))
    return found


def _name_arguments(module: Any, count: int) -> list[str]:
    names = list(inspect.signature(module.forward).parameters)
    return [names[i] if i < len(names) else f"args[{i}]" for i in range(count)]


def _build(found: Signature, path: str, value: Any) -> dict[str, Any]:
    import torch

    if isinstance(value, _Slot):
        held = value.value
        if not isinstance(held, torch.Tensor):
            return {"constant": _plain(held)}
        shape = [_size(size) for size in held.shape]
        return found.add(path, str(held.dtype).removeprefix("torch."), shape)
    if isinstance(value, Mapping):
        items = value.items()
        return {"dict": {k: _build(found, f"{path}[{json.dumps(k)}]", v) for k, v in items}}
    nodes = [_build(found, f"{path}[{index}]", item) for index, item in enumerate(value)]
    return {"tuple" if isinstance(value, tuple) else "list": nodes}


def _plain(value: Any) -> Any:
    """A number that may be a symbol, as the number that it was exported with."""
    node = getattr(value, "node", None)
    return value if node is None else node.hint


def _size(size: Any) -> int | str | None:
    """Size of an axis: a number, a symbol, or None where it follows from other sizes."""
    if isinstance(size, int):
        return int(size)
    text = str(size)
    return text if text.isidentifier() else None


def _bound(value: Any) -> int | None:
    """A limit as a number, None where it is infinite."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
