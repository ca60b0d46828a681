"""Scores as rows, one for each decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from detaudit.metrics.blocks import BLOCK, Array


@dataclass(frozen=True, slots=True)
class ScoreRows:
    """Pairs of score arrays as rows, one for each decision.

    Attributes:
        reference: scores of any float or integer type, shape ``(decisions, classes)``; one column
            where a threshold decides
        other: the same of the other output
        steps: shape of the decisions
        threshold: score from which on a class is present, None where classes compete

    """

    reference: Array
    other: Array
    steps: tuple[int, ...]
    threshold: float | None

    def walk(self) -> Iterator[tuple[int, Array, Array]]:
        """Walk the rows in blocks.

        Yields:
            number of the block's first row, and both sides of the block as float64

        """
        at_once = max(1, BLOCK // self.reference.shape[1])
        for start in range(0, len(self.reference), at_once):
            rows = slice(start, start + at_once)
            yield (
                start,
                self.reference[rows].astype(np.float64),
                self.other[rows].astype(np.float64),
            )


def split_scores(
    reference: Array, other: Array, axis: int = -1, threshold: float | None = None
) -> ScoreRows:
    """Rows of a pair of score arrays, as `Classes.update` takes them.

    Args:
        reference: scores of any shape, at least one of them
        other: scores of the same shape
        axis: axis of the classes
        threshold: score from which on a class is present, decided for each score by itself; None
            lets the classes of an axis compete, and is 0.5 where there is but one

    Raises:
        ValueError: if the shapes differ or there is no such axis

    Examples:
        >>> split_scores(np.zeros((2, 3)), np.zeros((2, 3)), axis=0).steps
        (3,)

    """
    check_scores(reference, other, axis)
    x, y = (np.moveaxis(z, axis, -1) for z in (reference, other))
    width = x.shape[-1]
    if threshold is None and width == 1:
        threshold = 0.5
    steps = x.shape[:-1] if threshold is None or width == 1 else x.shape
    columns = width if threshold is None else 1
    return ScoreRows(x.reshape(-1, columns), y.reshape(-1, columns), steps, threshold)


def check_scores(reference: Array, other: Array, axis: int) -> None:
    """Refuse scores that cannot be compared along an axis.

    Args:
        reference: scores
        other: scores
        axis: axis of the classes

    Raises:
        ValueError: if the shapes differ or there is no such axis

    """
    check_shapes(reference, other)
    if not -reference.ndim <= axis < reference.ndim:
        raise ValueError(f"shape {reference.shape} has no axis {axis} for classes")


def check_shapes(reference: Array, other: Array) -> None:
    """Refuse outputs of different shapes.

    Args:
        reference: array
        other: array

    Raises:
        ValueError: if the shapes differ

    """
    if reference.shape != other.shape:
        raise ValueError(f"shape {reference.shape} against {other.shape} cannot be compared")
