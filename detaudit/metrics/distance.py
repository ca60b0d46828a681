"""How far two outputs lie apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from detaudit.metrics.blocks import Array, Kind, find_kind, split_complex, walk
from detaudit.metrics.structure import structural_difference
from detaudit.metrics.summary import DistanceSummary, summarise
from detaudit.metrics.tally import Tally, Worst, add_piece
from detaudit.metrics.ulp import Grid, choose_grid

__all__ = ["Distance", "DistanceSummary", "Worst"]


class Distance:
    """Accumulates the differences of pairs of outputs.

    Differences of floats are formed in float64, those of integers exactly; sums are exact over
    blocks, so merged shards give the numbers of one pass. Complex values count as pairs of a real
    and an imaginary part, told apart by a last index 0 or 1.

    Args:
        label_axis: axis whose entries are also told apart, negative from the end; None for none
        labels: size of that axis; 0 takes it from the first update. Every label costs a pass of
            its own over its slice.
        grid: where ULPs are counted; ``"bfloat16"`` for bfloat16 values handed over as float32;
            None is the type of the arrays

    Examples:
        >>> distance = Distance()
        >>> distance.update(np.array([1.0, 2.0], np.float32), np.array([1.0, 2.5], np.float32))
        >>> summary, = distance.read()
        >>> summary.max_abs, summary.changed, summary.worst.index
        (0.5, 1, (1,))

    """

    def __init__(
        self, label_axis: int | None = None, labels: int = 0, grid: Grid | None = None
    ) -> None:
        self._axis = label_axis
        self._grid = grid
        self._tallies = [Tally() for _ in range(1 if label_axis is None else labels)]
        self._dtypes: tuple[np.dtype[Any] | None, np.dtype[Any] | None] = (None, None)

    def update(
        self, reference: Array, other: Array, weight: int = 1, origin: tuple[Any, ...] = (None,)
    ) -> None:
        """Add a pair of outputs.

        Args:
            reference: array of any shape and type
            other: array of the same shape, its type of the same kind
            weight: how often this pair occurred, at least 1
            origin: what the summary calls the pair when it holds the worst element, for instance
                the sample's number

        Raises:
            ValueError: if shapes, kinds of type or the number of labels do not match
            TypeError: if the type holds neither numbers, booleans nor strings

        """
        problem = structural_difference(reference, other)
        if problem:
            raise ValueError(f"outputs cannot be compared: {problem}")
        kind = find_kind(reference.dtype)
        if self._dtypes[0] is None:
            self._dtypes = (reference.dtype, other.dtype)
        axis = None if self._axis is None else self._find_axis(reference.shape)
        if kind == "complex":
            kind, reference, other = "float", split_complex(reference), split_complex(other)
        if axis is None:
            self._add(self._tallies[0], reference, other, kind, weight, origin)
            return
        for label, tally in enumerate(self._tallies):
            x, y = (np.moveaxis(z, axis, 0)[label] for z in (reference, other))
            self._add(tally, x, y, kind, weight, origin, (axis, label))

    def merge(self, other: Distance) -> None:
        """Add what another accumulator saw later.

        Args:
            other: accumulator with the same arguments

        Raises:
            ValueError: if the number of labels differs

        """
        if not other._tallies:
            return
        self._tallies = self._tallies or [Tally() for _ in other._tallies]
        if len(self._tallies) != len(other._tallies):
            raise ValueError(f"{len(other._tallies)} labels cannot join {len(self._tallies)}")
        for mine, theirs in zip(self._tallies, other._tallies, strict=True):
            mine.merge(theirs)
        if self._dtypes[0] is None:
            self._dtypes = other._dtypes

    def read(self) -> tuple[DistanceSummary, ...]:
        """Summary of the whole output, followed by one for each label."""
        whole = Tally()
        for tally in self._tallies:
            whole.merge(tally)
        labels = [] if self._axis is None else self._tallies
        reference, other = self._dtypes
        return tuple(summarise(tally, reference, other, self._grid) for tally in (whole, *labels))

    def _find_axis(self, shape: tuple[int, ...]) -> int:
        assert self._axis is not None
        if not -len(shape) <= self._axis < len(shape):
            raise ValueError(f"shape {shape} has no axis {self._axis} for labels")
        axis = self._axis % len(shape)
        self._tallies = self._tallies or [Tally() for _ in range(shape[axis])]
        if shape[axis] != len(self._tallies):
            raise ValueError(f"shape {shape} has {shape[axis]} labels, not {len(self._tallies)}")
        return axis

    def _add(
        self,
        tally: Tally,
        x: Array,
        y: Array,
        kind: Kind,
        weight: int,
        origin: tuple[Any, ...],
        cut: tuple[int, int] | None = None,
    ) -> None:
        grid = (self._grid or choose_grid(x.dtype, y.dtype)) if kind == "float" else "float64"

        def describe(position: int) -> Worst:
            index = tuple(int(i) for i in np.unravel_index(position, x.shape))
            values = [z.item() if isinstance(z, np.generic) else z for z in (y[index], x[index])]
            if cut:
                index = (*index[: cut[0]], cut[1], *index[cut[0] :])
            return Worst(origin, index, *values)

        # Overflow ends as the largest float64, see ExactSum; there is nothing to warn of.
        with np.errstate(over="ignore", invalid="ignore"):
            for start, (piece, other) in walk(x, y):
                marks = add_piece(tally, piece, other, kind, grid, weight)
                if marks.largest is not None:
                    tally.largest = describe(start + marks.largest)
                if marks.odd is not None and tally.first_odd is None:
                    tally.first_odd = describe(start + marks.odd)
