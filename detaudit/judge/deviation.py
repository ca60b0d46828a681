"""How far a target lies from the reference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from detaudit.judge.grid import Grid
from detaudit.judge.labels import Axis
from detaudit.metrics.distance import Distance
from detaudit.metrics.scales import explain
from detaudit.metrics.structure import structural_difference
from detaudit.metrics.summary import DistanceSummary
from detaudit.metrics.ulp import Grid as FloatGrid
from detaudit.record import array_key
from detaudit.rows import Deviation, Worst


def paired_outputs(
    grid: Grid, reference: Grid, output: int, arrays: Mapping[str, np.ndarray]
) -> Iterator[tuple[int, np.ndarray, np.ndarray, int]]:
    """Results of a target, each with the first result of the reference on the same sample.

    Args:
        grid: runs of the target
        reference: runs of the reference
        output: number of the output on the target
        arrays: arrays of the record

    Yields:
        sample, array of the reference, array of the target, and the weight of this result

    """
    path = grid.target.outputs[output].path
    paths = [facts.path for facts in reference.target.outputs]
    if path not in paths:
        return
    other = paths.index(path)
    firsts = {seen.sample for seen in reference.outcomes(other)}
    # A result that always came counts once, so that counts of elements stay those of the output.
    once = math.gcd(*(count for seen in grid.outcomes(output) for count in seen.counts))
    for seen in grid.outcomes(output):
        if seen.sample not in firsts:
            continue
        first = arrays[array_key(reference.number, seen.sample, other, 0)]
        for number in seen.kept:
            array = arrays[array_key(grid.number, seen.sample, output, number)]
            yield seen.sample, first, array, seen.counts[number] // once


def judge_deviation(
    grid: Grid,
    reference: Grid,
    output: int,
    labels: Axis | None,
    float_grid: FloatGrid | None,
    arrays: Mapping[str, np.ndarray],
) -> tuple[tuple[Deviation, ...], DistanceSummary]:
    """Rows of an output: the whole output, then one for each label.

    Args:
        grid: runs of the target
        reference: runs of the reference
        output: number of the output on the target
        labels: its named axis
        float_grid: where ULPs are counted, None for the type of the output
        arrays: arrays of the record

    Returns:
        the rows, and the distances of the whole output

    """
    path = grid.target.outputs[output].path
    dtype = float_grid or grid.target.outputs[output].dtype
    axis, count = (labels.axis, len(labels.names)) if labels else (None, 0)
    distance = Distance(axis, count, float_grid)
    structural: str | None = "the reference has no such output"
    for sample, first, array, count in paired_outputs(grid, reference, output, arrays):
        structural = structural_difference(first, array)
        if structural is None and labels and not _fits(array, labels):
            structural = f"shape {array.shape} does not hold the {len(labels.names)} labels"
        if structural:
            break
        distance.update(first, array, weight=count, origin=(sample,))
    summaries = distance.read() if structural is None else distance.read()[:1]
    names = (None, *labels.names) if labels else (None,)
    rows = tuple(
        _row(grid.name, reference.name, path, name, summary, structural, dtype)
        for name, summary in zip(names, summaries, strict=False)
    )
    return rows, summaries[0]


def _fits(array: np.ndarray, labels: Axis) -> bool:
    return -labels.axis <= array.ndim and array.shape[labels.axis] == len(labels.names)


def _row(
    target: str,
    reference: str,
    path: str,
    label: str | None,
    summary: DistanceSummary,
    structural: str | None,
    dtype: str,
) -> Deviation:
    worst = summary.worst
    return Deviation(
        target=target,
        reference=reference,
        output=path,
        label=label,
        identical=summary.identical and structural is None,
        same_values=summary.same_values and structural is None,
        elements=summary.elements,
        finite=summary.finite,
        max_abs=None if structural else summary.max_abs,
        mean_abs=None if structural else summary.mean_abs,
        mean_signed=None if structural else summary.mean_signed,
        p50=None if structural else summary.p50,
        p90=None if structural else summary.p90,
        p99=None if structural else summary.p99,
        rel_norm=None if structural else summary.rel_norm,
        bits_kept=summary.bits_kept,
        max_ulp=None if structural else summary.max_ulp,
        changed_share=summary.changed_share,
        nan_pattern_changed=summary.nan_pattern_changed,
        structural=structural,
        worst=None
        if worst is None
        else Worst(worst.origin[0], worst.index, worst.value, worst.reference_value),
        explanation=None if structural else explain(summary.max_abs, summary.rel_norm, dtype),
    )
