"""Observed beside expected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.metrics.agreement import compare_with_expected
from detaudit.metrics.counts import clopper_pearson


@pytest.mark.parametrize(
    ("changed", "values", "share", "verdict"),
    [
        (0, 1000, 0.0, "as expected"),
        (1, 1000, 0.0, "more than expected"),
        (1000, 1000, 1.0, "as expected"),
        (0, 10, 1.0, "fewer than expected"),
        (1000, 100_000, 0.01, "as expected"),
        (1400, 100_000, 0.01, "open"),
        (2000, 100_000, 0.01, "more than expected"),
        (500, 100_000, 0.01, "fewer than expected"),
        # Three times as many as expected, yet of a single one nothing can be told.
        (3, 100_000, 1e-5, "open"),
        (1, 1, 0.5, "open"),
        (0, 100, 0.02, "open"),
    ],
)
def test_verdicts(changed: int, values: int, share: float, verdict: str) -> None:
    assert compare_with_expected(changed, values, share).verdict == verdict


def test_figures_are_counts() -> None:
    agreement = compare_with_expected(100, 10_000, 0.01)
    assert agreement.expected == 100
    assert agreement.lowest == pytest.approx(70, abs=2)
    assert agreement.highest == pytest.approx(137, abs=2)


@pytest.mark.parametrize("values", [1, 20, 5_000, 10_000_000])
@pytest.mark.parametrize("share", [0.0, 1e-6, 0.003, 0.5, 0.999, 1.0])
def test_interval_is_that_of_clopper_and_pearson(values: int, share: float) -> None:
    changed = round(values * share)
    agreement = compare_with_expected(changed, values, 0.5)
    expected = clopper_pearson(changed, values, 0.001)
    found = agreement.lowest / values, agreement.highest / values
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-15)


def test_what_is_no_count() -> None:
    with pytest.raises(ValueError, match="is no count"):
        compare_with_expected(2, 1, 0.5)


@given(st.integers(1, 10**6), st.data(), st.floats(1e-9, 1))
def test_an_observation_at_its_expectation_is_never_against_it(
    values: int, data: st.DataObject, share: float
) -> None:
    changed = data.draw(st.integers(0, values))
    agreement = compare_with_expected(changed, values, share)
    if agreement.verdict == "more than expected":
        assert changed > agreement.expected
    if agreement.verdict == "fewer than expected":
        assert changed < agreement.expected
    exact = compare_with_expected(changed, values, changed / values)
    assert exact.verdict in ("as expected", "open")
