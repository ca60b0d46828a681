"""Messages between a worker and its parent: a JSON header, then the raw bytes of arrays.

Libraries print to stdout, so the worker takes the pipe behind it away before they are loaded and
lets stdout lead to stderr.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any, BinaryIO

import numpy as np

_LENGTH = struct.Struct(">Q")
_LONGEST = 1 << 40
"""Bytes; eight letters or line breaks where a length should be are far more."""


def take_stdout() -> BinaryIO:
    """Pipe behind stdout, which from now on leads to stderr."""
    sys.stdout.flush()
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return channel


def send(stream: BinaryIO, message: Mapping[str, Any], arrays: Sequence[np.ndarray] = ()) -> None:
    """Write one message.

    Args:
        stream: where to
        message: strict JSON
        arrays: arrays of any type; text travels as text

    """
    header = dict(message)
    raw = []
    if arrays:
        header["arrays"] = descriptions = []
        for array in arrays:
            description: dict[str, Any] = {"dtype": array.dtype.str, "shape": array.shape}
            if array.dtype.kind in "OU":
                description["text"] = [str(item) for item in array.ravel().tolist()]
            else:
                raw.append(np.ascontiguousarray(array))
            descriptions.append(description)
    data = json.dumps(header, allow_nan=False).encode()
    stream.write(_LENGTH.pack(len(data)) + data)
    for array in raw:
        stream.write(array.reshape(-1).view(np.uint8).data)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Read one message.

    Args:
        stream: where from

    Returns:
        the message and its arrays, text as array of ``str``

    Raises:
        EOFError: if the other side is gone
        ValueError: if what arrives is no message

    """
    prefix = bytearray(_LENGTH.size)
    _read(stream, prefix)
    (length,) = _LENGTH.unpack(prefix)
    if length > _LONGEST:
        raise ValueError("this is no message")
    text = bytearray(length)
    _read(stream, text)
    message = json.loads(text)
    arrays = []
    for description in message.pop("arrays", ()):
        shape = tuple(description["shape"])
        if "text" in description:
            text = description["text"]
            arrays.append(np.array(text, dtype=np.str_ if text else "U1").reshape(shape))
        else:
            array = np.empty(shape, np.dtype(description["dtype"]))
            _read(stream, array.reshape(-1).view(np.uint8).data)
            arrays.append(array)
    return message, arrays


def _read(stream: IO[bytes], buffer: bytearray | memoryview) -> None:
    view = memoryview(buffer)
    while len(view):
        count = stream.readinto(view)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        view = view[count:]
