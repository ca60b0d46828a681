"""Margins of decisions, and how far they move."""

from __future__ import annotations

import numpy as np

from detaudit.metrics.blocks import Array
from detaudit.metrics.exact import ExactSum
from detaudit.metrics.histogram import OctaveHistogram, find_bins

_ENOUGH = 10
"""Margins that an estimate of their density needs."""

_PLENTY = 1000
"""Margins that make it good; with larger ones it would less and less be the density at zero."""

_MANY = 10 * _PLENTY
"""Margins whose mean change is good even where a few large changes dominate it."""

_LEAST = 5e-324


class Margins:
    """Accumulates margins together with their changes.

    A margin of the reference counts once for the density, however many other results it is
    compared with; every one of these counts for the mean change.

    Examples:
        >>> margins = Margins()
        >>> margins.add(np.arange(1.0, 101.0), np.full(100, 20.0))
        >>> margins.count_within(20.0), margins.mean_shift
        (21, 20.0)

    """

    def __init__(self) -> None:
        self._distinct = OctaveHistogram()
        self._pairs = OctaveHistogram()
        self._shifts: dict[int, ExactSum] = {}

    def add(self, margins: Array, shifts: Array, weight: int = 1, *, seen: bool = False) -> None:
        """Add margins.

        Args:
            margins: float64, one-dimensional, contiguous, 1 to ``BLOCK`` of them, above 0
            shifts: how far each of them moved, float64, not negative
            weight: how often they moved so
            seen: whether these margins were added before, with other shifts

        """
        if not seen:
            self._distinct.add(margins)
        self._pairs.add(margins, weight)
        # Taken bin by bin, the mean change can be that of small margins alone.
        bins = find_bins(margins)
        for bin_ in set(bins.tolist()):
            total = self._shifts.setdefault(bin_, ExactSum())
            total.add_block(shifts[bins == bin_], weight)

    def merge(self, other: Margins) -> None:
        """Add what another accumulator saw; margins that both saw count twice for the density."""
        self._distinct.merge(other._distinct)
        self._pairs.merge(other._pairs)
        for bin_, total in other._shifts.items():
            self._shifts.setdefault(bin_, ExactSum()).merge(total)

    @property
    def mean_shift(self) -> float | None:
        """Mean change of a margin, None without margins."""
        return self._mean_shift(np.inf) if self._pairs.total else None

    def count_within(self, limit: float) -> int:
        """How many pairs have a margin within a limit; the limit's own bin counts whole."""
        return self._pairs.count_within(limit)

    def expect_flips(self, largest: float) -> tuple[float | None, bool]:
        """Share of decisions to flip among inputs not tried.

        It is the density of margins at zero times half the mean change of a margin there. Both
        come from the margins up to the largest change seen: from the ten smallest where that range
        holds fewer, and the density from no more than the thousand smallest.

        Args:
            largest: largest change of a margin

        Returns:
            share, None without margins; and whether it is extrapolated from larger margins

        """
        margins = self._distinct.total
        if not margins:
            return None, False
        if not largest or not self.mean_shift:
            return 0.0, False
        near, width = self._choose_range(largest, _PLENTY)
        _, reach = self._choose_range(largest, _MANY)
        # None is near where all margins are infinite.
        shift = self._mean_shift(np.nextafter(reach, 0.0)) if near else 0.0
        share = near / margins * (shift / width) / 2
        return min(share, 1.0), self._distinct.count_within(largest) < _ENOUGH

    def _choose_range(self, largest: float, most: int) -> tuple[int, float]:
        """How many margins lie in the range to look at, and its end."""
        _, end = self._distinct.widen(_LEAST, most)
        return self._distinct.widen(min(largest, float(np.nextafter(end, 0.0))), _ENOUGH)

    def _mean_shift(self, limit: float) -> float:
        """Mean change of the margins within a limit, its own bin included."""
        last = int(find_bins(np.array([limit]))[0])
        total = ExactSum()
        for bin_, shifts in self._shifts.items():
            if bin_ <= last:
                total.merge(shifts)
        return total.mean(self._pairs.count_within(limit))
