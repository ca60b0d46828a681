"""Counts of the values that arithmetic treats apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from detaudit.metrics.blocks import Array
from detaudit.metrics.scratch import borrow
from detaudit.metrics.ulp import Grid

_SMALLEST_NORMAL = {
    "float16": 2.0**-14,
    "bfloat16": 2.0**-126,
    "float32": 2.0**-126,
    "float64": 2.0**-1022,
}


@dataclass(frozen=True, slots=True)
class SpecialCounts:
    """How many elements of an output are special.

    Attributes:
        nan: not a number
        plus_inf: positive infinity
        minus_inf: negative infinity
        zero: zero, of either sign
        subnormal: closer to zero than the smallest normal number of the type, and not zero

    """

    nan: int = 0
    plus_inf: int = 0
    minus_inf: int = 0
    zero: int = 0
    subnormal: int = 0

    @property
    def infinite(self) -> int:
        """Elements that are no finite number."""
        return self.nan + self.plus_inf + self.minus_inf

    def plus(self, other: SpecialCounts, weight: int = 1) -> SpecialCounts:
        """Sum of these counts and ``weight`` times some others.

        Examples:
            >>> SpecialCounts(nan=1).plus(SpecialCounts(nan=2, zero=1), 3).nan
            7

        """
        return SpecialCounts(
            self.nan + weight * other.nan,
            self.plus_inf + weight * other.plus_inf,
            self.minus_inf + weight * other.minus_inf,
            self.zero + weight * other.zero,
            self.subnormal + weight * other.subnormal,
        )


_NONE = SpecialCounts()


def count_specials(x: Array, grid: Grid) -> tuple[SpecialCounts, float]:
    """Count the special values of a piece.

    Args:
        x: floats, one-dimensional, at least one
        grid: type that tells which values are subnormal

    Returns:
        the counts, and the largest magnitude, NaN where the piece holds one

    Examples:
        >>> counts, largest = count_specials(np.array([0.0, -np.inf, 1e-310]), "float64")
        >>> counts
        SpecialCounts(nan=0, plus_inf=0, minus_inf=1, zero=1, subnormal=1)

    """
    magnitude = np.abs(x, out=borrow("magnitude", x.size, x.dtype))
    tiny = _SMALLEST_NORMAL[grid]
    # One smallest and one largest value clear an ordinary piece; both are NaN where one is in it.
    largest = float(magnitude.max())
    if magnitude.min() >= tiny and largest < np.inf:
        return _NONE, largest
    zero = x.size - int(np.count_nonzero(x))
    counts = SpecialCounts(
        nan=int(np.count_nonzero(np.isnan(x))),
        plus_inf=int(np.count_nonzero(x == np.inf)),
        minus_inf=int(np.count_nonzero(x == -np.inf)),
        zero=zero,
        subnormal=int(np.count_nonzero(magnitude < tiny)) - zero,
    )
    return counts, largest
