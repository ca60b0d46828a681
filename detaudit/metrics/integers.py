"""Differences of integers that neither wrap nor round."""

from __future__ import annotations

import numpy as np

from detaudit.metrics.blocks import Array


def find_gaps(x: Array, y: Array) -> tuple[Array, Array]:
    """How far integers lie apart, exactly.

    Args:
        x: integers of any width, ``n`` elements
        y: integers of any width, ``n`` elements

    Returns:
        whether ``y < x``, and ``|y - x|``: int64 where 32 bits hold both, else uint64, or Python
        integers where an int64 meets a uint64 and 64 bits cannot hold every difference

    Examples:
        >>> below, gaps = find_gaps(np.array([1, 255], np.uint8), np.array([2, 0], np.uint8))
        >>> below.tolist(), gaps.tolist()
        ([False, True], [1, 255])

    """
    if max(x.dtype.itemsize, y.dtype.itemsize) < 8:
        difference = np.subtract(y, x, dtype=np.int64)
        return difference < 0, np.abs(difference)
    wide = np.promote_types(x.dtype, y.dtype)
    if wide.kind == "f":
        difference = y.astype(object) - x.astype(object)
        return np.asarray(difference < 0, bool), np.abs(difference)
    x, y = x.astype(wide, copy=False), y.astype(wide, copy=False)
    below = y < x
    # Unsigned subtraction wraps to the right answer once the smaller number is taken away.
    forward = y.view(np.uint64) - x.view(np.uint64)
    return below, np.where(below, ~forward + np.uint64(1), forward)
