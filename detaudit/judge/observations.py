"""Remarks that need a look at the outputs themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from detaudit.judge.causes import name_some
from detaudit.judge.grid import Grid, audited_grids
from detaudit.metrics.structure import structural_difference, type_difference
from detaudit.record import Record, array_key
from detaudit.report import Finding


def observe_outputs(record: Record) -> Iterator[Finding]:
    """Findings on special values, types, tied indices and results that were not kept.

    Args:
        record: what happened

    """
    grids = audited_grids(record)
    if not grids:
        return
    yield from _special_values(record, grids[0])
    reference = record.spec.judging.reference
    base = next((grid for grid in grids if grid.name == reference), grids[0])
    for grid in grids:
        yield from _left_out(grid)
        if grid is not base:
            yield from _types(record, base, grid)
            yield from _tied_indices(record, base, grid)


def _first(record: Record, grid: Grid, output: int) -> np.ndarray:
    """First result on the first sample that has this output."""
    sample = min(seen.sample for seen in grid.outcomes(output))
    return record.arrays[array_key(grid.number, sample, output, 0)]


def _special_values(record: Record, grid: Grid) -> Iterator[Finding]:
    for output, facts in enumerate(grid.target.outputs):
        if facts.dtype.startswith("float"):
            array = _first(record, grid, output)
            nan, infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
            if nan or infinite:
                message = (
                    f"Contains {nan} NaN and {infinite} infinite values of {array.size}; NaN is"
                    " equal to NaN here, and the figures are over finite values."
                )
                yield Finding("info", "special-values", grid.name, facts.path, message)


def _left_out(grid: Grid) -> Iterator[Finding]:
    target = grid.target
    outputs = [
        target.outputs[o.output].path for o in target.outcomes if len(o.kept) < len(o.counts)
    ]
    if outputs:
        message = (
            "Too many distinct results to keep them all: means and percentiles against the"
            " reference are over the first ones, extremes and printed values over all."
        )
        name = name_some(dict.fromkeys(outputs))
        yield Finding("info", "results-left-out", grid.name, name, message)


def _types(record: Record, base: Grid, grid: Grid) -> Iterator[Finding]:
    for output, facts in enumerate(grid.target.outputs):
        other = base.number_of(facts.path)
        if other is not None:
            theirs = base.target.outputs[other]
            mine, first = _first(record, grid, output), _first(record, base, other)
            if structural_difference(mine, first):
                continue  # Nothing was compared by value.
            difference = type_difference(mine, first)
            if facts.declared != theirs.declared:
                names = [one.declared or one.dtype for one in (facts, theirs)]
                difference = f"type {' against '.join(names)}"
            if difference:
                message = f"{difference}: compared by value, ULPs in the coarser type."
                yield Finding("info", "type-differs", grid.name, facts.path, message)


def _tied_indices(record: Record, base: Grid, grid: Grid) -> Iterator[Finding]:
    """Indices that differ only where the values they stand for are equal, as of a TopK."""
    outputs = list(enumerate(grid.target.outputs))
    floats = [(o, f) for o, f in outputs if f.dtype.startswith("float") and f.shape]
    for output, facts in outputs:
        counterpart = base.number_of(facts.path)
        if not facts.dtype.startswith("int") or counterpart is None:
            continue
        mine = _first(record, grid, output)
        theirs = _first(record, base, counterpart)
        if mine.shape != theirs.shape or np.array_equal(mine, theirs):
            continue
        for other, values in floats:
            if values.shape == mine.shape and _all_tied(_first(record, grid, other), mine, theirs):
                message = (
                    f"Differs only where values of {values.path} are equal: a tie, whose order no"
                    " one promises."
                )
                yield Finding("info", "tied-indices", grid.name, facts.path, message)


def _all_tied(values: np.ndarray, mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether every differing place holds a value that its row holds more than once."""
    width = values.shape[-1]
    different = (mine != theirs).reshape(-1, width)
    for row in np.flatnonzero(different.any(axis=1)):
        held = values.reshape(-1, width)[row]
        _, which, counts = np.unique(held, return_inverse=True, return_counts=True)
        if (counts[which][different[row]] == 1).any():
            return False
    return True
