"""Intervals of shares whose items share sessions."""

from __future__ import annotations

import numpy as np
import pytest

from detaudit.metrics.clusters import Clusters, ClustersSummary, bound_mean
from detaudit.metrics.counts import clopper_pearson
from tests.metrics.simulated import SESSIONS, SHARE, TRIALS, draw_sessions, least_hits


def read(row: np.ndarray, items: int = 100) -> ClustersSummary:
    clusters = Clusters()
    for session, changed in enumerate(row.tolist()):
        clusters.update(session, changed, items)
    return clusters.read()


def holds(ends: tuple[float, float]) -> bool:
    return ends[0] <= SHARE <= ends[1]


@pytest.mark.parametrize("law", SESSIONS)
@pytest.mark.parametrize("sessions", [2, 4, 20, 60])
def test_certain_bounds_hold_whatever_the_sessions_do(law: str, sessions: int) -> None:
    counts = draw_sessions(law, sessions, TRIALS).sum(axis=1)
    known = {x: bound_mean(x / (100 * sessions), sessions) for x in np.unique(counts).tolist()}
    assert sum(holds(known[x]) for x in counts.tolist()) >= least_hits(0.95)


@pytest.mark.parametrize("sessions", [2, 4, 20, 60])
def test_certain_bounds_hold_at_the_hardest_law(sessions: int) -> None:
    """All or nothing, just beyond what sessions without a change exclude."""
    upper = bound_mean(0.0, sessions)[1]
    p = upper * (1 + 1e-9)
    changed = (np.random.default_rng(sessions).random((TRIALS, sessions)) < p).sum(axis=1)
    known = {x: bound_mean(x / sessions, sessions)[1] for x in np.unique(changed).tolist()}
    assert sum(known[x] >= p for x in changed.tolist()) >= least_hits(0.975)


def test_a_bound_that_claims_too_much_is_caught() -> None:
    # One end that misses 4.5 % of the time instead of 2.5 %.
    upper = bound_mean(0.0, 20, 0.91)[1]
    changed = (np.random.default_rng(1).random((TRIALS, 20)) < upper * (1 + 1e-9)).any(axis=1)
    assert changed.sum() < least_hits(0.975)


def test_accumulator_reads_these_bounds() -> None:
    row = draw_sessions("sessions vary", 20, 1)[0]
    assert read(row).certain == pytest.approx(bound_mean(row.sum() / 2000, 20))


@pytest.mark.parametrize(
    ("law", "sessions", "least"),
    [
        ("sessions alike", 4, 0.95),
        ("sessions alike", 20, 0.95),
        ("sessions vary", 4, 0.93),
        ("sessions vary", 20, 0.93),
        ("few sessions drift", 60, 0.93),
    ],
)
def test_interval_holds_where_sessions_vary_as_those_seen(
    law: str, sessions: int, least: float
) -> None:
    trials = 2_000
    ends = [read(row).interval for row in draw_sessions(law, sessions, trials)]
    hits = sum(end is not None and holds(end) for end in ends)
    assert hits >= least_hits(least, trials)


def test_interval_holds_too_seldom_where_few_sessions_vary_greatly() -> None:
    """What docs/method.rst says: then only the bounds for any law hold."""
    ends = [read(row).interval for row in draw_sessions("sessions vary greatly", 4, 2_000)]
    given = [end for end in ends if end is not None]
    assert 0.7 < np.mean([holds(end) for end in given]) < 0.9


def test_interval_is_left_open_where_no_session_drifted() -> None:
    ends = [read(row).interval for row in draw_sessions("few sessions drift", 4, 2_000)]
    # 0.9 ** 4 of the trials show nothing.
    assert np.mean([end is None for end in ends]) == pytest.approx(0.656, abs=0.06)


@pytest.mark.parametrize("law", [name for name in SESSIONS if name != "sessions alike"])
def test_items_of_a_session_taken_for_independent_claim_too_much(law: str) -> None:
    counts = draw_sessions(law, 20, 2_000).sum(axis=1)
    known = {x: clopper_pearson(x, 2_000) for x in np.unique(counts).tolist()}
    assert np.mean([holds(known[x]) for x in counts.tolist()]) < 0.7
