"""A signal from a sound file, for the input that takes it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detaudit.capture.signal import Signal
from detaudit.errors import UsageError

SUFFIXES = (".wav", ".flac", ".ogg", ".mp3", ".opus", ".aiff", ".aif")


def read_audio(path: str | Path) -> tuple[NDArray[np.float32], int]:
    """Signal of a sound file.

    Args:
        path: file that exists

    Returns:
        values, shape ``(channels, samples)``, float32 in -1..1; sampling rate in Hz

    Raises:
        UsageError: if no library can read it, or it holds nothing

    """
    try:
        signal, rate = _read(os.fspath(path))
    except ImportError:
        raise UsageError(
            f"{path}: reading audio needs a package that is missing; pip install detaudit[audio]"
        ) from None
    except (OSError, RuntimeError, ValueError) as error:
        line = str(error).strip().partition("\n")[0]
        raise UsageError(f"{path}: is no readable audio file: {line}") from None
    if signal.size == 0:
        raise UsageError(f"{path}: holds no samples")
    return np.ascontiguousarray(signal, np.float32), int(rate)


def shape_signal(
    signal: NDArray[np.float32], rate: int, place: Signal, source: str
) -> NDArray[Any]:
    """Signal in the shape and type of the input that takes it.

    Args:
        signal: values, shape ``(channels, samples)``
        rate: sampling rate in Hz
        place: where it goes
        source: the file, for the message

    Returns:
        values rounded to the type of the input, only one axis longer than 1

    Raises:
        UsageError: if the model takes one channel or another number of samples

    """
    entry, size = place.entry, place.size
    channels, samples = signal.shape
    if channels > 1:
        raise UsageError(
            f"{source}: has {channels} channels, {entry.text} takes one; mix or select one first"
        )
    if isinstance(size, int) and size != samples:
        raise UsageError(
            f"{source}: has {samples} samples ({samples / rate:.2f} s at {rate} Hz),"
            f" {entry.text} takes exactly {size} ({size / rate:.2f} s)"
        )
    shape = [1] * len(entry.axes)
    shape[place.axis] = samples
    return signal.reshape(shape).astype(entry.dtype)


def _read(path: str) -> tuple[NDArray[Any], int]:
    try:
        import audiofile
    except ImportError:
        import soundfile

        signal, rate = soundfile.read(path, dtype="float32", always_2d=True)
        return signal.T, rate
    signal, rate = audiofile.read(path, always_2d=True)
    return signal, rate
