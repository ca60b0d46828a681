"""Mean differences alone, for arrays that come again and again."""

from __future__ import annotations

import numpy as np

from detaudit.metrics.blocks import Array, find_kind, walk
from detaudit.metrics.exact import ExactSum
from detaudit.metrics.integers import find_gaps


def has_distance(array: Array) -> bool:
    """Whether values of an array's type have differences, as opposed to booleans and strings.

    Examples:
        >>> has_distance(np.array([True]))
        False

    """
    return find_kind(array.dtype) in ("float", "integer")


def count_finite(array: Array) -> int:
    """How many elements of an array are finite numbers; 0 for booleans and strings.

    Examples:
        >>> count_finite(np.array([1.0, np.nan]))
        1

    """
    if not has_distance(array):
        return 0
    return sum(int(np.count_nonzero(np.isfinite(piece))) for _, (piece,) in walk(array))


def add_gaps(total: ExactSum, first: Array, array: Array) -> int:
    """Add ``|array - first|`` over pairs that are finite on both sides to a sum.

    Args:
        total: sum to add to
        first: array of any shape
        array: array of the same shape and type

    Returns:
        number of pairs; 0 for booleans and strings

    Examples:
        >>> total = ExactSum()
        >>> add_gaps(total, np.array([1.0, np.inf]), np.array([3.0, 0.0])), total.mean(1)
        (1, 2.0)

    """
    if not has_distance(first):
        return 0
    pairs = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for _, (x, y) in walk(first, array):
            if first.dtype.kind == "f":
                gaps = np.abs(np.subtract(y, x, dtype=np.float64))
                if not np.isfinite(np.add.reduce(gaps)):
                    gaps = gaps[np.isfinite(x) & np.isfinite(y)]
            else:
                gaps = find_gaps(x, y)[1].astype(np.float64)
            total.add_block(gaps)
            pairs += gaps.size
    return pairs
