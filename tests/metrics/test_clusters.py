"""Shares that are counted in clusters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.metrics.clusters import Clusters, ClustersSummary, bound_mean
from detaudit.metrics.counts import clopper_pearson


def count(*changed: int, items: int = 100, confidence: float = 0.95) -> ClustersSummary:
    clusters = Clusters()
    for number, value in enumerate(changed):
        clusters.update(number, value, items)
    return clusters.read(confidence)


def test_clusters_without_a_change_say_what_as_many_items_would() -> None:
    summary = count(0, 0, 0, 0)
    assert (summary.share, summary.effective, summary.interval) == (0.0, None, None)
    assert summary.certain == pytest.approx(clopper_pearson(0, 4))


def test_clusters_that_changed_throughout() -> None:
    assert count(100, 100, 100).certain == pytest.approx(clopper_pearson(3, 3))


def test_all_or_nothing_counts_as_the_clusters_alone() -> None:
    summary = count(*[0] * 30, *[100] * 10)
    # The variance of 40 items, with one degree of freedom fewer.
    assert summary.effective == pytest.approx(39)
    assert summary.interval is not None
    lower, upper = clopper_pearson(10, 40)
    assert summary.interval == pytest.approx((lower, upper), abs=0.01)


def test_equal_clusters_leave_no_more_doubt_than_their_items() -> None:
    summary = count(*[5] * 400)
    assert summary.effective == summary.items == 40_000
    assert summary.interval == pytest.approx(clopper_pearson(2000, 40_000), abs=2e-5)


def test_few_clusters_are_a_thin_basis() -> None:
    few, many = count(4, 6), count(*[4, 6] * 50)
    assert few.interval is not None
    assert many.interval is not None
    assert few.interval[1] > 2 * many.interval[1]
    assert few.certain[1] > 2 * many.certain[1]


def test_one_cluster_leaves_the_interval_open() -> None:
    summary = count(3)
    assert (summary.clusters, summary.interval) == (1, None)
    assert summary.certain == pytest.approx((0.0, 0.981), abs=1e-3)


def test_a_cluster_may_come_again() -> None:
    clusters = Clusters()
    for changed in (1, 2):
        clusters.update("a", changed, 10)
    clusters.update("b", 0, 20)
    summary = clusters.read()
    assert (summary.clusters, summary.changed, summary.items) == (2, 3, 40)


def test_nothing_seen_and_no_counts() -> None:
    with pytest.raises(ValueError, match="no cluster was seen"):
        Clusters().read()
    for changed, items in ((1, 0), (-1, 2), (3, 2)):
        with pytest.raises(ValueError, match="is no count"):
            Clusters().update("a", changed, items)


@given(st.floats(0, 1), st.integers(1, 1000), st.sampled_from([0.9, 0.95, 0.999]))
def test_bounds_enclose_the_mean_and_mirror(mean: float, n: int, confidence: float) -> None:
    lower, upper = bound_mean(mean, n, confidence)
    assert 0 <= lower <= mean <= upper <= 1
    mirrored = bound_mean(1 - mean, n, confidence)
    assert mirrored == pytest.approx((1 - upper, 1 - lower), abs=1e-9)


@given(st.integers(0, 50), st.integers(1, 50))
def test_what_holds_for_any_law_is_wider_than_for_yes_or_no(x: int, n: int) -> None:
    x = min(x, n)
    lower, upper = bound_mean(x / n, n)
    exact = clopper_pearson(x, n)
    assert lower <= exact[0] + 1e-9
    assert upper >= exact[1] - 1e-9


parts = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    ),
    min_size=1,
    max_size=8,
)


@given(parts, parts)
def test_merged_shards_are_one_pass(first: list, second: list) -> None:
    one, two, both = Clusters(), Clusters(), Clusters()
    for part, clusters in ((first, one), (second, two)):
        for name, (changed, items) in part:
            clusters.update(name, changed, items)
            both.update(name, changed, items)
    one.merge(two)
    assert one.read() == both.read()
