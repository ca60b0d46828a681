"""The tables of a report that need the arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from detaudit.judge.causes import explain_size
from detaudit.judge.classes import holds_labels, judge_classes
from detaudit.judge.deviation import (
    judge_apart,
    judge_deviation,
    judge_missing,
    key_difference,
)
from detaudit.judge.grid import Grid
from detaudit.judge.labels import find_class_axis, find_labels
from detaudit.judge.matching import tells_structure
from detaudit.judge.rounding import find_magnitude, holds_numbers, judge_decimals, judge_rounding
from detaudit.judge.types import find_float_grid
from detaudit.judge.values import judge_values
from detaudit.judge.weights import count_sets, read_weights, tell_apart
from detaudit.metrics.ulp import Grid as FloatGrid
from detaudit.record import OutputFacts, Record
from detaudit.report import Finding
from detaudit.rows import Classes, Decimals, Deviation, Rounding, Value
from detaudit.spec import JudgeSpec


class Tables:
    """Tables that are filled target by target.

    Args:
        record: what happened
        judging: how it is judged

    """

    def __init__(self, record: Record, judging: JudgeSpec) -> None:
        self._record = record
        self._judging = judging
        self.deviation: list[Deviation] = []
        self.rounding: list[Rounding] = []
        self.decimals: list[Decimals] = []
        self.decisions: list[Classes] = []
        self.classes: list[Classes] = []
        self.values: list[Value] = []
        self.uneven: list[Finding] = []
        self.numberless: list[tuple[str, str]] = []
        self._magnitudes: dict[tuple[int, int], float | None] = {}

    def add_own(self, grid: Grid) -> None:
        """Compare the runs of a target among themselves."""
        one_model = count_sets(read_weights(grid.target)) < 2
        for number, output in enumerate(grid.target.outputs):
            labels = find_labels(output, self._record.model, self._judging)
            self.values += judge_values(grid, number, labels, self._record.arrays)
            if one_model:
                self._compare(grid, grid, number, [(None, *_own_distances(grid, number))])

    def add_against(self, grid: Grid, reference: Grid) -> None:
        """Compare a target with the reference."""
        missing = list(judge_missing(grid, reference))
        outputs = list(enumerate(grid.target.outputs))
        if grid.target.target.model != reference.target.target.model:
            # Another form of the model tells lengths and presences in a way of its own.
            missing = [row for row in missing if not tells_structure(row.output)]
            selected = bool(self._record.spec.outputs)
            outputs = [
                (n, o)
                for n, o in outputs
                if reference.number_of(o.path) is not None
                or not (selected or tells_structure(o.path))
            ]
        if why := tell_apart(grid.target, reference.target):
            self.deviation += judge_apart(grid, reference, why)
        else:
            for number, output in outputs:
                self._add_deviation(grid, reference, number, output)
        self.deviation += missing

    def _add_deviation(self, grid: Grid, reference: Grid, number: int, output: OutputFacts) -> None:
        own, _ = _own_distances(grid, number)
        rows = judge_deviation(
            grid,
            reference,
            number,
            find_labels(output, self._record.model, self._judging),
            _find_grid(output, reference),
            self._record.arrays,
            partial(
                explain_size,
                noise=max(own or 0.0, _noise(reference, output.path)),
                quantised=(grid.target.model or self._record.model).quantised,
            ),
        )
        self.deviation += rows
        # Any two results: two of the target may lie further apart than each from the reference.
        sizes = [(row.label, _larger(own, row.max_abs), row.mean_abs) for row in rows]
        self._compare(grid, reference, number, sizes)

    def _compare(
        self,
        grid: Grid,
        other: Grid,
        number: int,
        sizes: Sequence[tuple[str | None, float | None, float | None]],
    ) -> None:
        """Rounding, decimals and classes of an output.

        The sizes are the largest and the mean difference of the whole output, whose label is
        None, followed by those of its labels.
        """
        _, largest, _ = sizes[0]
        output, arrays, judging = grid.target.outputs[number], self._record.arrays, self._judging
        if key_difference(output, other.target.outputs):
            return
        dtype = _find_grid(output, other) or output.dtype
        # Results may differ without a distance, such as NaN and a number.
        differ = grid is not other or any(
            spread.changed or spread.structural for spread in grid.spreads(number)
        )
        if dtype.startswith(("float", "bfloat")):
            if grid is other and judging.requirement and not holds_numbers(grid, number, arrays):
                self.numberless.append((grid.name, output.path))
            if differ:
                rows, uneven = judge_rounding(grid, other, number, largest or 0.0, judging, arrays)
                self.rounding += rows
                self.uneven += [uneven] if uneven else []
            magnitude = self._find_magnitude(grid, number)
            self.decimals += (
                judge_decimals(grid, other, number, label, dtype, most, mean, magnitude)
                for label, most, mean in sizes
            )
        axis = find_class_axis(output, self._record.model, judging)
        if axis is not None or holds_labels(output):
            row = judge_classes(grid, other, number, axis, judging.confidence, arrays)
            if row is not None:
                self.decisions.append(row)
                if differ or row.flips:
                    self.classes.append(row)

    def _find_magnitude(self, grid: Grid, number: int) -> float | None:
        """Magnitude of an output, for which all its arrays are read once."""
        place = (grid.number, number)
        if place not in self._magnitudes:
            self._magnitudes[place] = find_magnitude(grid, number, self._record.arrays)
        return self._magnitudes[place]


def _find_grid(output: OutputFacts, other: Grid) -> FloatGrid | None:
    """Numbers among which the steps between an output and that of another target are counted."""
    number = other.number_of(output.path)
    return find_float_grid(output, output if number is None else other.target.outputs[number])


def _larger(a: float | None, b: float | None) -> float | None:
    """Larger of two differences, None where one of them is not known."""
    return None if a is None or b is None else max(a, b)


def _own_distances(grid: Grid, output: int) -> tuple[float | None, float | None]:
    """Largest and mean difference among the runs of a target; 0 where all are equal."""
    spreads = grid.spreads(output)
    if any(s.max_abs is None for s in spreads):
        return None, None
    return (
        max((float(s.max_abs or 0) for s in spreads), default=0.0),
        max((float(s.mean_abs or 0) for s in spreads), default=0.0),
    )


def _noise(grid: Grid, path: str) -> float:
    """Largest difference among the runs of a target in one output, as far as there is one."""
    number = grid.number_of(path)
    return 0.0 if number is None else _own_distances(grid, number)[0] or 0.0
