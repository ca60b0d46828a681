"""Bounds of counts hold as often as they claim, under drift of any law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from detaudit.metrics.counts import (
    clopper_pearson,
    find_upper_bound,
    instability_upper_bound,
    modal_share,
)
from detaudit.metrics.flips import cantelli_flip_bound
from detaudit.metrics.rounding import Rounding
from tests.metrics.simulated import (
    DRIFTS,
    OUTCOMES,
    TRIALS,
    VALUES,
    cover_upper,
    draw_most_frequent,
    least_hits,
    sigmoid,
    simulate_flags,
)

CONFIDENCE = 0.95


def test_limits_pass_what_holds_and_refuse_what_holds_2_percent_less() -> None:
    for confidence in (0.95, 0.975, 0.99):
        least = least_hits(confidence)
        assert stats.binom.cdf(least - 1, TRIALS, confidence) < 1e-8
        assert stats.binom.sf(least - 1, TRIALS, confidence - 0.02) < 1e-6


@pytest.mark.parametrize("units", [5, 20, 60, 300])
def test_instability_of_units(units: int) -> None:
    bound = instability_upper_bound(units, CONFIDENCE)
    assert bound is not None
    # Hardest are conditions just beyond the bound: equal units then claim too little.
    p = bound * (1 + 1e-9)
    rng = np.random.default_rng(units)
    unequal = rng.random((TRIALS, units - 1)) < p
    assert unequal.any(axis=1).sum() >= least_hits(CONFIDENCE)


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("values", ["uniform", "normal", "lattice on the boundaries"])
@pytest.mark.parametrize("seen", [0, 7])
def test_changed_printed_values(values: str, drift: str, seen: int) -> None:
    flags = simulate_flags(values, drift, 5_000)
    hits = cover_upper(find_upper_bound, flags, seen, np.random.default_rng(seen))
    assert hits >= least_hits(CONFIDENCE)


def test_a_bound_that_claims_too_much_is_caught() -> None:
    def careless(x: int, n: int) -> float:
        return find_upper_bound(x, n, CONFIDENCE - 0.02)

    flags = simulate_flags("uniform", "normal", 5_000)
    for seen in (0, 7, 40):
        hits = cover_upper(careless, flags, seen, np.random.default_rng(seen))
        assert hits < least_hits(CONFIDENCE)


def test_flags_are_what_the_metric_counts() -> None:
    rng = np.random.default_rng(7)
    x = VALUES["normal"](rng, (100, 100))
    y = x + 4e-4 * DRIFTS["normal"](rng, x)
    rounding = Rounding([2])
    rounding.update(x, y)
    assert rounding.read()[0].changed == simulate_flags("normal", "normal", 100).sum() > 20


@pytest.mark.parametrize("p", [0.001, 0.03, 0.5, 0.97])
@pytest.mark.parametrize("n", [20, 200, 20_000])
def test_two_sided_interval(p: float, n: int) -> None:
    counts = np.random.default_rng(n).binomial(n, p, TRIALS)
    known = {x: clopper_pearson(x, n) for x in np.unique(counts).tolist()}
    hits = sum(known[x][0] <= p <= known[x][1] for x in counts.tolist())
    assert hits >= least_hits(CONFIDENCE)


@pytest.mark.parametrize("law", OUTCOMES)
@pytest.mark.parametrize("n", [5, 20, 60])
def test_share_of_the_most_frequent_outcome(law: str, n: int) -> None:
    counts = draw_most_frequent(law, n)
    known = {x: modal_share(x, n)[1:] for x in np.unique(counts).tolist()}
    p = max(OUTCOMES[law])
    hits = sum(known[x][0] <= p <= known[x][1] for x in counts.tolist())
    assert hits >= least_hits(CONFIDENCE)


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("score", ["logit", "sigmoid"])
def test_no_law_of_the_margin_flips_more_often_than_cantelli(drift: str, score: str) -> None:
    rng = np.random.default_rng(3)
    for center in (0.2, 1.0, 3.0):
        logits = center + DRIFTS[drift](rng, np.full((TRIALS, 1), center))
        margins = logits if score == "logit" else sigmoid(logits) - 0.5
        # A law of TRIALS equally likely margins, whose mean and spread are thus exact.
        mean, spread = float(margins.mean()), float(margins.std())
        assert mean > 0
        assert (margins <= 0).mean() <= cantelli_flip_bound(spread, mean)


def test_a_spread_of_few_runs_is_no_basis_for_cantelli() -> None:
    """What docs/method.rst says of the bound: the spread has to be known."""
    rng = np.random.default_rng(4)
    jumps = np.where(rng.random((TRIALS, 5)) < 0.05, -30.0, 0.0)
    margins = 1.0 + jumps + 0.01 * rng.standard_normal(jumps.shape)
    mean, spread = margins.mean(axis=1), margins.std(axis=1, ddof=1)
    claimed = [
        cantelli_flip_bound(s, m) if m > 0 else 1.0 for s, m in zip(spread, mean, strict=True)
    ]
    assert np.mean(np.array(claimed) >= 0.05) < 0.5
