"""Remarks that need a look at the outputs themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from detaudit.judge.causes import name_some
from detaudit.metrics.structure import type_difference
from detaudit.record import Record, TargetRecord, array_key
from detaudit.report import Finding


def observe_outputs(record: Record) -> Iterator[Finding]:
    """Findings on special values, types, tied indices and results that were not kept.

    Args:
        record: what happened

    """
    audited = [(n, t) for n, t in enumerate(record.targets) if t.status == "ok"]
    if not audited:
        return
    yield from _special_values(record, *audited[0])
    reference = record.spec.judging.reference
    base = next(((n, t) for n, t in audited if t.target.name == reference), audited[0])
    for number, target in audited:
        yield from _left_out(target)
        if number != base[0]:
            yield from _types(record, base, number, target)
            yield from _tied_indices(record, base, number, target)


def _first(record: Record, number: int, output: int) -> np.ndarray:
    """First result on the first sample that has this output."""
    outcomes = record.targets[number].outcomes
    sample = min(seen.sample for seen in outcomes if seen.output == output)
    return record.arrays[array_key(number, sample, output, 0)]


def _special_values(record: Record, number: int, target: TargetRecord) -> Iterator[Finding]:
    for output, facts in enumerate(target.outputs):
        if facts.dtype.startswith("float"):
            array = _first(record, number, output)
            nan, infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
            if nan or infinite:
                message = (
                    f"Contains {nan} NaN and {infinite} infinite values of {array.size}; NaN is"
                    " equal to NaN here, and the figures are over finite values."
                )
                yield Finding("info", "special-values", target.target.name, facts.path, message)


def _left_out(target: TargetRecord) -> Iterator[Finding]:
    outputs = [
        target.outputs[o.output].path for o in target.outcomes if len(o.kept) < len(o.counts)
    ]
    if outputs:
        message = (
            "Too many distinct results to keep them all: means and percentiles against the"
            " reference are over the first ones, extremes and printed values over all."
        )
        name = name_some(dict.fromkeys(outputs))
        yield Finding("info", "results-left-out", target.target.name, name, message)


def _types(
    record: Record, base: tuple[int, TargetRecord], number: int, target: TargetRecord
) -> Iterator[Finding]:
    paths = [facts.path for facts in base[1].outputs]
    for output, facts in enumerate(target.outputs):
        if facts.path in paths:
            first = _first(record, base[0], paths.index(facts.path))
            difference = type_difference(_first(record, number, output), first)
            if difference:
                message = f"{difference}: compared by value, ULPs in the coarser type."
                yield Finding("info", "type-differs", target.target.name, facts.path, message)


def _tied_indices(
    record: Record, base: tuple[int, TargetRecord], number: int, target: TargetRecord
) -> Iterator[Finding]:
    """Indices that differ only where the values they stand for are equal, as of a TopK."""
    paths = [facts.path for facts in base[1].outputs]
    floats = [
        (o, f) for o, f in enumerate(target.outputs) if f.dtype.startswith("float") and f.shape
    ]
    for output, facts in enumerate(target.outputs):
        if not facts.dtype.startswith("int") or facts.path not in paths:
            continue
        mine = _first(record, number, output)
        theirs = _first(record, base[0], paths.index(facts.path))
        if mine.shape != theirs.shape or np.array_equal(mine, theirs):
            continue
        for other, values in floats:
            if values.shape == mine.shape and _all_tied(
                _first(record, number, other), mine, theirs
            ):
                message = (
                    f"Differs only where values of {values.path} are equal: a tie, whose order no"
                    " one promises."
                )
                yield Finding("info", "tied-indices", target.target.name, facts.path, message)


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
