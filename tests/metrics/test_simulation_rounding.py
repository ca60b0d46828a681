"""Expected printed values that change, held against those that do."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from detaudit.metrics.agreement import compare_with_expected
from detaudit.metrics.rounding import Rounding, RoundingSummary
from tests.metrics.simulated import (
    DRIFTS,
    SPREAD,
    SQUASHED,
    TRIALS,
    UNEVEN,
    VALUES,
    least_hits,
)

ROWS = 500
SIGMAS = 5.5
"""A sum of so many bounded terms strays further with a probability below 4e-8."""


@cache
def measure(values: str, drift: str, size: float, seed: int) -> tuple[RoundingSummary, float]:
    """Summary at two decimals, and the standard error of its count by sessions."""
    rng = np.random.default_rng(seed)
    x = VALUES[values](rng, (ROWS, 100))
    y = x + size * DRIFTS[drift](rng, x)
    rounding = Rounding([2])
    rounding.update(x, y)
    changed = (np.rint(x * 100) != np.rint(y * 100)).sum(axis=1)
    return rounding.read()[0], float(np.sqrt(ROWS * changed.var()))


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("values", SPREAD)
@pytest.mark.parametrize("size", [4e-4, 4e-3])
def test_values_not_tried_change_as_often_as_expected(values: str, drift: str, size: float) -> None:
    tried, first = measure(values, drift, size, 1)
    fresh, second = measure(values, drift, size, 2)
    expected = tried.expected_share * tried.values
    stray = SIGMAS * np.hypot(first, second)
    assert stray < 0.35 * expected
    assert abs(fresh.changed - expected) <= 0.02 * expected + stray


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("values", SPREAD)
def test_evenly_spread_values_are_never_told_to_be_uneven(values: str, drift: str) -> None:
    for size in (4e-6, 4e-4, 4e-3):
        for seed in (1, 2):
            row, _ = measure(values, drift, size, seed)
            verdict = compare_with_expected(row.changed, row.values, row.expected_share).verdict
            assert verdict in ("as expected", "open")


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("values", SQUASHED)
def test_crowded_values_change_at_most_as_often_as_expected(values: str, drift: str) -> None:
    """What docs/method.rst says: near the middle between two boundaries little is at risk."""
    row, stray = measure(values, drift, 4e-4, 1)
    expected = row.expected_share * row.values
    assert 0.4 * expected <= row.changed <= 1.02 * expected + SIGMAS * stray


@pytest.mark.parametrize("drift", [name for name in DRIFTS if name != "rare large jumps"])
def test_uneven_values_are_told(drift: str) -> None:
    verdicts = []
    for values in UNEVEN:
        row, _ = measure(values, drift, 4e-4, 1)
        verdicts.append(compare_with_expected(row.changed, row.values, row.expected_share).verdict)
    assert verdicts == ["fewer than expected", "more than expected"]


@pytest.mark.parametrize(
    ("ratio", "wrong"),
    [
        (1.4999, {"more than expected"}),
        (1.5001, {"as expected"}),
        (1 / 1.5001, {"as expected"}),
        (1 / 1.4999, {"fewer than expected"}),
        (1.0, {"more than expected", "fewer than expected"}),
    ],
)
def test_verdicts_are_right_as_often_as_they_claim(ratio: float, wrong: set[str]) -> None:
    """Chances are as unequal as can be: some values change for certain, the others rarely."""
    rng = np.random.default_rng(8)
    values, certain, rare = 2_000, 30, 0.02
    counts = certain + rng.binomial(values - certain, rare, TRIALS)
    mean = certain + (values - certain) * rare
    known = {
        x: compare_with_expected(x, values, mean / ratio / values).verdict
        for x in np.unique(counts).tolist()
    }
    hits = sum(known[x] not in wrong for x in counts.tolist())
    assert hits >= least_hits(0.999)


def test_any_two_of_many_runs_are_expected_from_their_range() -> None:
    rng = np.random.default_rng(9)
    x = rng.standard_normal((1, 20_000))
    runs = x + 4e-4 * rng.standard_normal((20, 20_000))
    ranges, pairs = Rounding([2]), Rounding([2])
    ranges.update(runs.min(axis=0), runs.max(axis=0))
    for run in runs[1:]:
        pairs.update(runs[0], run)
    (seen,), (each,) = ranges.read(), pairs.read()
    agree = compare_with_expected(seen.changed, seen.values, seen.expected_share)
    assert agree.verdict == "as expected"
    # The mean difference of a pair says nothing of any two among twenty.
    differ = compare_with_expected(seen.changed, seen.values, each.expected_share)
    assert differ.verdict == "more than expected"
