"""Named independent streams of input values, the same on every machine and NumPy version.

NumPy promises neither its normal stream nor the last bit of ``log``, so nothing is drawn here but
raw words of Philox, a counter-based generator, and every step after that is exact or correctly
rounded.
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .check import check_seed
from .quantile import compute_normal

Shape = int | tuple[int, ...]
Words = NDArray[np.uint64]

BLOCK = 2**14  # words at a time: small enough for the cache, and no trace in the values
STRING_LENGTH = 8


def stream(seed: int, name: str) -> Stream:
    """Stream of random values that depends on the seed and the name alone.

    Streams of other names are independent of it, so that another input or sample changes none
    of the values that are there already.

    Args:
        seed: Python or NumPy integer in 0..2^32-1.
        name: Any text, by custom ``inputs/<sample>/<name>``.

    Raises:
        SeedError: If the seed is no integer in that range.
        TypeError: If the name is no string.

    Examples:
        >>> stream(1, "inputs/0/signal").integers(0, 9, 6, "uint8")
        array([4, 6, 2, 5, 6, 9], dtype=uint8)

    """
    return Stream(seed, name)


class Stream:
    """Random values of one seed and name; every draw starts where no other one reads.

    The values of a draw depend on the seed, the name and how many draws came before, not on
    their shapes; a longer draw begins with the values of a shorter one. Arrays are filled in C
    order. The global generators are not involved.

    Args:
        seed: Python or NumPy integer in 0..2^32-1.
        name: Any text.

    Examples:
        >>> draws = Stream(1, "inputs/0/signal")
        >>> long = Stream(1, "inputs/0/signal").normal((2, 3))
        >>> bool((draws.normal(2) == long[0, :2]).all())
        True

    """

    __slots__ = ("_draws", "_key", "name", "seed")

    def __init__(self, seed: int, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name of a stream: expected a string, got {name!r}")
        self.seed = check_seed(seed)
        self.name = name
        # Names of files may hold lone surrogates.
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
        self._key = tuple(int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4))
        self._draws = 0

    def __repr__(self) -> str:
        """Seed and name."""
        return f"Stream({self.seed}, {self.name!r})"

    def normal(self, shape: Shape, dtype: DTypeLike = "float32") -> NDArray[Any]:
        """Standard normal values.

        The float64 value of [wichura1988]_, rounded to the data type: all data types see the
        same values. For bfloat16, cast float32.

        Args:
            shape: Shape of the array, ``()`` for rank 0.
            dtype: ``float16``, ``float32`` or ``float64``.

        Raises:
            ValueError: If the data type is another one or the shape is negative.

        Examples:
            >>> stream(1, "inputs/0/signal").normal((1, 16000)).shape
            (1, 16000)

        """
        return self._fill(shape, _float_type(dtype), compute_normal)

    def uniform(
        self, low: float, high: float, shape: Shape, dtype: DTypeLike = "float32"
    ) -> NDArray[Any]:
        """Uniform values ``x`` with ``low <= x < high``.

        Args:
            low: Smallest value, rounded to the data type first.
            high: Upper limit, rounded to the data type first; the only value if equal to ``low``.
            shape: Shape of the array, ``()`` for rank 0.
            dtype: ``float16``, ``float32`` or ``float64``.

        Raises:
            ValueError: If a limit is not finite in the data type, ``low`` exceeds ``high``, the
                data type is another one, or the shape is negative.

        Examples:
            >>> values = stream(1, "inputs/0/level").uniform(-1, 1, 1000)
            >>> bool(values.min() >= -1), bool(values.max() < 1)
            (True, True)

        """
        kind = _float_type(dtype)
        bottom, top = (_round(limit, kind) for limit in (low, high))
        if bottom > top:
            raise ValueError(f"uniform: low {low} exceeds high {high}")
        last = float(np.nextafter(kind.type(top), kind.type(bottom)))

        def transform(bits: Words) -> NDArray[Any]:
            share = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
            # Weighting both limits, since their difference may overflow.
            values = share * top
            values += (1.0 - share) * bottom
            return np.clip(values, bottom, last)

        return self._fill(shape, kind, transform)

    def integers(
        self, low: int, high: int, shape: Shape, dtype: DTypeLike = "int64"
    ) -> NDArray[Any]:
        """Integers from ``low`` to ``high``, both included, each equally likely.

        Args:
            low: Smallest value.
            high: Largest value.
            shape: Shape of the array, ``()`` for rank 0.
            dtype: Any signed or unsigned integer type.

        Raises:
            TypeError: If a limit is no integer.
            ValueError: If ``low`` exceeds ``high``, a limit does not fit the data type, it is no
                integer type, or the shape is negative.

        Examples:
            >>> values = stream(1, "inputs/0/ids").integers(0, 2**64 - 1, 3, "uint64")
            >>> values.dtype
            dtype('uint64')

        """
        kind = np.dtype(dtype).newbyteorder("=")
        if kind.kind not in "iu":
            raise ValueError(f"integers: expected an integer data type, got {kind}")
        bottom, top, limits = operator.index(low), operator.index(high), np.iinfo(kind)
        if not limits.min <= bottom <= top <= limits.max:
            raise ValueError(
                f"integers: expected {limits.min} <= low <= high <= {limits.max}, "
                f"got {low} and {high}"
            )
        span = np.uint64(top - bottom)
        mask = np.uint64((1 << (top - bottom).bit_length()) - 1)
        offset = np.uint64(bottom % 2**64)

        def transform(bits: Words) -> NDArray[Any]:
            # Dropping what lies outside keeps every value equally likely.
            bits = bits & mask
            words = bits[bits <= span] + offset
            return words.view(np.int64) if kind.kind == "i" else words

        return self._fill(shape, kind, transform)

    def booleans(self, shape: Shape) -> NDArray[np.bool_]:
        """True and False, equally likely.

        Args:
            shape: Shape of the array, ``()`` for rank 0.

        Raises:
            ValueError: If the shape is negative.

        Examples:
            >>> stream(1, "inputs/0/mask").booleans((2, 3)).dtype
            dtype('bool')

        """
        return self.integers(0, 1, shape, "uint8").astype(np.bool_)

    def strings(self, shape: Shape) -> NDArray[np.object_]:
        """Strings of eight lower-case letters a to z, as Python strings in an object array.

        Args:
            shape: Shape of the array, ``()`` for rank 0.

        Raises:
            ValueError: If the shape is negative.

        Examples:
            >>> len(stream(1, "inputs/0/text").strings(2)[0])
            8

        """
        array = np.empty(shape, dtype=object)
        letters = self.integers(ord("a"), ord("z"), array.size * STRING_LENGTH, "uint8").tobytes()
        array.reshape(-1)[:] = [
            letters[at : at + STRING_LENGTH].decode("ascii")
            for at in range(0, len(letters), STRING_LENGTH)
        ]
        return array

    def _fill(
        self, shape: Shape, kind: np.dtype[Any], transform: Callable[[Words], NDArray[Any]]
    ) -> NDArray[Any]:
        """Array filled with transformed words; a transform may drop words."""
        array = np.empty(shape, dtype=kind)
        flat = array.reshape(-1)
        words = self._start_draw()
        done = 0
        while done < flat.size:
            values = transform(words.random_raw(min(BLOCK, flat.size - done)))
            flat[done : done + values.size] = values
            done += values.size
        return array

    def _start_draw(self) -> np.random.Philox:
        sequence = np.random.SeedSequence(self.seed, spawn_key=(*self._key, self._draws))
        self._draws += 1
        return np.random.Philox(sequence)


def _float_type(dtype: DTypeLike) -> np.dtype[Any]:
    kind = np.dtype(dtype).newbyteorder("=")
    if kind.name not in ("float16", "float32", "float64"):
        raise ValueError(f"expected the data type float16, float32 or float64, got {kind}")
    return kind


def _round(limit: float, kind: np.dtype[Any]) -> float:
    with np.errstate(over="ignore"):
        rounded = float(np.float64(limit).astype(kind))
    if not math.isfinite(rounded):
        raise ValueError(f"uniform: limit {limit} is not finite in {kind}")
    return rounded
