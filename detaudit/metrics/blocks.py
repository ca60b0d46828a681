"""Arrays walked in short flat pieces, so that no metric makes a temporary of an array's size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Kind: TypeAlias = Literal["float", "complex", "integer", "boolean", "string"]

BLOCK = 32768
"""Elements in a piece: a handful of float64 pieces fits into a core's second-level cache."""

_KINDS: dict[str, Kind] = {
    "f": "float",
    "c": "complex",
    "i": "integer",
    "u": "integer",
    "b": "boolean",
    "U": "string",
    "S": "string",
    "O": "string",
    "T": "string",
}


def find_kind(dtype: np.dtype[Any]) -> Kind:
    """How values of a dtype are compared.

    Args:
        dtype: float16, float32, float64, complex, any integer, bool, or strings
            (fixed width, variable width or Python objects)

    Returns:
        kind of the values

    Raises:
        TypeError: if the dtype is none of these

    Examples:
        >>> find_kind(np.dtype("uint8"))
        'integer'

    """
    kind = _KINDS.get(dtype.kind)
    too_wide = (kind == "float" and dtype.itemsize > 8) or (
        kind == "complex" and dtype.itemsize > 16
    )
    if kind is None or too_wide:
        raise TypeError(f"values of type {dtype} cannot be compared")
    return kind


def walk(*arrays: Array) -> Iterator[tuple[int, tuple[Array, ...]]]:
    """Walk arrays of one shape together, in C order, piece by piece.

    Args:
        *arrays: arrays of one shape, any rank, any memory layout and byte order

    Yields:
        position of the piece's first element in C order, and the piece of every array:
        one-dimensional, contiguous, native byte order, 1 to ``BLOCK`` elements

    Examples:
        >>> [(start, len(piece)) for start, (piece,) in walk(np.zeros((2, 20000)))]
        [(0, 32768), (32768, 7232)]

    """
    if all(array.flags.c_contiguous for array in arrays):
        flat = [array.reshape(-1) for array in arrays]
        for start in range(0, arrays[0].size, BLOCK):
            yield start, tuple(_nativise(array[start : start + BLOCK]) for array in flat)
    elif arrays[0].size:
        yield from _walk_rows(arrays, 0)


def split_complex(array: Array) -> Array:
    """Complex numbers as pairs of floats.

    Args:
        array: complex, any shape

    Returns:
        real and imaginary parts along one more, last axis

    Examples:
        >>> split_complex(np.array([1 + 2j])).tolist()
        [[1.0, 2.0]]

    """
    return np.stack([array.real, array.imag], axis=-1)


def _walk_rows(arrays: tuple[Array, ...], start: int) -> Iterator[tuple[int, tuple[Array, ...]]]:
    shape = arrays[0].shape
    if arrays[0].size <= BLOCK:
        yield start, tuple(_nativise(np.ascontiguousarray(array).reshape(-1)) for array in arrays)
        return
    row = arrays[0].size // shape[0]
    rows = BLOCK // row
    for i in range(0, shape[0], max(rows, 1)):
        piece = tuple(array[i : i + rows] if rows else array[i] for array in arrays)
        yield from _walk_rows(piece, start + i * row)


def _nativise(piece: Array) -> Array:
    return piece if piece.dtype.isnative else piece.astype(piece.dtype.newbyteorder("="))
