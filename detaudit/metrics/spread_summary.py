"""What is told of repetitions that vary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class SpreadSummary:
    """What varies between the members of one or more groups of repetitions.

    Attributes:
        comparisons: members beyond the first of each group
        identical: whether all members of a group have the same bits
        elements: elements of a member, summed over groups
        changed: elements that differ between any two members of a group, special values included
        changed_share: share of ``elements`` that changed
        max_abs: largest difference between any two members, over elements finite in all of them;
            None where no such element is left although something changed, and for booleans and
            strings
        mean_abs: mean of ``|d|`` of all members against the first of their group; None like
            ``max_abs``
        pairs: pairs of finite elements that ``mean_abs`` is the mean of
        max_ulp: largest distance of any two members in representable values; None for other than
            floats
        nan_pattern_changed: whether a NaN or an infinity appeared, vanished or became another
        structural: how a member's shape or type differs from the first one's, None if none does

    """

    comparisons: int
    identical: bool
    elements: int
    changed: int
    changed_share: float
    max_abs: float | None
    mean_abs: float | None
    pairs: int
    max_ulp: int | None
    nan_pattern_changed: bool
    structural: str | None

    def combine(self, other: SpreadSummary) -> SpreadSummary:
        """Sum up with another group: maxima of maxima, sums of counts, weighted means.

        Args:
            other: summary of another group or groups

        Examples:
            >>> still = SpreadSummary(1, True, 4, 0, 0.0, 0.0, 0.0, 4, 0, False, None)
            >>> moving = SpreadSummary(1, False, 4, 2, 0.5, 0.5, 0.25, 4, 9, False, None)
            >>> both = still.combine(moving)
            >>> both.max_abs, both.mean_abs, both.changed_share
            (0.5, 0.125, 0.25)

        """
        elements = self.elements + other.elements
        changed = self.changed + other.changed
        pairs = self.pairs + other.pairs
        mean = _find_larger(self.mean_abs, other.mean_abs)
        if self.mean_abs is not None and other.mean_abs is not None and pairs:
            share = other.pairs / pairs
            mean = self.mean_abs * (1 - share) + other.mean_abs * share
        return replace(
            self,
            comparisons=self.comparisons + other.comparisons,
            identical=self.identical and other.identical,
            elements=elements,
            changed=changed,
            changed_share=changed / elements if elements else 0.0,
            max_abs=_find_larger(self.max_abs, other.max_abs),
            mean_abs=mean,
            pairs=pairs,
            max_ulp=_find_larger(self.max_ulp, other.max_ulp),
            nan_pattern_changed=self.nan_pattern_changed or other.nan_pattern_changed,
            structural=self.structural or other.structural,
        )


def _find_larger(a: Number | None, b: Number | None) -> Number | None:
    known = [value for value in (a, b) if value is not None]
    return max(known) if known else None
