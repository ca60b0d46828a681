"""The inputs of the audited model handed to another one, such as its ONNX export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from detaudit.capture.inputs import Inputs
from detaudit.capture.signature import UNKNOWN, fed_inputs, name_axes
from detaudit.errors import ModelError
from detaudit.models.model import Model, TensorInfo

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which input of the other model takes which of the audit.

    Attributes:
        names: name in the other model by the name in the audit
        note: what a reader should know of it, empty where all names are the same

    """

    names: Mapping[str, str]
    note: str

    def rename(self, by_name: Mapping[str, T]) -> dict[str, T]:
        """What is known by the names of the audit, by those of the other model."""
        return {self.names[name]: what for name, what in by_name.items() if name in self.names}


def pair_inputs(inputs: Inputs, model: Model) -> Pairing:
    """Pair inputs by name, what is left by order.

    Args:
        inputs: inputs of the audit
        model: the other model

    Returns:
        the pairing, in which every input that the other model needs takes one of the audit

    Raises:
        ModelError: if there are too few or too many inputs to pair, or one of another type or shape

    """
    if model.transform:
        raise ModelError(f"{model.path}: turns a signal into its input, which no other model takes")
    own = [entry.name for entry in inputs.entries]
    wanted = [i for i in model.inputs if not i.dtype.startswith("optional(") or i.name in own]
    names = {info.name: info.name for info in wanted if info.name in own}
    left = [name for name in own if name not in names]
    open_ = [info.name for info in wanted if info.name not in names]
    if open_ and len(left) != len(open_):
        raise ModelError(
            f"{model.path}: its inputs {', '.join(open_)} are none of the audit's:"
            f" {', '.join(left or own)}"
        )
    by_order = dict(zip(left, open_, strict=True)) if open_ else {}
    names |= by_order
    taken = {info.name: info for info in wanted}
    for mine, theirs in names.items():
        _check_fit(inputs, mine, taken[theirs], model)
    return Pairing(names, _describe(by_order, [] if open_ else left))


def _describe(by_order: Mapping[str, str], unused: Sequence[str]) -> str:
    parts = []
    if by_order:
        pairs = ", ".join(f"{theirs} takes {mine}" for mine, theirs in by_order.items())
        parts.append(f"inputs matched by order: {pairs}")
    if unused:
        parts.append(f"takes no input {', '.join(unused)}")
    return "; ".join(parts)


def _check_fit(inputs: Inputs, name: str, info: TensorInfo, model: Model) -> None:
    entry = next(entry for entry in inputs.entries if entry.name == name)
    shape = inputs.shapes[name]
    if info.dtype in UNKNOWN:
        # Code that does not tell the type takes what comes.
        info = replace(info, dtype=entry.dtype)
    (theirs,) = name_axes(
        fed_inputs(replace(model, inputs=(info,)), {info.name}), {info.name: len(shape)}
    )
    fits = len(theirs.axes) == len(shape) and all(
        isinstance(axis, str) or axis == size for axis, size in zip(theirs.axes, shape, strict=True)
    )
    if theirs.dtype != entry.dtype or not fits:
        sizes = ", ".join(map(str, shape))
        raise ModelError(
            f"{model.path}: its input {theirs.text} does not take the audit's {name}"
            f" {entry.dtype} [{sizes}]"
        )
