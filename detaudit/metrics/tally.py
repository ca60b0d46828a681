"""What a distance between two outputs is made of, counted up piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from detaudit.metrics.bits import find_changed, same_bytes
from detaudit.metrics.blocks import Array, Kind
from detaudit.metrics.exact import LARGEST, ExactSum
from detaudit.metrics.histogram import OctaveHistogram
from detaudit.metrics.integers import find_gaps
from detaudit.metrics.scratch import borrow
from detaudit.metrics.specials import SpecialCounts, count_specials
from detaudit.metrics.ulp import Grid, find_max_ulp


@dataclass(frozen=True, slots=True)
class Worst:
    """The element that differs most.

    Attributes:
        origin: what the caller called the pair of arrays
        index: place in the array, as many integers as it has axes
        value: what the other output holds there
        reference_value: what the reference output holds there

    """

    origin: tuple[Any, ...]
    index: tuple[int, ...]
    value: Any
    reference_value: Any


@dataclass(slots=True)
class Tally:
    """Sums, counts and maxima over pairs of elements; see `DistanceSummary` for their meaning."""

    elements: int = 0
    finite: int = 0
    changed: int = 0
    pattern_changed: int = 0
    left_out: int = 0
    identical: bool = True
    max_abs: float = 0
    max_ulp: int = 0
    max_reference: float = 0
    signed: ExactSum = field(default_factory=ExactSum)
    absolute: ExactSum = field(default_factory=ExactSum)
    relative: ExactSum = field(default_factory=ExactSum)
    histogram: OctaveHistogram = field(default_factory=OctaveHistogram)
    reference_specials: SpecialCounts = field(default_factory=SpecialCounts)
    other_specials: SpecialCounts = field(default_factory=SpecialCounts)
    largest: Worst | None = None
    first_odd: Worst | None = None

    def merge(self, other: Tally) -> None:
        """Add another tally; of two equally large differences this one's is kept as the worst."""
        self.elements += other.elements
        self.finite += other.finite
        self.changed += other.changed
        self.pattern_changed += other.pattern_changed
        self.left_out += other.left_out
        self.identical &= other.identical
        if other.max_abs > self.max_abs:
            self.max_abs, self.largest = other.max_abs, other.largest
        self.max_ulp = max(self.max_ulp, other.max_ulp)
        self.max_reference = max(self.max_reference, other.max_reference)
        self.signed.merge(other.signed)
        self.absolute.merge(other.absolute)
        self.relative.merge(other.relative)
        self.histogram.merge(other.histogram)
        self.reference_specials = self.reference_specials.plus(other.reference_specials)
        self.other_specials = self.other_specials.plus(other.other_specials)
        self.first_odd = self.first_odd or other.first_odd


@dataclass(frozen=True, slots=True)
class Marks:
    """Places in a piece that are worth naming.

    Attributes:
        largest: where a finite difference exceeds all earlier ones the most
        odd: first place that differs without a finite difference

    """

    largest: int | None = None
    odd: int | None = None


def add_piece(tally: Tally, x: Array, y: Array, kind: Kind, grid: Grid, weight: int) -> Marks:
    """Count up one piece of a pair of arrays.

    Args:
        tally: what to add to
        x: reference, one-dimensional, at least one element
        y: other, as long as ``x`` and of the same kind
        kind: float, integer, boolean or string
        grid: for floats, where ULPs are counted
        weight: how often the pair occurred

    Returns:
        places in the piece that the tally did not know of

    """
    tally.elements += weight * x.size
    if kind == "float":
        return _add_floats(tally, x, y, grid, weight)
    if kind == "integer":
        return _add_integers(tally, x, y, weight)
    changed = find_changed(x, y)
    count = int(np.count_nonzero(changed))
    tally.changed += weight * count
    tally.identical &= not count
    return Marks(odd=int(changed.argmax()) if count else None)


def _add_floats(tally: Tally, x: Array, y: Array, grid: Grid, weight: int) -> Marks:
    raw = x, y
    if np.float16 in (x.dtype, y.dtype):
        # Most processors have no arithmetic of half precision.
        x, y = (z.astype(np.float32) if z.dtype == np.float16 else z for z in raw)
    before, largest = count_specials(x, grid)
    changed = int(np.count_nonzero(x != y))
    # Only a NaN differs from itself, so most pieces that differ need no look at their bytes.
    alike = raw[0].dtype == raw[1].dtype and (not changed or before.nan > 0)
    same = alike and same_bytes(*raw)
    tally.identical &= same
    after = before if same else count_specials(y, grid)[0]
    tally.reference_specials = tally.reference_specials.plus(before, weight)
    tally.other_specials = tally.other_specials.plus(after, weight)
    places, odd = None, None
    if before.infinite or after.infinite:
        keep = np.isfinite(x) & np.isfinite(y)
        broken = find_changed(x, y) & ~keep
        count = int(np.count_nonzero(broken))
        changed = count + int(np.count_nonzero(x[keep] != y[keep]))
        tally.pattern_changed += weight * count
        odd = int(broken.argmax()) if count else None
        places = np.flatnonzero(keep)
        x, y = x[keep], y[keep]
        largest = float(np.abs(x).max(initial=0))
    tally.changed += weight * changed
    if not x.size:
        return Marks(odd=odd)
    tally.finite += weight * x.size
    tally.max_reference = max(tally.max_reference, largest)
    if same:
        tally.left_out += weight * before.zero
        tally.histogram.zeros += weight * x.size
        return Marks()
    tally.max_ulp = max(tally.max_ulp, find_max_ulp(x, y, grid))
    reference, difference = _widen("reference", x), _widen("difference", y)
    difference = np.subtract(difference, reference, out=borrow("difference", x.size, np.float64))
    tally.signed.add_block(difference, weight)
    size = np.abs(difference, out=difference)
    _add_sizes(tally, size, reference, before.zero, weight)
    top = min(float(size.max()), LARGEST)
    if top <= tally.max_abs:
        return Marks(odd=odd)
    tally.max_abs = top
    place = int(size.argmax())
    return Marks(place if places is None else int(places[place]), odd)


def _add_integers(tally: Tally, x: Array, y: Array, weight: int) -> Marks:
    same = x.dtype == y.dtype and same_bytes(x, y)
    tally.identical &= same
    before = SpecialCounts(zero=x.size - int(np.count_nonzero(x)))
    after = SpecialCounts(zero=y.size - int(np.count_nonzero(y)))
    tally.reference_specials = tally.reference_specials.plus(before, weight)
    tally.other_specials = tally.other_specials.plus(after, weight)
    tally.finite += weight * x.size
    tally.max_reference = max(tally.max_reference, int(x.max()), -int(x.min()))
    if same:
        tally.left_out += weight * before.zero
        tally.histogram.zeros += weight * x.size
        return Marks()
    below, gaps = find_gaps(x, y)
    tally.changed += weight * int(np.count_nonzero(gaps))
    size = gaps.astype(np.float64)
    tally.signed.add_block(np.where(below, -size, size), weight)
    _add_sizes(tally, size, x.astype(np.float64), before.zero, weight)
    top = int(gaps.max())
    if top <= tally.max_abs:
        return Marks()
    tally.max_abs = top
    return Marks(int(gaps.argmax()))


def _add_sizes(tally: Tally, size: Array, reference: Array, zeros: int, weight: int) -> None:
    tally.absolute.add_block(size, weight)
    tally.histogram.add(size, weight)
    if zeros:
        keep = reference != 0
        size, reference = size[keep], reference[keep]
        tally.left_out += weight * (keep.size - size.size)
    relative = np.divide(size, reference, out=borrow("relative", size.size, np.float64))
    tally.relative.add_block(np.abs(relative, out=relative), weight)


def _widen(slot: str, x: Array) -> Array:
    if x.dtype == np.float64:
        return x
    wide = borrow(slot, x.size, np.float64)
    np.copyto(wide, x)
    return wide
