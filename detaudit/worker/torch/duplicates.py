"""Operators that leave open which of several values for one place counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_SCATTER = ("scatter.src", "scatter_.src")
_COPY = ("index_copy.default", "index_copy_.default")
_PUT = ("put.default", "put_.default")
_INDEX_PUT = (
    *("index_put.default", "index_put_.default"),
    *("_index_put_impl_.default", "_unsafe_index_put.default"),
)


def leaves_open(func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> bool:
    """Whether a call of an operator writes several values to one place, in no promised order.

    Args:
        func: overload of an operator, as a dispatch mode gets it
        args: its positional arguments
        named: its keyword arguments

    """
    name = str(func).removeprefix("aten.")
    if name not in (*_SCATTER, *_COPY, *_PUT, *_INDEX_PUT):
        return False
    held = dict(zip((one.name for one in func._schema.arguments), args, strict=False)) | dict(named)
    if held.get("accumulate"):
        return False
    if name in _SCATTER:
        return _repeats(held["index"], held["dim"])
    if name in _INDEX_PUT:
        values = held["values"]
        # One value for all places is the same whichever comes last.
        return values.numel() > 1 and _repeats_places(held["self"], held["indices"])
    return _repeats(held["index"].reshape(-1), 0)


def _repeats(index: Any, dim: int) -> bool:
    if not index.dim():
        return False
    return bool((index.sort(dim).values.diff(dim=dim) == 0).any())


def _repeats_places(tensor: Any, indices: Any) -> bool:
    """Whether indices along several axes, of which some may be masks, meet in one place."""
    import torch

    parts, axis = [], 0
    for index in indices:
        if index is None:
            axis += 1
        elif index.dtype in (torch.bool, torch.uint8):
            parts += list(index.nonzero(as_tuple=True))
            axis += index.dim()
        else:
            parts.append(index % max(1, tensor.shape[axis]))
            axis += 1
    places = torch.stack([part.reshape(-1) for part in torch.broadcast_tensors(*parts)])
    return bool(places.unique(dim=1).shape[1] < places.shape[1])
