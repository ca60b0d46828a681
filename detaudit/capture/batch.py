"""Which axis of an input or output counts the items of a batch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from detaudit.capture.naming import is_batch, is_state, is_time
from detaudit.capture.signature import Entry
from detaudit.models.model import TensorInfo


def find_batch(entries: tuple[Entry, ...]) -> frozenset[str]:
    """Open axes that count the items of a batch.

    An axis called like a batch is one. Else the first axis is one when others follow and it is
    not called like time; for the state of a recurrent layer, ``[layers, batch, width]``, it is
    the second.

    Args:
        entries: inputs

    Returns:
        names of axes

    Examples:
        >>> sorted(find_batch((
        ...     Entry("x", "float32", "float32", ("n", "time")),
        ...     Entry("state", "float32", "float32", (2, "state[1]", 128)),
        ...     Entry("mel", "float32", "float32", ("frames", 80)),
        ... )))
        ['n', 'state[1]']

    """
    return frozenset(
        axis
        for entry in entries
        for position, axis in enumerate(entry.axes)
        if isinstance(axis, str) and _counts_items(entry, position, axis, len(entries))
    )


def batch_axes(entries: tuple[Entry, ...], batch: Collection[str]) -> Mapping[str, int]:
    """Batch axis of each input that has one, empty when samples cannot be stacked.

    Args:
        entries: inputs
        batch: names of the axes that count items

    """
    found = {}
    for entry in entries:
        positions = [i for i, axis in enumerate(entry.axes) if axis in batch]
        if len(positions) > 1:
            return {}
        if positions:
            found[entry.name] = positions[0]
    return found


def batch_outputs(
    outputs: Iterable[TensorInfo], batch: Collection[str], inputs: Mapping[str, int]
) -> Mapping[str, int]:
    """Batch axis of each output that has one.

    Args:
        outputs: outputs of the model
        batch: names of the axes that count items
        inputs: batch axis of the inputs

    Returns:
        the axis of that name, else the one that a state has among the inputs, else the first
        when it is open

    Examples:
        >>> batch_outputs((TensorInfo("y", "float32", (None, 3)),), {"n"}, {"x": 0})
        {'y': 0}

    """
    if not inputs:
        return {}
    states = [axis for name, axis in inputs.items() if is_state(name)]
    found = {}
    for output in outputs:
        shape = output.shape if output.shape is not None else (None,)
        named = [i for i, axis in enumerate(shape) if axis in batch]
        if named:
            found[output.name] = named[0]
        elif states and is_state(output.name) and len(shape) > states[0]:
            found[output.name] = states[0]
        elif shape and not isinstance(shape[0], int) and not is_time(shape[0] or ""):
            found[output.name] = 0
    return found


def _counts_items(entry: Entry, position: int, axis: str, inputs: int) -> bool:
    # A name made up from that of the input says nothing of the axis.
    if not entry.unnamed(position):
        if is_batch(axis):
            return True
        if is_time(axis):
            return False
    rank = len(entry.axes)
    if is_state(entry.name) and rank == 3 and isinstance(entry.axes[0], int):
        return position == 1
    # Integers in a row beside other inputs: a length or a speaker per item.
    row = rank == 1 and inputs > 1 and entry.integral
    return position == 0 and (rank > 1 or row)
