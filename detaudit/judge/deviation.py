"""How far a target lies from the reference."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from detaudit.judge.grid import Grid
from detaudit.judge.labels import Axis
from detaudit.metrics.distance import Distance
from detaudit.metrics.structure import structural_difference
from detaudit.metrics.summary import DistanceSummary
from detaudit.metrics.ulp import Grid as FloatGrid
from detaudit.record import Outcomes, OutputFacts, array_key
from detaudit.rows import Deviation, Worst

Explain = Callable[[float | None, float | None, str], str | None]
"""From the largest difference, the same relative to the largest value, and the type, to words."""

MISSING = "the reference has no such output"
ONLY_REFERENCE = "only the reference has this output"
"""What stands in the place of figures where one side lacks an output."""


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
    other = reference.number_of(path)
    if other is None:
        return
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
    explain: Explain,
) -> tuple[Deviation, ...]:
    """Rows of an output: the whole output, then one for each label.

    Args:
        grid: runs of the target
        reference: runs of the reference
        output: number of the output on the target
        labels: its named axis
        float_grid: where ULPs are counted, None for the type of the output
        arrays: arrays of the record
        explain: tells what a size of differences suggests

    """
    facts = grid.target.outputs[output]
    axis, count = (labels.axis, len(labels.names)) if labels else (None, 0)
    distance = Distance(axis, count, float_grid)
    structural: str | None = MISSING
    for sample, first, array, count in paired_outputs(grid, reference, output, arrays):
        structural = structural_difference(array, first)
        if structural is None and labels and not _fits(array, labels):
            structural = f"shape {array.shape} does not hold the {len(labels.names)} labels"
        if structural:
            break
        distance.update(first, array, weight=count, origin=(sample,))
    if structural is None:
        structural = key_difference(facts, reference.target.outputs)
    summaries = distance.read() if structural is None else distance.read()[:1]
    if structural is None and _left_out(grid, output):
        for sample, first, end in _ends(grid, reference, output, arrays):
            distance.update(first, end, origin=(sample,))
        summaries = tuple(map(_widen, summaries, distance.read()))
    names = (None, *labels.names) if labels else (None,)
    dtype = float_grid or facts.dtype
    return tuple(
        _row(
            (grid.name, reference.name, facts.path, name),
            summary,
            structural,
            None if structural else explain(summary.max_abs, summary.rel_norm, dtype),
        )
        for name, summary in zip(names, summaries, strict=False)
    )


def _left_out(grid: Grid, output: int) -> list[Outcomes]:
    """Entries of samples that gave more results than the record holds."""
    return [seen for seen in grid.outcomes(output) if len(seen.kept) < len(seen.counts)]


def _ends(
    grid: Grid, reference: Grid, output: int, arrays: Mapping[str, np.ndarray]
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Lowest and highest values where not all results were kept, which stand for the largest."""
    firsts = {
        sample: first for sample, first, *_ in paired_outputs(grid, reference, output, arrays)
    }
    for seen in _left_out(grid, output):
        if seen.varies and seen.sample in firsts:
            for end in ("low", "high"):
                array = arrays[array_key(grid.number, seen.sample, output, end)]
                yield seen.sample, firsts[seen.sample], array


def _widen(kept: DistanceSummary, whole: DistanceSummary) -> DistanceSummary:
    """Means of the results that were kept, the largest differences of all.

    Results that were not kept have other bits than the first one, so not all are the reference's.
    """
    return dataclasses.replace(
        whole,
        identical=False,
        same_values=whole.same_values and whole.elements > kept.elements,
        elements=kept.elements,
        finite=kept.finite,
        mean_abs=kept.mean_abs,
        mean_signed=kept.mean_signed,
        p50=kept.p50,
        p90=kept.p90,
        p99=kept.p99,
    )


def _fits(array: np.ndarray, labels: Axis) -> bool:
    return -labels.axis <= array.ndim and array.shape[labels.axis] == len(labels.names)


def judge_missing(grid: Grid, reference: Grid) -> Iterator[Deviation]:
    """Rows of the outputs that the reference has and the target has not.

    Args:
        grid: runs of the target
        reference: runs of the reference

    """
    paths = {facts.path for facts in grid.target.outputs}
    for facts in reference.target.outputs:
        if facts.path not in paths:
            place = (grid.name, reference.name, facts.path, None)
            yield _row(place, Distance().read()[0], ONLY_REFERENCE, None)


def judge_apart(grid: Grid, reference: Grid, why: str) -> Iterator[Deviation]:
    """Rows of the outputs of a target that did not run the model of the reference.

    Args:
        grid: runs of the target
        reference: runs of the reference
        why: what stands in the place of figures

    """
    for facts in grid.target.outputs:
        yield _row((grid.name, reference.name, facts.path, None), Distance().read()[0], why, None)


def key_difference(facts: OutputFacts, others: tuple[OutputFacts, ...]) -> str | None:
    """Whether the values of a map belong to other keys than those of the reference.

    Args:
        facts: output of the target
        others: outputs of the reference

    Returns:
        the difference in words, None where there is none

    """
    for other in others:
        if other.path == facts.path and other.keys != facts.keys:
            return f"keys {', '.join(facts.keys)} against {', '.join(other.keys)}"
    return None


def _row(
    place: tuple[str, str, str, str | None],
    summary: DistanceSummary,
    structural: str | None,
    explanation: str | None,
) -> Deviation:
    target, reference, output, label = place
    worst = summary.worst
    return Deviation(
        target=target,
        reference=reference,
        output=output,
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
        bits_kept=None if structural else summary.bits_kept,
        max_ulp=None if structural else summary.max_ulp,
        changed_share=None if structural else summary.changed_share,
        nan_pattern_changed=summary.nan_pattern_changed,
        structural=structural,
        worst=None
        if worst is None
        else Worst(worst.origin[0], worst.index, worst.value, worst.reference_value),
        explanation=explanation,
    )
