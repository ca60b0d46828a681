"""How many printed values change, and how many decimals may be published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from detaudit.judge.deviation import paired_outputs
from detaudit.judge.evenness import observe_evenness
from detaudit.judge.grid import Grid
from detaudit.metrics.counts import find_upper_bound
from detaudit.metrics.decimals import agree_decimals, count_existing_decimals, safe_decimals
from detaudit.metrics.rounding import Rounding
from detaudit.metrics.structure import structural_difference
from detaudit.record import array_key
from detaudit.report import Finding
from detaudit.rows import Decimals
from detaudit.rows import Rounding as Row
from detaudit.spec import JudgeSpec


def judge_rounding(
    grid: Grid,
    reference: Grid,
    output: int,
    largest: float,
    judging: JudgeSpec,
    arrays: Mapping[str, np.ndarray],
) -> tuple[tuple[Row, ...], Finding | None]:
    """Rows of a float output, one per number of decimals, and whether its values are uneven.

    Args:
        grid: runs of the target
        reference: runs of the reference; the target's own to compare its runs among themselves
        output: number of the output on the target
        largest: largest difference seen
        judging: which decimals, and the confidence of bounds
        arrays: arrays of the record

    Returns:
        the rows, none for other types and for results whose shapes differ; and a finding where
        not as many values change as their differences let expect

    """
    decimals = range(judging.decimals[0], judging.decimals[1] + 1)
    extremes = Rounding(decimals, at_risk=False)
    # Without any difference nothing is at risk.
    pairs = Rounding(decimals, at_risk=largest > 0)
    for low, high in _extremes(grid, reference, output, arrays):
        if low.dtype.kind != "f" or structural_difference(low, high):
            return (), None
        extremes.update(low, high)
    for _, first, array, count in paired_outputs(grid, reference, output, arrays):
        if structural_difference(first, array):
            return (), None
        pairs.update(first, array, weight=count)
    path = grid.target.outputs[output].path
    changes = extremes.read()
    rows = tuple(
        Row(
            target=grid.name,
            reference=reference.name,
            output=path,
            decimals=seen.decimals,
            values=seen.values,
            changed=seen.changed,
            changed_upper_bound=find_upper_bound(seen.changed, seen.values, judging.confidence),
            expected_share=expected.expected_share,
            at_risk_share=expected.at_risk_share or 0.0,
        )
        for seen, expected in zip(changes, pairs.read(largest), strict=True)
        if seen.values
    )
    return rows, observe_evenness(grid.name, path, changes)


def judge_decimals(
    grid: Grid,
    reference: Grid,
    output: int,
    label: str | None,
    dtype: str,
    largest: float | None,
    mean: float | None,
    magnitude: float | None,
) -> Decimals:
    """Row of a float output or of one of its values.

    Args:
        grid: runs of the target
        reference: runs of the reference; the target's own to compare its runs among themselves
        output: number of the output on the target
        label: name of the value that the differences are those of, None for the whole output
        dtype: type of its values
        largest: largest difference between any two results, None where it is not known
        mean: mean difference
        magnitude: what :func:`find_magnitude` gives for the output

    """
    resolution = count_existing_decimals(dtype, magnitude) if magnitude else None
    unknown = largest is None or mean is None
    return Decimals(
        target=grid.name,
        reference=reference.name,
        output=grid.target.outputs[output].path,
        label=label,
        agree=None if unknown else agree_decimals(largest or 0.0, dtype, magnitude),
        safe_1pct=None if unknown else safe_decimals(mean or 0.0, 0.01, dtype, magnitude),
        safe_01pct=None if unknown else safe_decimals(mean or 0.0, 0.001, dtype, magnitude),
        resolution=resolution if dtype.startswith(("float", "bfloat")) else None,
    )


def find_magnitude(grid: Grid, output: int, arrays: Mapping[str, np.ndarray]) -> float | None:
    """Largest finite absolute value of the first results, None where there is none.

    Args:
        grid: runs of the target
        output: number of the output
        arrays: arrays of the record

    """
    found = [0.0]
    for seen in grid.outcomes(output):
        array = arrays[array_key(grid.number, seen.sample, output, 0)]
        if array.size and array.dtype.kind in "fiu":
            ends = np.array([np.fmin.reduce(array, None), np.fmax.reduce(array, None)], float)
            if not np.isfinite(ends).all():
                finite = array[np.isfinite(array)]
                ends = np.array([finite.min(), finite.max()] if finite.size else [0.0], float)
            found.append(float(np.abs(ends).max()))
    largest = max(found)
    return largest if largest > 0 else None


def holds_numbers(grid: Grid, output: int, arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether the first results of a float output hold a finite value, or no values at all.

    Args:
        grid: runs of the target
        output: number of the output
        arrays: arrays of the record

    """
    sizes = 0
    for seen in grid.outcomes(output):
        array = arrays[array_key(grid.number, seen.sample, output, 0)]
        if np.isfinite(array).any():
            return True
        sizes += array.size
    return sizes == 0


def _extremes(
    grid: Grid, reference: Grid, output: int, arrays: Mapping[str, np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Lowest and highest value of each element over all runs of both targets, per sample."""
    path = grid.target.outputs[output].path
    other = reference.number_of(path)
    if other is None:
        return
    theirs = dict(_own_extremes(reference, other, arrays))
    for sample, (low, high) in _own_extremes(grid, output, arrays):
        if sample in theirs:
            other_low, other_high = theirs[sample]
            if structural_difference(low, other_low):
                yield low, other_low
            else:
                # fmin passes over a NaN and maximum passes it on, so that a NaN that comes or
                # goes stays a change.
                yield np.fmin(low, other_low), np.maximum(high, other_high)


def _own_extremes(
    grid: Grid, output: int, arrays: Mapping[str, np.ndarray]
) -> Iterator[tuple[int, tuple[np.ndarray, np.ndarray]]]:
    for seen in grid.outcomes(output):
        keys = ("low", "high") if seen.varies else (0, 0)
        low, high = (arrays[array_key(grid.number, seen.sample, output, key)] for key in keys)
        if low.dtype.kind == "f":
            yield seen.sample, (low, high)
