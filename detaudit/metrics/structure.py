"""Differences that come before any value: shape and kind of type."""

from __future__ import annotations

from detaudit.metrics.blocks import Array, find_kind


def structural_difference(a: Array, b: Array) -> str | None:
    """What makes two outputs impossible to compare element by element.

    Args:
        a: array of any shape and type
        b: array of any shape and type

    Returns:
        the difference in words, or None where the values can be compared. Another width of the same
        kind of type is no structural difference; see `type_difference`.

    Examples:
        >>> import numpy as np
        >>> structural_difference(np.zeros((2, 3)), np.zeros((2, 4)))
        'shape (2, 3) against (2, 4)'
        >>> structural_difference(np.zeros(2), np.zeros(2, int))
        'type float64 against int64'

    """
    if find_kind(a.dtype) != find_kind(b.dtype):
        return f"type {_name(a)} against {_name(b)}"
    if a.shape != b.shape:
        return f"shape {a.shape} against {b.shape}"
    return None


def type_difference(a: Array, b: Array) -> str | None:
    """How the types of two outputs differ, worth a note even where all values agree.

    Args:
        a: array of any shape and type
        b: array of any shape and type

    Returns:
        the difference in words, or None

    Examples:
        >>> import numpy as np
        >>> type_difference(np.zeros(2, np.int64), np.zeros(2, np.int32))
        'type int64 against int32'

    """
    return None if _name(a) == _name(b) else f"type {_name(a)} against {_name(b)}"


def _name(array: Array) -> str:
    return "string" if find_kind(array.dtype) == "string" else array.dtype.name
