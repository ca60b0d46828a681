"""Inputs of a sample: loaded once, kept read-only, compared with their files after every run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from detaudit.worker.bits import same_bytes
from detaudit.worker.failures import Failed


class Feeds:
    """The inputs of one sample.

    Args:
        files: ``.npy`` file of each input
        digests: SHA-256 of the bytes of each input, hexadecimal

    Raises:
        Failed: if a file does not hold the bytes that the parent wrote

    """

    def __init__(self, files: Mapping[str, str], digests: Mapping[str, str]) -> None:
        self._arrays = {name: np.load(file, allow_pickle=False) for name, file in files.items()}
        for array in self._arrays.values():
            array.flags.writeable = False
        self.values: dict[str, Any] = {
            name: array.astype(object) if array.dtype.kind == "U" else array
            for name, array in self._arrays.items()
        }
        for name, array in self._arrays.items():
            if hash_bytes(array) != digests[name]:
                raise Failed(f"input '{name}' was damaged on its way to the worker")
        # Mapped, so that what a run could change is compared with something that it cannot reach.
        self._files = {
            name: np.load(files[name], mmap_mode="r") if array.size else array
            for name, array in self._arrays.items()
        }

    def check(self) -> None:
        """Raise Failed unless every input still has its bytes."""
        for name, array in self._arrays.items():
            if not same_bytes(array, self._files[name]):
                raise Failed(f"input '{name}' was changed by the run: later results mean nothing")


class Batch:
    """Samples stacked along a batch axis, as the option ``batch`` asks.

    Args:
        samples: inputs of each sample of the batch, the audited one first
        axes: batch axis of each input that has one

    """

    def __init__(self, samples: list[Feeds], axes: Mapping[str, int]) -> None:
        self._samples = samples
        first = samples[0].values
        self.rows = next(first[name].shape[axis] for name, axis in axes.items())
        self._total = self.rows * len(samples)
        self.values = {
            name: np.concatenate([s.values[name] for s in samples], axes[name])
            if name in axes
            else value
            for name, value in first.items()
        }
        self._pristine = {name: hash_bytes(value) for name, value in self.values.items()}

    def check(self) -> None:
        """Raise Failed unless every input still has its bytes."""
        for name, value in self.values.items():
            if hash_bytes(value) != self._pristine[name]:
                raise Failed(f"input '{name}' was changed by the run: later results mean nothing")

    def own_rows(self, value: Any, axis: int | None) -> Any:
        """Part of an output that belongs to the audited sample."""
        if axis is None or not isinstance(value, np.ndarray) or value.ndim <= axis:
            return value
        if value.shape[axis] != self._total:
            return value
        return np.take(value, range(self.rows), axis)


def hash_bytes(array: np.ndarray) -> str:
    """SHA-256 of the bytes of an array, little endian in C order, as hexadecimal text."""
    if array.dtype.kind in "OU":
        return hashlib.sha256(
            "\0".join(str(i) for i in array.ravel().tolist()).encode()
        ).hexdigest()
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    data = np.ascontiguousarray(little).reshape(-1).view(np.uint8).data
    return hashlib.sha256(data).hexdigest()
