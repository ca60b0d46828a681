"""Does the printed value change?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from detaudit.metrics.bits import find_changed
from detaudit.metrics.blocks import Array, find_kind, walk
from detaudit.metrics.counts import find_upper_bound
from detaudit.metrics.exact import ExactSum
from detaudit.metrics.histogram import OctaveHistogram
from detaudit.metrics.scratch import borrow
from detaudit.metrics.structure import structural_difference

_EXACT = 2.0**53
"""Whole numbers up to here are all float64 numbers."""

_SLACK = 2.0**-50
"""More than the arithmetic errors of a few float64 operations, relative to their largest value."""

_SPLITTER = 2.0**27 + 1
MOST_DECIMALS = 22
"""Ten to this power is still a float64 number."""


def round_decimals(x: Array, k: int) -> Array:
    """Round to ``k`` decimals as printing does: on the exact binary value, half to even.

    Agrees with ``format(float(x), f".{k}f")`` for every number, whereas `numpy.round` scales in the
    array's own type and rounds twice.

    Args:
        x: float16, float32 or float64, any shape
        k: decimals, 0 to 22

    Returns:
        float64 of that shape, in units of the last decimal: whole numbers, exact below 2**53, where
        decimals end anyway; zero is never negative, special values stay as they are

    Raises:
        ValueError: if ``k`` lies outside of its range

    Examples:
        >>> round_decimals(np.array([0.125, 2.675, -0.001]), 2).tolist()
        [12.0, 267.0, 0.0]

    """
    if not 0 <= k <= MOST_DECIMALS:
        raise ValueError(f"decimals must be 0 to {MOST_DECIMALS}, not {k}")
    wide = np.asarray(x, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.atleast_1d(wide * 10.0**k)
        rounded = np.rint(scaled)
        # The product itself was rounded. Only one that became a tie can hide the right direction.
        tied = np.flatnonzero(np.abs(scaled - rounded) == 0.5)
        if tied.size:
            residue = _find_residue(wide.reshape(-1)[tied], 10.0**k, scaled.reshape(-1)[tied])
            flat = scaled.reshape(-1)[tied]
            sides = np.where(residue > 0, np.ceil(flat), np.floor(flat))
            np.put(rounded, tied, np.where(residue == 0, np.rint(flat), sides))
    return (rounded + 0.0).reshape(wide.shape)


def _find_residue(x: Array, factor: float, product: Array) -> Array:
    """What rounding took from ``x * factor``, exactly [dekker1971]_."""
    high_x, low_x = _split(x)
    high_f, low_f = _split(np.float64(factor))
    error = product - high_x * high_f - low_x * high_f - high_x * low_f
    return np.asarray(low_x * low_f - error)


def _split(x: Array | np.float64) -> tuple[Array, Array]:
    shifted = _SPLITTER * x
    high = shifted - (shifted - x)
    return np.asarray(high), np.asarray(x - high)


@dataclass(frozen=True, slots=True)
class RoundingSummary:
    """How many values print differently at a number of decimals.

    Attributes:
        decimals: decimals printed
        values: values compared; those that are NaN or infinite and stay so have no decimals
        changed: values whose printed forms differ
        changed_upper_bound: what the share of such values does not exceed, with 95 % confidence;
            None without values
        expected_share: share to expect for values not tried, if they lie evenly between the
            rounding boundaries: mean of ``min(|d| / 10**-decimals, 1)``. Where it disagrees with
            the observed share, values do not lie evenly and the observed one is to be trusted.
        at_risk_share: share of values so close to a boundary that a difference of the given size
            could change what is printed, special ones left out; counted in bins: never too small,
            and as if the difference were at most an eighth larger; None where no difference was
            given

    """

    decimals: int
    values: int
    changed: int
    changed_upper_bound: float | None
    expected_share: float
    at_risk_share: float | None


class Rounding:
    """Accumulates how often values print differently.

    Rounding is monotone: any two of several runs print differently exactly when the lowest and the
    highest value do. A pair is thus either a reference and another output, or each element's lowest
    and highest value. NaN and the infinities each print as themselves.

    Args:
        decimals: numbers of decimals to try, each 0 to 22
        at_risk: whether values near a boundary are counted, which costs more than all else

    Examples:
        >>> rounding = Rounding(decimals=[6, 7])
        >>> rounding.update(np.array([-1.8208287], "f4"), np.array([-1.8208290], "f4"))
        >>> [(row.decimals, row.changed) for row in rounding.read()]
        [(6, 0), (7, 1)]

    """

    def __init__(self, decimals: Iterable[int] = range(8), *, at_risk: bool = True) -> None:
        self._decimals = tuple(decimals)
        self._at_risk = at_risk
        self._values = 0
        self._changed = dict.fromkeys(self._decimals, 0)
        self._expected = {k: ExactSum() for k in self._decimals}
        self._to_boundary = {k: OctaveHistogram() for k in self._decimals}

    def update(self, reference: Array, other: Array, weight: int = 1) -> None:
        """Add a pair of outputs.

        Args:
            reference: floats of any shape; the values that may be at risk
            other: floats of the same shape
            weight: how often the pair occurred, at least 1

        Raises:
            TypeError: if the outputs are no floats
            ValueError: if the shapes differ

        """
        if find_kind(reference.dtype) != "float" or find_kind(other.dtype) != "float":
            raise TypeError(f"only floats are rounded, not {reference.dtype} and {other.dtype}")
        problem = structural_difference(reference, other)
        if problem:
            raise ValueError(f"outputs cannot be compared: {problem}")
        with np.errstate(over="ignore", invalid="ignore"):
            for _, (x, y) in walk(reference, other):
                finite = np.isfinite(x) & np.isfinite(y)
                if not finite.all():
                    self._add_broken(int(np.count_nonzero(find_changed(x, y) & ~finite)), weight)
                    x, y = x[finite], y[finite]
                if x.size:
                    self._values += weight * x.size
                    self._add(x.astype(np.float64), y.astype(np.float64), weight)

    def merge(self, other: Rounding) -> None:
        """Add what another accumulator saw.

        Args:
            other: accumulator of the same decimals

        Raises:
            ValueError: if the decimals differ, or only one counts values at risk

        """
        if self._decimals != other._decimals:
            raise ValueError(f"decimals {other._decimals} cannot join {self._decimals}")
        if self._at_risk != other._at_risk:
            raise ValueError("values at risk were counted on one side only")
        self._values += other._values
        for k in self._decimals:
            self._changed[k] += other._changed[k]
            self._expected[k].merge(other._expected[k])
            self._to_boundary[k].merge(other._to_boundary[k])

    def read(self, max_abs: float | None = None) -> tuple[RoundingSummary, ...]:
        """One summary for each number of decimals.

        Args:
            max_abs: largest difference to be reckoned with, such as the largest one seen for this
                output; None leaves ``at_risk_share`` open

        Raises:
            ValueError: if values at risk of a difference were not counted

        """
        if max_abs and not self._at_risk:
            raise ValueError("values at risk were not counted")
        return tuple(self._read(k, max_abs) for k in self._decimals)

    def _add_broken(self, count: int, weight: int) -> None:
        # A value that becomes special prints differently at any number of decimals; one that stays
        # special has no decimals, and is no evidence of anything.
        self._values += weight * count
        for k in self._decimals:
            self._changed[k] += weight * count
            self._expected[k].add(float(count), weight)

    def _add(self, x: Array, y: Array, weight: int) -> None:
        gaps = np.abs(y - x)
        moved = float(gaps.max())
        if not moved and not self._at_risk:
            return
        largest = max(float(x.max()), -float(x.min())) + moved
        for k in self._decimals:
            scale = 10.0**k
            scaled = np.multiply(x, scale, out=borrow("scaled", x.size, np.float64))
            distance = np.rint(scaled, out=borrow("distance", x.size, np.float64))
            np.subtract(scaled, distance, out=distance)
            np.subtract(0.5, np.abs(distance, out=distance), out=distance)
            if largest * scale == np.inf:
                np.nan_to_num(distance, copy=False, nan=0.5)
            if self._at_risk:
                self._to_boundary[k].add(distance, weight)
            if moved:
                steps = np.multiply(gaps, scale, out=scaled)
                # Over more than one unit lies a boundary; over less, only one that is near enough
                # can lie, and then rounding both ends tells.
                slack = largest * scale * _SLACK
                open_ = np.flatnonzero((distance <= steps + slack) & (steps <= 1 + slack))
                certain = int(np.count_nonzero(steps > 1 + slack))
                changed = certain + count_changed(x[open_], y[open_], k)
                self._changed[k] += weight * changed
                self._expected[k].add_block(np.minimum(steps, 1.0, out=steps), weight)

    def _read(self, k: int, max_abs: float | None) -> RoundingSummary:
        values, changed = self._values, self._changed[k]
        at_risk = None
        if max_abs is not None:
            close = self._to_boundary[k].count_within(max_abs * 10.0**k) if max_abs else 0
            at_risk = close / values if values else 0.0
        return RoundingSummary(
            decimals=k,
            values=values,
            changed=changed,
            changed_upper_bound=find_upper_bound(changed, values) if values else None,
            expected_share=self._expected[k].mean(max(values, 1)),
            at_risk_share=at_risk,
        )


def count_changed(x: Array, y: Array, k: int) -> int:
    """How many values print differently at ``k`` decimals.

    Args:
        x: finite float64, one-dimensional
        y: as many of them
        k: decimals, 0 to 22

    Examples:
        >>> count_changed(np.array([0.14, 0.11]), np.array([0.16, 0.12]), 1)
        1

    """
    rounded_x, rounded_y = round_decimals(x, k), round_decimals(y, k)
    # From 2**53 on, neighbours lie more than one unit apart, yet their products may coincide.
    beyond = np.abs(rounded_x) >= _EXACT
    return int(np.count_nonzero((x != y) & (beyond | (rounded_x != rounded_y))))
