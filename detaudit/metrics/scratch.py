"""Buffers that are used again for every piece.

A fresh buffer for each intermediate result of each piece would cost more time than the arithmetic:
at these sizes the allocator hands memory back to the system, which then has to clear it again.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from detaudit.metrics.blocks import BLOCK, Array

_WIDEST = 8


class _Buffers(threading.local):
    """One set of buffers for each thread."""

    def __init__(self) -> None:
        self.slots: dict[str, Array] = {}


_BUFFERS = _Buffers()


def borrow(slot: str, size: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Take a buffer for the result of an operation on a piece.

    Args:
        slot: name of the buffer; whoever borrows the name next in this thread overwrites it
        size: number of elements, at most ``BLOCK``
        dtype: type of the elements, at most eight bytes each

    Returns:
        one-dimensional array with undefined content

    Examples:
        >>> borrow("example", 3, np.float32).shape
        (3,)

    """
    buffer = _BUFFERS.slots.get(slot)
    if buffer is None:
        buffer = _BUFFERS.slots[slot] = np.empty(BLOCK * _WIDEST, np.uint8)
    dtype = np.dtype(dtype)
    return buffer[: size * dtype.itemsize].view(dtype)
