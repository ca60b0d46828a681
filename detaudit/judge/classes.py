"""How often the predicted class changes."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from detaudit.judge.deviation import paired_outputs
from detaudit.judge.grid import Grid
from detaudit.metrics.classes import Classes as Decisions
from detaudit.metrics.counts import find_upper_bound
from detaudit.metrics.structure import structural_difference
from detaudit.record import OutputFacts
from detaudit.rows import Classes

_LABEL_NAME = re.compile(r"(?:^|[^a-z])(?:labels?|class(?:es)?)(?:$|[^a-z])", re.I)


def holds_labels(output: OutputFacts) -> bool:
    """Whether an output holds predicted classes themselves: text, or integers named so.

    Args:
        output: the output

    """
    whole = output.dtype.startswith(("int", "uint"))
    return output.dtype == "string" or (whole and bool(_LABEL_NAME.search(output.path)))


def judge_classes(
    grid: Grid,
    reference: Grid,
    output: int,
    axis: int | None,
    confidence: float,
    arrays: Mapping[str, np.ndarray],
) -> Classes | None:
    """Row of an output that holds class scores or classes.

    Args:
        grid: runs of the target
        reference: runs of the reference; the target's own to compare its runs among themselves
        output: number of the output on the target
        axis: axis of the classes, None for an output that holds classes themselves
        confidence: of the bound
        arrays: arrays of the record

    Returns:
        the row, None where nothing can be compared

    """
    decisions = Decisions()
    for sample, first, array, _ in paired_outputs(grid, reference, output, arrays):
        if structural_difference(first, array):
            return None
        if axis is None:
            decisions.update_labels(first, array, sample=sample)
        else:
            decisions.update(first, array, axis, sample=sample)
    summary = decisions.read()
    if not summary.decisions:
        return None
    # Results that were not kept may flip where none of the others does.
    complete = all(len(seen.kept) == len(seen.counts) for seen in grid.outcomes(output))
    bound = None
    if summary.samples_classed and complete:
        bound = find_upper_bound(summary.samples_changed, summary.samples_classed, confidence)
    return Classes(
        target=grid.name,
        reference=reference.name,
        output=grid.target.outputs[output].path,
        samples=summary.decisions,
        flips=summary.flips + summary.class_lost,
        flip_upper_bound=bound,
        expected_flip_share=summary.expected_flip_share,
        extrapolated=summary.extrapolated,
        min_margin=summary.min_margin,
        max_margin_shift=summary.max_margin_shift if axis is not None else None,
        at_risk=summary.at_risk,
        ties=summary.ties,
        no_class=summary.unclassed,
    )
