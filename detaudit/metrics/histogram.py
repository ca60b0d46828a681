"""A histogram of magnitudes over all scales, mergeable, with a stated resolution."""

from __future__ import annotations

import math

import numpy as np

from detaudit.metrics.blocks import Array
from detaudit.metrics.exact import LARGEST
from detaudit.metrics.scratch import borrow

BINS_PER_OCTAVE = 8
RESOLUTION = 1 / 16
"""Largest relative error of a quantile: half the width of a bin, whose edges are 1, 9/8, ... 2."""

_SHIFT = 49
"""Bits of a float64 below the three leading mantissa bits that tell the bins of an octave apart."""

_INFINITY = 0x7FF << 3
"""Bin of infinity, in which differences beyond the largest float64 end."""


class OctaveHistogram:
    """Counts of numbers from 0 to the largest float64, eight bins to an octave.

    A bin is read off the number's own bits, so no range has to be known beforehand, and histograms
    of shards add up to the histogram of the whole. Zeros are counted apart, together with the
    numbers below 3e-309.

    Examples:
        >>> histogram = OctaveHistogram()
        >>> histogram.add(np.array([0.0, 1.0, 1.0, 100.0]))
        >>> histogram.total, histogram.count_within(2.0)
        (4, 3)

    """

    __slots__ = ("_counts", "_low", "zeros")

    def __init__(self) -> None:
        self.zeros = 0
        self._low = 0
        self._counts = np.zeros(0, np.int64)

    def add(self, values: Array, weight: int = 1) -> None:
        """Count numbers, ``weight`` times each.

        Args:
            values: float64, one-dimensional, contiguous, at most ``BLOCK`` of them; no NaN, no
                sign bit
            weight: how often to count them

        """
        counts = np.bincount(find_bins(values))
        if counts.size:
            self.zeros += weight * int(counts[0])
        if counts.size > 1:
            low = 1 + int((counts[1:] > 0).argmax())
            self._add_counts(low, counts[low:] * weight)

    def merge(self, other: OctaveHistogram) -> None:
        """Add the counts of another histogram."""
        self.zeros += other.zeros
        if other._counts.size:
            self._add_counts(other._low, other._counts)

    @property
    def total(self) -> int:
        """How many numbers were counted."""
        return self.zeros + int(self._counts.sum())

    def count_within(self, limit: float) -> int:
        """How many numbers lie within a limit; the limit's own bin counts whole.

        Args:
            limit: not negative. The answer is never too small, and exact for a limit that is
                up to one bin (an eighth of its octave) larger.

        """
        bins = _find_bin(limit) + 1 - self._low
        return self.zeros + int(self._counts[: max(bins, 0)].sum())

    def widen(self, limit: float, count: int) -> tuple[int, float]:
        """Smallest range from zero that covers a limit and holds some numbers.

        Args:
            limit: what the range covers, above 0
            count: how many numbers it should hold

        Returns:
            how many numbers lie below the range's upper end (fewer than ``count`` only if there are
            no more), and that end

        """
        running = self.zeros + np.cumsum(self._counts)
        missing = int(np.count_nonzero(running < count))
        needed = self._low + min(missing, self._counts.size - 1) if count > self.zeros else 0
        last = max(_find_bin(limit), needed)
        return self.count_within(_find_edge(last)), _find_edge(last + 1)

    def quantile(self, share: float) -> float:
        """Smallest number that a share of all numbers does not exceed.

        Args:
            share: 0 to 1

        Returns:
            middle of that number's bin, at most ``RESOLUTION`` of the number away; 0.0 for an
            empty histogram

        """
        rank = math.ceil(share * self.total)
        if rank <= self.zeros:
            return 0.0
        running = self.zeros + np.cumsum(self._counts)
        bin_ = self._low + int(np.searchsorted(running, rank))
        return _find_edge(bin_) / 2 + _find_edge(bin_ + 1) / 2

    def _add_counts(self, low: int, counts: Array) -> None:
        if not self._counts.size:
            self._low, self._counts = low, counts.copy()
            return
        start = min(low, self._low)
        end = max(low + counts.size, self._low + self._counts.size)
        if end - start > self._counts.size:
            grown = np.zeros(end - start, np.int64)
            grown[self._low - start :][: self._counts.size] = self._counts
            self._low, self._counts = start, grown
        self._counts[low - start :][: counts.size] += counts


def find_bins(values: Array) -> Array:
    """Numbers of the bins that numbers lie in, which grow with them.

    Args:
        values: float64, one-dimensional, contiguous, at most ``BLOCK`` of them; no NaN, no sign bit

    Returns:
        int64, as many; a buffer that the next call overwrites

    Examples:
        >>> find_bins(np.array([1.0, 1.1, 1.2, 2.0])).tolist()
        [8184, 8184, 8185, 8192]

    """
    bins = borrow("bins", values.size, np.int64)
    return np.asarray(np.right_shift(values.view(np.int64), _SHIFT, out=bins))


def _find_bin(value: float) -> int:
    return int(np.float64(value).view(np.int64)) >> _SHIFT


def _find_edge(bin_: int) -> float:
    if bin_ >= _INFINITY:
        return LARGEST
    return float(np.int64(bin_ << _SHIFT).view(np.float64))
