"""How much repetitions of the same thing vary."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from detaudit.metrics.bits import same_bits
from detaudit.metrics.blocks import Array, find_kind, split_complex
from detaudit.metrics.distance import Distance
from detaudit.metrics.exact import ExactSum
from detaudit.metrics.gaps import add_gaps, count_finite
from detaudit.metrics.spread_summary import SpreadSummary
from detaudit.metrics.structure import structural_difference, type_difference
from detaudit.metrics.ulp import Grid

__all__ = ["Spread", "SpreadSummary"]


class Spread:
    """Accumulates the members of one group of repetitions, such as the runs of a session.

    Three arrays stand for any number of members: the first one, and each element's lowest and
    highest value in the order -inf, numbers, inf, NaN. An element is finite in all members when
    both ends are, and has kept its kind of special value when both ends are of one kind. While all
    members have the same bits, only the first one is held.

    Complex values are held as pairs of a real and an imaginary part along a last axis.

    Args:
        grid: where ULPs are counted; ``"bfloat16"`` for bfloat16 values handed over as float32;
            None is the type of the arrays

    Examples:
        >>> spread = Spread()
        >>> for run in ([1.0, 2.0], [1.25, 2.0], [0.75, 2.0]):
        ...     spread.update(np.array(run))
        >>> summary = spread.read()
        >>> summary.max_abs, summary.changed, summary.mean_abs
        (0.5, 1, 0.125)

    """

    def __init__(self, grid: Grid | None = None) -> None:
        self._grid = grid
        self._members = 0
        self._first: Array | None = None
        self._first_key: Hashable = None
        self._low: Array | None = None
        self._high: Array | None = None
        self._finite = 0
        self._pairs = 0
        self._absolute = ExactSum()
        self._structural: str | None = None
        self._known: dict[Hashable, tuple[ExactSum, int]] = {}

    def update(self, array: Array, weight: int = 1, key: Hashable = None) -> None:
        """Add a member.

        Args:
            array: output of any shape and type; the first one is held, not copied
            weight: how many members have these very bits, at least 1
            key: what tells the array's bits, type and shape from others, such as a digest; where
                the first member came with one too, nothing else is compared for that

        Raises:
            TypeError: if the type holds neither numbers, booleans nor strings

        """
        array = _normalise(array)
        self._members += weight
        if self._first is None:
            self._first, self._first_key = array, key
            self._finite = count_finite(array)
            self._pairs = (weight - 1) * self._finite
            return
        gaps, pairs = ExactSum(), 0
        problem = _find_problem(self._first, array)
        keyed = key is not None and self._first_key is not None
        if problem:
            self.note_structure(problem)
        elif key == self._first_key if keyed else same_bits(self._first, array):
            pairs = self._finite
        else:
            pairs = add_gaps(gaps, self._first, array)
            self._widen(array, array)
        if key is not None:
            self._known[key] = (gaps, pairs)
        self._add_gaps(gaps, pairs, weight)

    def knows(self, key: Hashable) -> bool:
        """Whether a member with this key was added, so that `repeat` can add it again."""
        return key is not None and (key == self._first_key or key in self._known)

    def repeat(self, key: Hashable, weight: int = 1) -> None:
        """Add a member that was added before, without its array.

        Args:
            key: what it was added with
            weight: how many such members to add, at least 1

        Raises:
            KeyError: if no such member was added

        """
        gaps, pairs = self._known[key] if key in self._known else self._repeat_first(key)
        self._members += weight
        self._add_gaps(gaps, pairs, weight)

    def note_structure(self, difference: str) -> None:
        """Note a difference that no array shows, such as a member that is missing.

        Args:
            difference: what differs from the first member, in words

        """
        self._structural = self._structural or difference

    def merge(self, other: Spread) -> None:
        """Add the members that another accumulator saw later.

        All figures are those of one pass, but where the first members of the two differ,
        ``mean_abs`` measures the other's members against the other's first one.

        Args:
            other: accumulator of the same group

        """
        if other._first is None:
            return
        if self._first is None:
            self._adopt(other)
            return
        self._members += other._members
        problem = _find_problem(self._first, other._first)
        self._structural = self._structural or problem or other._structural
        if problem:
            return
        self._absolute.merge(other._absolute)
        self._pairs += other._pairs + add_gaps(self._absolute, self._first, other._first)
        if other._low is not None or not same_bits(self._first, other._first):
            self._widen(other.low, other.high)

    @property
    def low(self) -> Array:
        """Each element's lowest value; -inf is the lowest, NaN above inf."""
        return self._choose(self._low)

    @property
    def high(self) -> Array:
        """Each element's highest value; -inf is the lowest, NaN above inf."""
        return self._choose(self._high)

    def read(self) -> SpreadSummary:
        """Summary of the members seen so far."""
        distance = Distance(grid=self._grid)
        if self._first is not None:
            distance.update(self.low, self.high)
        ends = distance.read()[0]
        mean = self._absolute.mean(max(self._pairs, 1))
        return SpreadSummary(
            comparisons=max(self._members - 1, 0),
            identical=self._low is None and self._structural is None,
            elements=ends.elements,
            changed=ends.changed,
            changed_share=ends.changed_share,
            max_abs=ends.max_abs,
            mean_abs=None if ends.max_abs is None else mean,
            pairs=self._pairs,
            max_ulp=ends.max_ulp,
            nan_pattern_changed=ends.nan_pattern_changed,
            structural=self._structural,
        )

    def _repeat_first(self, key: Hashable) -> tuple[ExactSum, int]:
        if key is None or key != self._first_key:
            raise KeyError(key)
        return ExactSum(), self._finite

    def _add_gaps(self, gaps: ExactSum, pairs: int, weight: int) -> None:
        self._absolute.merge(gaps, weight)
        self._pairs += weight * pairs

    def _choose(self, end: Array | None) -> Array:
        if self._first is None:
            raise ValueError("no member was added yet")
        return self._first if end is None else end

    def _adopt(self, other: Spread) -> None:
        self._first, self._first_key = other._first, other._first_key
        self._members = other._members
        self._finite, self._pairs, self._structural = other._finite, other._pairs, other._structural
        self._absolute.merge(other._absolute)
        self._known = dict(other._known)
        if other._low is not None:
            self._low, self._high = np.array(other.low), np.array(other.high)

    def _widen(self, low: Array, high: Array) -> None:
        if self._low is None or self._high is None:
            self._low, self._high = np.array(self._first), np.array(self._first)
        # fmin passes over a NaN and maximum passes it on, which is the order said above.
        (np.fmin if low.dtype.kind == "f" else np.minimum)(self._low, low, out=self._low)
        np.maximum(self._high, high, out=self._high)


def _find_problem(first: Array, array: Array) -> str | None:
    return structural_difference(first, array) or type_difference(first, array)


def _normalise(array: Array) -> Array:
    kind = find_kind(array.dtype)
    if kind == "complex":
        return split_complex(array)
    # Fixed-width text would cut a longer member short.
    return array.astype(object) if kind == "string" else array
