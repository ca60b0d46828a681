"""Distances in units of the last place: steps from one representable number to another."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from detaudit.metrics.blocks import Array
from detaudit.metrics.scratch import borrow

Grid: TypeAlias = Literal["float16", "bfloat16", "float32", "float64"]

NOT_COMPARABLE = np.iinfo(np.uint64).max
"""What `ulp_distance` says of a NaN against a number: no count of steps."""

PRECISION: dict[str, int] = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""Significant bits of each grid, the implicit one included."""

_GRIDS: dict[int, Grid] = {2: "float16", 4: "float32", 8: "float64"}
_INTEGERS = {"float16": np.int16, "bfloat16": np.int32, "float32": np.int32, "float64": np.int64}


def choose_grid(a: np.dtype[Any], b: np.dtype[Any]) -> Grid:
    """Grid on which two float types are compared: that of the coarser one.

    Args:
        a: float16, float32, float64, or complex of two such numbers
        b: another of them

    Examples:
        >>> choose_grid(np.dtype("float64"), np.dtype("float32"))
        'float32'

    """
    coarser = min(a, b, key=lambda dtype: dtype.itemsize)
    return _GRIDS[coarser.itemsize // (2 if coarser.kind == "c" else 1)]


def order(x: Array, grid: Grid | None = None) -> Array:
    """Integers that number the representable values from the smallest to the largest.

    Neighbouring values have neighbouring integers, both zeros are 0, infinities are one step
    outside of the largest finite values.

    Args:
        x: floats of any shape without NaN
        grid: where the values lie; None is their own type. Values between two steps go to the
            nearest, halfway to the even one. bfloat16 values are handed over as float32.

    Returns:
        signed integers of the shape of ``x``, as wide as the grid's type (int32 for bfloat16)

    Examples:
        >>> order(np.array([-0.0, 1e-45, -1e-45], np.float32)).tolist()
        [0, 1, -1]

    """
    bits = _take_bits(x, grid)
    magnitude = bits & np.iinfo(bits.dtype).max
    return np.where(bits < 0, -magnitude, magnitude)


def ulp_distance(a: Array, b: Array, grid: Grid | None = None) -> Array:
    """Steps between the values of two arrays.

    Args:
        a: floats of any shape
        b: floats of the same shape
        grid: where to count; None is the coarser of the two types [goldberg1991]_

    Returns:
        uint64 of that shape; NaN against NaN is 0, NaN against a number `NOT_COMPARABLE`

    Examples:
        >>> ulp_distance(np.array([-1.8208287], np.float32), np.array([-1.8208290], np.float32))
        array([3], dtype=uint64)

    """
    grid = grid or choose_grid(a.dtype, b.dtype)
    x, y = order(a, grid), order(b, grid)
    # Orders of float64 can lie further apart than an int64 counts; taken unsigned, it comes right.
    low, high = np.minimum(x, y).astype(np.int64), np.maximum(x, y).astype(np.int64)
    steps = high.view(np.uint64) - low.view(np.uint64)
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    steps = np.where(nan_a & nan_b, np.uint64(0), steps)
    return np.where(nan_a ^ nan_b, np.uint64(NOT_COMPARABLE), steps)


def find_max_ulp(a: Array, b: Array, grid: Grid) -> int:
    """Largest distance in steps of two pieces.

    Args:
        a: finite floats, one-dimensional, 1 to ``BLOCK`` of them
        b: finite floats of the same length
        grid: where to count

    Examples:
        >>> find_max_ulp(np.array([1.0]), np.array([1.0 + 2**-52]), "float64")
        1

    """
    x, y = _take_bits(a, grid), _take_bits(b, grid)
    steps = borrow("steps", x.size, x.dtype)
    if np.bitwise_xor(x, y, out=steps).min() < 0:
        return int(ulp_distance(a, b, grid).max())
    # Equal signs: the patterns subtract without overflow, which needs no wider integers.
    np.subtract(x, y, out=steps)
    return max(int(steps.max()), -int(steps.min()))


def _take_bits(x: Array, grid: Grid | None) -> Array:
    name = grid or x.dtype.name
    carrier = "float32" if name == "bfloat16" else name
    with np.errstate(over="ignore"):
        bits = np.asarray(x, carrier).view(_INTEGERS[carrier])
    return _round_to_bfloat16(bits) if name == "bfloat16" else bits


def _round_to_bfloat16(bits: Array) -> Array:
    # Half to even over the 16 bits that go; the sign then returns to the top of the pattern.
    magnitude = bits & 0x7FFFFFFF
    magnitude = (magnitude + (0x7FFF + ((magnitude >> 16) & 1))) >> 16
    return np.where(bits < 0, magnitude | np.int32(-(2**31)), magnitude)
