"""Same bits, or at least the same values?"""

from __future__ import annotations

import numpy as np

from detaudit.metrics.blocks import Array, find_kind, walk
from detaudit.metrics.integers import find_gaps

_STRETCH = 2**20
"""Bytes compared at once: as nothing but their equality is kept, more than fit into a cache."""


def same_bits(a: Array, b: Array) -> bool:
    """Whether two arrays have the same type, shape and raw bytes.

    Strings are compared as text: the width of the field that holds them is no part of a result.

    Args:
        a: array of any shape and type
        b: array of any shape and type

    Examples:
        >>> same_bits(np.array([0.0]), np.array([0.0]))
        True
        >>> same_bits(np.array([0.0]), np.array([-0.0]))
        False

    """
    if a.shape != b.shape:
        return False
    if find_kind(a.dtype) == find_kind(b.dtype) == "string":
        return same_values(a, b)
    if a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return False
    if not (a.flags.c_contiguous and b.flags.c_contiguous and a.dtype == b.dtype):
        return all(same_bytes(x, y) for _, (x, y) in walk(a, b))
    a, b = a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)
    starts = range(0, a.size, _STRETCH)
    return all(same_bytes(a[start:][:_STRETCH], b[start:][:_STRETCH]) for start in starts)


def same_bytes(x: Array, y: Array) -> bool:
    """Whether two contiguous one-dimensional stretches of one numeric type have the same bytes.

    Args:
        x: stretch with ``n`` elements
        y: stretch with ``n`` elements of the same type

    Examples:
        >>> same_bytes(np.array([np.nan]), np.array([np.nan]))
        True

    """
    # Eight bytes at a time, the rest one by one.
    x, y = x.view(np.uint8), y.view(np.uint8)
    whole = x.size - x.size % 8
    words = [piece[:whole].view(np.uint64) for piece in (x, y)]
    return bool((words[0] == words[1]).all() and (x[whole:] == y[whole:]).all())


def same_values(a: Array, b: Array) -> bool:
    """Whether two arrays are equal but for the sign of zeros and the payload of NaNs.

    Args:
        a: array of any shape and type
        b: array of any shape and type; integers of different widths, or floats of different
            precisions, are compared by value

    Examples:
        >>> same_values(np.array([0.0, np.nan]), np.array([-0.0, np.nan]))
        True
        >>> same_values(np.array([1.0, 2.0]), np.array([1.0, np.nan]))
        False

    """
    if a.shape != b.shape or find_kind(a.dtype) != find_kind(b.dtype):
        return False
    return not any(find_changed(x, y).any() for _, (x, y) in walk(a, b))


def find_changed(x: Array, y: Array) -> Array:
    """Which elements differ in value.

    Args:
        x: piece with ``n`` elements
        y: piece with ``n`` elements of the same kind

    Returns:
        bool, ``n`` elements. NaN equals NaN, -0.0 equals 0.0, and an infinity equals itself.

    Examples:
        >>> find_changed(np.array([1.0, np.nan]), np.array([2.0, np.nan])).tolist()
        [True, False]

    """
    kind = find_kind(x.dtype)
    if kind == "integer" and x.dtype != y.dtype:
        return np.asarray(find_gaps(x, y)[1] != 0, bool)
    changed = np.asarray(x != y, bool)
    if kind in ("float", "complex"):
        changed &= ~(np.isnan(x) & np.isnan(y))
    return changed
