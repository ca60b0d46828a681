"""Sizes for the axes that a model leaves open."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from detaudit.capture.naming import is_mask, is_text, words
from detaudit.capture.shapes import Pin
from detaudit.capture.signal import Signal
from detaudit.capture.signature import Entry

LENGTH = 16
"""Of an axis that nothing else is known of, such as tokens."""

FRAMES = 100
"""Feature vectors per second."""

IMAGE = 224
"""Height and width of an image."""

_SUM = re.compile(r"\s*\w+(?:\s*\+\s*\w+)+\s*")


def choose_sizes(
    entries: tuple[Entry, ...],
    pins: Mapping[str, Pin],
    *,
    batch: Collection[str],
    limits: Mapping[str, int],
    signal: Signal | None,
    samples: int,
    duration: float,
    equal: int | None,
) -> Mapping[str, int]:
    """Size of every open axis.

    Args:
        entries: inputs
        pins: axes that are settled
        batch: axes that count items, 1 long
        limits: largest sizes that position tables allow
        signal: input that takes a raw signal
        samples: its length
        duration: length of what is made of feature vectors, in seconds
        equal: size of all axes that are not settled, None to choose them one by one

    Returns:
        sizes in the order of the inputs; a sum, such as ``past + 1``, follows its parts

    Examples:
        >>> x = Entry("x", "int64", "int64", ("batch", "tokens"))
        >>> mask = Entry("mask", "int64", "int64", ("batch", "past + tokens"))
        >>> past = Entry("past", "float32", "float32", ("batch", 8, "past", 64))
        >>> dict(choose_sizes(
        ...     (x, mask, past), {}, batch={"batch"}, limits={"past": 10}, signal=None,
        ...     samples=0, duration=1.0, equal=None,
        ... ))
        {'batch': 1, 'tokens': 16, 'past + tokens': 26, 'past': 10}

    """
    sizes: dict[str, int] = {}
    for entry in entries:
        for position, axis in enumerate(entry.axes):
            if not isinstance(axis, str) or axis in sizes:
                continue
            if axis in pins:
                sizes[axis] = pins[axis].size
            elif equal is not None:
                sizes[axis] = equal
            elif axis in batch:
                sizes[axis] = 1
            else:
                size = (
                    samples
                    if signal and signal.entry.axes[signal.axis] == axis
                    else _usual(entry, position, batch, duration)
                )
                sizes[axis] = min(size, limits.get(axis, size))
    if equal is None:
        for axis in sizes:
            if axis not in pins and _SUM.fullmatch(axis):
                parts = [int(p) if p.isdigit() else sizes.get(p) for p in re.findall(r"\w+", axis)]
                known = [part for part in parts if part is not None]
                if len(known) == len(parts):
                    sizes[axis] = sum(known)
    return MappingProxyType(sizes)


def _usual(entry: Entry, position: int, batch: Collection[str], duration: float) -> int:
    axis = str(entry.axes[position])
    inner = [size for size in entry.axes if size not in batch]
    opened = [size for size in inner if isinstance(size, str)]
    fixed = [size for size in inner if isinstance(size, int)]
    named = "" if entry.unnamed(position) else axis
    if not {"height", "width", "h", "w"}.isdisjoint(words(named)):
        return IMAGE
    picture = len(entry.axes) == 4 and len(opened) == 2 and bool({1, 3, 4}.intersection(fixed))
    if picture and not is_mask(entry.name) and not is_text(named):
        return IMAGE
    features = len(entry.axes) in (2, 3) and len(opened) == 1 and max(fixed, default=1) > 1
    if entry.floating and features and not is_text(named):
        return max(1, round(duration * FRAMES))
    return LENGTH
