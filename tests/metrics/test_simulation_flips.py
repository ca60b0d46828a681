"""Expected flips, held against those that happen to inputs not tried."""

from __future__ import annotations

import numpy as np
import pytest

from detaudit.metrics.classes import Classes
from detaudit.metrics.counts import find_upper_bound
from tests.metrics.simulated import DRIFTS, TRIALS, least_hits, sigmoid, softmax

DECISIONS = 100_000
SIZE = 0.02
DRAWS = 2

FORMS = {"logits": lambda z: z, "softmax": softmax}
ERROR = 0.15
"""What the estimate may be off beside chance; docs/method.rst states it."""

Pair = tuple[np.ndarray, np.ndarray]


def stray(expected: float, shifts: np.ndarray) -> float:
    """What chance adds: 5.5 standard errors, which it exceeds with a probability below 4e-8.

    The density rests on some 1,000 margins, the mean change on some 10,000.
    """
    scatter = shifts.std() / shifts.mean()
    return float(5.5 * expected * np.sqrt(1 / 1000 + scatter**2 / 10_000 + 1 / expected))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("classes", [2, 5])
def test_flips_of_classes_that_compete(form: str, drift: str, classes: int) -> None:
    rng = np.random.default_rng(classes)

    def draw() -> Pair:
        logits = 3 * rng.standard_normal((DECISIONS, classes))
        return logits, logits + SIZE * DRIFTS[drift](rng, logits)

    logits, moved = draw()
    tried = Classes()
    tried.update(FORMS[form](logits), FORMS[form](moved), sample=0)
    summary = tried.read()
    assert not summary.extrapolated
    assert summary.expected_flip_share is not None
    flips = sum(int((a.argmax(1) != b.argmax(1)).sum()) for a, b in (draw() for _ in range(DRAWS)))
    expected = summary.expected_flip_share * DECISIONS * DRAWS
    shifts = np.abs(np.diff(moved - logits, axis=1)[:, 0])
    assert abs(flips - expected) <= ERROR * expected + stray(expected, shifts)


@pytest.mark.parametrize("form", FORMS)
def test_the_mean_estimate_is_the_exact_share(form: str) -> None:
    """Two normal variables differ in sign with an angle's share of the circle."""
    rng = np.random.default_rng(6)
    estimates = []
    for _ in range(40):
        logits = 3 * rng.standard_normal((50_000, 2))
        tried = Classes()
        moved = logits + SIZE * rng.standard_normal(logits.shape)
        tried.update(FORMS[form](logits), FORMS[form](moved), sample=0)
        estimates.append(tried.read().expected_flip_share)
    # Each of them strays by some 4 %, their mean by less than 1 %.
    assert np.mean(estimates) == pytest.approx(np.arctan(SIZE / 3) / np.pi, rel=0.05)


@pytest.mark.parametrize("drift", [name for name in DRIFTS if name != "relative"])
def test_flips_of_a_score_and_its_threshold(drift: str) -> None:
    logits, moved, flips = draw_scores(drift)
    tried = Classes()
    tried.update(sigmoid(logits), sigmoid(moved), sample=0)
    share = tried.read().expected_flip_share
    assert share is not None
    expected = share * DECISIONS * DRAWS
    assert abs(flips - expected) <= ERROR * expected + stray(expected, np.abs(moved - logits))


def test_changes_that_vanish_at_the_threshold_are_expected_too_often() -> None:
    """What docs/method.rst says: a logit that changes by a share of itself never reaches 0."""
    logits, moved, flips = draw_scores("relative")
    tried = Classes()
    tried.update(sigmoid(logits), sigmoid(moved), sample=0)
    share = tried.read().expected_flip_share
    assert flips == 0
    assert share is not None
    assert 0 < share < 1e-3


def draw_scores(drift: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Logits, the same after drift, and how many signs change in as many draws more."""
    rng = np.random.default_rng(1)

    def draw() -> Pair:
        logits = 3 * rng.standard_normal((DECISIONS, 1)) - 1
        return logits, logits + SIZE * DRIFTS[drift](rng, logits)

    logits, moved = draw()
    fresh = (draw() for _ in range(DRAWS))
    return logits, moved, sum(int(((a >= 0) != (b >= 0)).sum()) for a, b in fresh)


def test_bound_of_flipped_samples_holds_where_steps_are_of_one_sample() -> None:
    rng = np.random.default_rng(2)
    samples, p = 100, 1 - 0.05 ** (1 / 100) + 1e-9
    # All 50 steps of a sample flip together.
    flipped = rng.random((TRIALS, samples)) < p
    counts = flipped.sum(axis=1)
    reference = np.tile([1.0, 0.0], (50, 1))
    known = {}
    for count in np.unique(counts).tolist():
        classes = Classes()
        for sample in range(samples):
            other = reference[:, ::-1] if sample < count else reference
            classes.update(reference, other, sample=sample)
        known[count] = classes.read().flip_upper_bound
        assert known[count] == find_upper_bound(count, samples)
    hits = sum((known[count] or 0.0) >= p for count in counts.tolist())
    assert hits >= least_hits(0.95)
    # The steps taken for independent would claim far too much.
    careless = [find_upper_bound(50 * count, 50 * samples) >= p for count in counts.tolist()]
    assert sum(careless) < least_hits(0.95)
