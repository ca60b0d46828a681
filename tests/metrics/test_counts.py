"""What counts support."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from detaudit.metrics.counts import (
    clopper_pearson,
    find_upper_bound,
    instability_upper_bound,
    modal_share,
    runs_needed,
    zero_of_n_upper_bound,
)


@pytest.mark.parametrize(("units", "bound"), [(2, 0.95), (5, 0.527), (20, 0.146), (60, 0.0495)])
def test_equal_units_exclude_less_than_one_thinks(units: int, bound: float) -> None:
    assert instability_upper_bound(units) == pytest.approx(bound, abs=5e-4)


@pytest.mark.parametrize("units", [0, 1])
def test_one_unit_excludes_nothing(units: int) -> None:
    assert instability_upper_bound(units) is None


@pytest.mark.parametrize(("p", "runs"), [(0.05, 60), (0.01, 300), (0.5, 6)])
def test_runs_that_exclude_a_probability(p: float, runs: int) -> None:
    assert runs_needed(p) == runs
    enough, short = instability_upper_bound(runs), instability_upper_bound(runs - 1)
    assert enough is not None
    assert short is not None
    assert enough <= p < short


def test_rule_of_three() -> None:
    assert zero_of_n_upper_bound(1000) == pytest.approx(3 / 1000, rel=5e-3)


@pytest.mark.parametrize(("x", "n"), [(0, 1), (1, 1), (0, 20), (3, 20), (19, 20), (20, 20)])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_interval_is_scipys(x: int, n: int, alpha: float) -> None:
    expected = stats.binomtest(x, n).proportion_ci(1 - alpha, "exact")
    assert clopper_pearson(x, n, alpha) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.93])
@pytest.mark.parametrize("n", [5, 40])
def test_bounds_hold_as_often_as_they_claim(p: float, n: int) -> None:
    counts = np.arange(n + 1)
    weights = stats.binom.pmf(counts, n, p)
    inside = [lower <= p <= upper for lower, upper in (clopper_pearson(x, n) for x in counts)]
    below = [p <= find_upper_bound(x, n) for x in counts]
    assert weights[inside].sum() >= 0.95 - 1e-12
    assert weights[below].sum() >= 0.95 - 1e-12


@given(st.integers(1, 500), st.data())
def test_upper_bound_grows_with_the_count(n: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, n - 1))
    assert x / n < find_upper_bound(x, n) < find_upper_bound(x + 1, n) <= 1


def test_never_seen_is_the_closed_form() -> None:
    assert find_upper_bound(0, 7) == pytest.approx(1 - 0.05 ** (1 / 7), rel=1e-12)


@pytest.mark.parametrize(("x", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_what_is_no_count_is_refused(x: int, n: int) -> None:
    for function in (clopper_pearson, find_upper_bound, modal_share):
        with pytest.raises(ValueError, match="is no count"):
            function(x, n)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.5])
def test_certainties_need_no_runs(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        runs_needed(p)


def test_modal_share_lies_within_its_interval() -> None:
    share, lower, upper = modal_share(11, 20)
    assert share == 0.55
    assert lower == pytest.approx(0.2663, abs=1e-4)
    assert upper == pytest.approx(0.7694, abs=1e-4)
