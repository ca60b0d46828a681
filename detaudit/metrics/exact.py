"""Sums that do not depend on the order or the sharding of what is added."""

from __future__ import annotations

import math

import numpy as np

from detaudit.metrics.blocks import Array

LARGEST = float(np.finfo(np.float64).max)

_UNIT = 1074
"""Every finite float64 is a whole number of 2**-1074."""

_SPARE = 64
"""Binary places by which values are scaled down when their sum overflows a float64."""


class ExactSum:
    """Sum of float64 numbers kept as one integer, hence exact.

    Two sums over the same numbers are equal whatever the order and the grouping.

    Examples:
        >>> total = ExactSum()
        >>> for value in (1e16, 1.0, -1e16):
        ...     total.add(value)
        >>> total.mean(1)
        1.0

    """

    __slots__ = ("_units",)

    def __init__(self) -> None:
        self._units = 0

    def add(self, value: float, weight: int = 1) -> None:
        """Add a finite number, ``weight`` times."""
        numerator, denominator = value.as_integer_ratio()
        self._units += weight * (numerator << (_UNIT + 1 - denominator.bit_length()))

    def add_block(self, values: Array, weight: int = 1) -> None:
        """Add the sum of finite numbers, ``weight`` times.

        Within the block NumPy adds pairwise in float64; a block's sum is the same number in every
        shard that holds the block, so shards still merge exactly.

        Args:
            values: float64, one-dimensional, no NaN; infinities, which only overflow makes,
                count as the largest float64
            weight: how often to add them

        """
        total = float(np.add.reduce(values))
        if math.isfinite(total):
            self.add(total, weight)
        else:
            values = np.clip(values, -LARGEST, LARGEST) * 2.0**-_SPARE
            self.add(float(np.add.reduce(values)), weight << _SPARE)

    def merge(self, other: ExactSum, weight: int = 1) -> None:
        """Add another sum, ``weight`` times."""
        self._units += weight * other._units

    def mean(self, count: int) -> float:
        """Sum divided by ``count``, correctly rounded.

        Args:
            count: at least 1, and large enough for the mean to be a finite float64

        """
        return self._units / (count << _UNIT)
