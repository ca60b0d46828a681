"""What an input holds when nobody says what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detaudit.capture import naming
from detaudit.capture.signature import Entry
from detaudit.models.model import IdRange
from detaudit.seeding import Stream

Array = NDArray[Any]

SMALL = 9
"""Largest integer where no table bounds it."""

_WHOLE = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
"""Integers that are fed as float32 since NumPy lacks their types."""


@dataclass(frozen=True, slots=True)
class Fill:
    """How an input is filled.

    Attributes:
        source: in words, such as ``normal(0, 1)``
        make: array of a sample, from its stream
        constant: whether all samples are the same
        note: remark for the user, empty for none

    """

    source: str
    make: Callable[[Stream], Array]
    constant: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the usual content of an input depends on.

    Attributes:
        entries: all inputs
        shapes: shape of each input
        batch: names of the axes that count items
        ranges: integers that an input may hold
        rate: samples per second

    """

    entries: tuple[Entry, ...]
    shapes: Mapping[str, tuple[int, ...]]
    batch: Collection[str]
    ranges: Mapping[str, IdRange]
    rate: int


def fill_constant(array: Array, source: str, note: str = "") -> Fill:
    """Fill an input with the same array in every sample.

    Args:
        array: what the input holds, read-only from now on
        source: where it comes from
        note: remark for the user

    """
    array.flags.writeable = False
    return Fill(source, lambda _: array, constant=True, note=note)


def fill_usual(entry: Entry, around: Surroundings) -> Fill:
    """Fill an input with what its type, its name and the tables that it indexes suggest.

    Masks hold ones (padding masks zeros), sampling rates the rate, lengths the length of the
    input that they belong to, numbers of rank 0 a one. Apart from these, floating-point values
    are standard normal, integers are drawn from what their table allows, from the whole range
    for 2 to 8 bits, else from 0 to 9; booleans are random.

    Args:
        entry: the input
        around: sizes and other inputs

    """
    shape = around.shapes[entry.name]
    bounds = around.ranges.get(entry.name)
    settled = _settled(entry, around)
    if settled is not None:
        if bounds:
            settled = min(max(settled, bounds.low), bounds.high)
        dtype = np.dtype(entry.dtype)
        if dtype.kind in "iu":
            settled = min(settled, np.iinfo(dtype).max)
        words = {0: "zeros", 1: "ones"} if shape else {}
        return fill_constant(np.full(shape, settled, dtype), words.get(settled, f"value {settled}"))
    if entry.dtype == "string":
        note = f"{entry.name} holds made-up words; give text with --input {entry.name}=@FILE.npy"
        return Fill("made-up words", lambda s: s.strings(shape).astype(np.str_), note=note)
    if entry.dtype == "bool":
        return Fill("booleans", lambda s: s.booleans(shape))
    if bounds:
        return fill_integers(entry, shape, bounds.low, bounds.high)
    if entry.declared in _WHOLE:
        return fill_integers(entry, shape, *_WHOLE[entry.declared])
    if entry.floating:
        return Fill("normal(0, 1)", lambda s: s.normal(shape, entry.dtype))
    limits = np.iinfo(entry.dtype)
    if limits.bits == 8:
        return fill_integers(entry, shape, limits.min, limits.max)
    note = (
        f"{entry.name}: no table bounds its integers, 0 to {SMALL} are used;"
        f" choose others with --input {entry.name}=int:LOW:HIGH"
    )
    return fill_integers(entry, shape, 0, SMALL, note)


def fill_integers(
    entry: Entry, shape: tuple[int, ...], low: int, high: int, note: str = ""
) -> Fill:
    """Fill an input with random integers.

    Args:
        entry: the input, of integers or floating-point values
        shape: its shape
        low: smallest value; what the type cannot hold is left out
        high: largest value, included
        note: remark for the user

    """
    dtype = np.dtype(entry.dtype)
    if dtype.kind == "f":
        last = 2 ** (np.finfo(dtype).nmant + 1)
        bottom, top = max(low, -last), min(high, last)
    else:
        bottom, top = max(low, int(np.iinfo(dtype).min)), min(high, int(np.iinfo(dtype).max))

    def make(stream: Stream) -> Array:
        drawn = stream.integers(bottom, top, shape, dtype if dtype.kind != "f" else "int64")
        return drawn.astype(dtype, copy=False)

    return Fill(f"integers {bottom} to {top}", make, note=note)


def _settled(entry: Entry, around: Surroundings) -> int | None:
    """Value that all elements of an input have, None when they are drawn."""
    if entry.dtype in ("string", "bool") and not naming.is_mask(entry.name):
        return None
    if entry.dtype == "string":
        return None
    if naming.is_mask(entry.name):
        return 0 if naming.is_padding_mask(entry.name) else 1
    if naming.is_rate(entry.name) and all(size == 1 for size in around.shapes[entry.name]):
        return around.rate
    if entry.integral and len(entry.axes) <= 1 and naming.is_length(entry.name):
        length = _length(entry, around)
        if length is not None:
            return length
    # A number of its own is a factor, a count or a switch rather than data.
    return 1 if entry.axes == () and entry.name not in around.ranges else None


def _length(entry: Entry, around: Surroundings) -> int | None:
    """Length of the input that a length belongs to: the one it shares most words with."""
    own = set(naming.words(entry.name))
    others = [other for other in around.entries if other is not entry and len(other.axes) > 0]
    others.sort(key=lambda other: -len(own.intersection(naming.words(other.name))))
    for other in others:
        shape = around.shapes[other.name]
        inner = [i for i, axis in enumerate(other.axes) if axis not in around.batch]
        opened = [i for i in inner if isinstance(other.axes[i], str)]
        if opened:
            return shape[opened[0]]
        if inner:
            return max(shape[i] for i in inner)
    return None
