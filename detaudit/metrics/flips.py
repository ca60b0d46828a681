"""What is told of decisions that may change."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Flip:
    """A decision that changed.

    Attributes:
        sample: what the caller called the input
        index: place of the decision in the output without the class axis, which comes last where a
            threshold decides for each of several classes
        reference_class: class by the reference: an index, whether a threshold is reached, or a
            label
        other_class: class by the other output

    """

    sample: Hashable
    index: tuple[int, ...]
    reference_class: Any
    other_class: Any


@dataclass(frozen=True, slots=True)
class ClassesSummary:
    """What became of the decisions that scores lead to.

    Attributes:
        samples: inputs
        samples_classed: inputs with a decision that is no tie, which bounds rest on
        samples_changed: inputs with at least one flip or lost class; for sequences, those of which
            at least one step changed
        decisions: decisions made from pairs of score vectors: one for each vector or step, or for
            each score where a threshold decides
        flips: decisions that differ, ties and vectors without a class left out
        flip_share: share of decisions that are flips
        flip_upper_bound: what the share of changed samples does not exceed, with 95 % confidence;
            None without samples
        ties: decisions where the two best scores are equal on a side, or a score is the threshold
        tie_changes: ties whose decision differs; the order of equal scores says nothing
        unclassed: score vectors with a NaN on a side, which have no class
        class_lost: those with a NaN on one side only
        min_margin: smallest distance of the best score to the next or to the threshold in the
            reference, ties left out; None without margins
        closest: sample of the smallest margin
        max_abs: largest change of a score
        max_margin_shift: largest change of a difference between winner and rival, or of a score to
            its threshold
        mean_margin_shift: mean change of the difference between the best two, or of a score to its
            threshold; None without margins
        at_risk: decisions that changes of the size seen in their own scores, in whatever direction,
            could flip
        within_largest_shift: decisions whose margin does not exceed ``max_margin_shift``; counted
            in bins: never too few, and as if the shift were at most an eighth larger
        expected_flip_share: share of flips to expect for inputs not tried: density of margins at
            zero times half the mean change of such margins; None without margins
        extrapolated: whether fewer than ten margins of the reference lie within
            ``max_margin_shift``, so that the density had to be taken from larger ones
        first_flip: first flip seen

    """

    samples: int
    samples_classed: int
    samples_changed: int
    decisions: int
    flips: int
    flip_share: float
    flip_upper_bound: float | None
    ties: int
    tie_changes: int
    unclassed: int
    class_lost: int
    min_margin: float | None
    closest: Hashable
    max_abs: float
    max_margin_shift: float
    mean_margin_shift: float | None
    at_risk: int
    within_largest_shift: int
    expected_flip_share: float | None
    extrapolated: bool
    first_flip: Flip | None


def cantelli_flip_bound(spread: float, margin: float) -> float:
    """Chance that one input flips, at most, whatever the distribution of its margin.

    Args:
        spread: standard deviation of the margin, not negative
        margin: mean of the margin, not negative

    Returns:
        ``spread**2 / (spread**2 + margin**2)`` [cantelli1929]_; 0 where both are 0

    Examples:
        >>> cantelli_flip_bound(1.0, 3.0)
        0.1

    """
    return spread**2 / (spread**2 + margin**2) if spread else 0.0
