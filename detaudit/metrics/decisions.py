"""Decisions that pairs of scores lead to, and how close they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from detaudit.metrics.blocks import Array
from detaudit.metrics.exact import LARGEST


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of a block of score vectors.

    Attributes:
        counts: decisions, flips, ties, tie_changes, unclassed, class_lost and at_risk, as
            `ClassesSummary` says
        margins: float64, margin of each decision in the reference that is no tie
        shifts: float64, how far each of these margins moved
        max_abs: largest change of a score
        max_shift: largest change of a difference between winner and rival
        flip: place of the first flip in the block and both its classes, or None

    """

    counts: dict[str, int]
    margins: Array
    shifts: Array
    max_abs: float
    max_shift: float
    flip: tuple[int, Any, Any] | None


def decide_by_largest(x: Array, y: Array) -> Decisions:
    """Let the classes of each row compete.

    Args:
        x: reference scores, float64, shape ``(rows, classes)``, at least two classes
        y: other scores of that shape

    Examples:
        >>> decide_by_largest(np.array([[1.0, 1.0]]), np.array([[1.0, 2.0]])).counts["ties"]
        1

    """
    places, x, y, counts = _drop_unclassed(x, y)
    if not len(x):
        return _decide_nothing(counts)
    rows = np.arange(len(x))
    before, after = x.argmax(axis=1), y.argmax(axis=1)
    margins = subtract(x[rows, before][:, None], x)
    moved = np.abs(subtract(subtract(y[rows, before][:, None], y), margins))
    margins[rows, before] = np.inf
    rival = margins.argmin(axis=1)
    margin, shift = margins[rows, rival], moved[rows, rival]
    tied = (margin == 0) | (np.count_nonzero(y == y[rows, after][:, None], axis=1) > 1)
    # The winner moves against itself by nothing, so it never stands for a rival here.
    sizes = np.abs(subtract(y, x)).max(axis=1)
    reached = ((margins <= moved) & (margins > 0)).any(axis=1) & (margin <= 2 * sizes)
    return _decide(counts, places, before, after, tied, reached, margin, shift, sizes, moved.max())


def decide_by_threshold(x: Array, y: Array, threshold: float) -> Decisions:
    """Compare each score with a threshold; a class is present from the threshold on.

    Args:
        x: reference scores, float64, one-dimensional
        y: other scores of that shape
        threshold: finite score

    Examples:
        >>> decide_by_threshold(np.array([0.4]), np.array([0.6]), 0.5).flip
        (0, False, True)

    """
    places, x, y, counts = _drop_unclassed(x[:, None], y[:, None])
    if not len(x):
        return _decide_nothing(counts)
    x, y = x[:, 0], y[:, 0]
    margin, shift = np.abs(x - threshold), np.abs(subtract(y, x))
    tied = (x == threshold) | (y == threshold)
    before, after = x >= threshold, y >= threshold
    return _decide(
        counts, places, before, after, tied, margin <= shift, margin, shift, shift, shift.max()
    )


def _drop_unclassed(x: Array, y: Array) -> tuple[Array, Array, Array, dict[str, int]]:
    lost_x, lost_y = np.isnan(x).any(axis=1), np.isnan(y).any(axis=1)
    keep = ~(lost_x | lost_y)
    counts = {
        "decisions": len(x),
        "unclassed": len(x) - int(np.count_nonzero(keep)),
        "class_lost": int(np.count_nonzero(lost_x ^ lost_y)),
    }
    return np.flatnonzero(keep), x[keep], y[keep], counts


def _decide_nothing(counts: dict[str, int]) -> Decisions:
    none = np.zeros(0)
    return Decisions(
        counts | dict.fromkeys(("flips", "ties", "tie_changes", "at_risk"), 0),
        none,
        none,
        0,
        0,
        None,
    )


def _decide(
    counts: dict[str, int],
    places: Array,
    before: Array,
    after: Array,
    tied: Array,
    reached: Array,
    margin: Array,
    shift: Array,
    sizes: Array,
    max_shift: float,
) -> Decisions:
    changed = before != after
    flips = np.flatnonzero(changed & ~tied)
    counts |= {
        "flips": flips.size,
        "ties": int(np.count_nonzero(tied)),
        "tie_changes": int(np.count_nonzero(changed & tied)),
        "at_risk": int(np.count_nonzero(reached & ~tied)),
    }
    flip = None
    if flips.size:
        first = flips[0]
        flip = (int(places[first]), before[first].item(), after[first].item())
    known = margin > 0
    return Decisions(
        counts=counts,
        margins=np.ascontiguousarray(margin[known]),
        shifts=np.ascontiguousarray(shift[known]),
        max_abs=min(float(sizes.max()), LARGEST),
        max_shift=min(float(max_shift), LARGEST),
        flip=flip,
    )


def subtract(a: Array, b: Array) -> Array:
    """Difference in which an infinity is no distance away from itself.

    Args:
        a: float64
        b: float64, of a shape that broadcasts with it

    """
    return np.where(a == b, 0.0, a - b)
