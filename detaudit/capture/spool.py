"""Arrays that wait for judging: small ones in memory, large ones on disk."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, MutableMapping
from pathlib import Path

import numpy as np

_LARGE = 1 << 18


class Spool(MutableMapping[str, np.ndarray]):
    """Arrays by key, read-only once they are in.

    Arrays of 256 KiB and more lie in a temporary folder that goes with the spool.

    Examples:
        >>> spool = Spool()
        >>> spool["a"] = np.zeros(3)
        >>> spool["a"].shape
        (3,)

    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="detaudit-"))
        # TemporaryDirectory would warn when it is not closed by hand.
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._held: dict[str, np.ndarray | Path] = {}
        self._files = 0

    def __setitem__(self, key: str, array: np.ndarray) -> None:
        """Keep an array, in place of an earlier one with this key."""
        self.pop(key, None)
        if array.nbytes < _LARGE:
            held = array.copy()
            held.flags.writeable = False
            self._held[key] = held
            return
        path = self._folder / f"{self._files}.npy"
        self._files += 1
        np.save(path, array, allow_pickle=False)
        self._held[key] = path

    def __getitem__(self, key: str) -> np.ndarray:
        """Array with this key; a large one is mapped, not loaded."""
        held = self._held[key]
        if isinstance(held, Path):
            mapped: np.ndarray = np.load(held, mmap_mode="r", allow_pickle=False)
            return mapped
        return held

    def __delitem__(self, key: str) -> None:
        """Forget an array."""
        held = self._held.pop(key)
        if isinstance(held, Path):
            held.unlink()

    def __iter__(self) -> Iterator[str]:
        """Keys in the order they came in."""
        return iter(self._held)

    def __len__(self) -> int:
        """Number of arrays."""
        return len(self._held)
