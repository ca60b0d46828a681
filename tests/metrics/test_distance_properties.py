"""What holds for the distances of any pairs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.metrics.distance import Distance, DistanceSummary
from detaudit.metrics.ulp import ulp_distance
from tests.metrics.strategies import FLOATS, INTEGERS, pairs

Pairs = list[tuple[np.ndarray, np.ndarray]]


@st.composite
def shards(draw: st.DrawFn) -> Pairs:
    dtype = draw(st.sampled_from((*FLOATS, *INTEGERS, "bool")))
    return draw(st.lists(pairs((dtype,)), min_size=1, max_size=6))


def run(what: Pairs, weights: list[int] | None = None) -> Distance:
    distance = Distance()
    for i, (a, b) in enumerate(what):
        distance.update(a, b, weights[i] if weights else 1, origin=(a.shape,))
    return distance


def read(distance: Distance) -> dict[str, object]:
    (summary,) = distance.read()
    return {key: repr(value) for key, value in dataclasses.asdict(summary).items()}


@given(shards(), st.integers(0, 6))
def test_merged_shards_are_one_pass(what: Pairs, cut: int) -> None:
    merged = run(what[:cut])
    merged.merge(run(what[cut:]))
    assert read(merged) == read(run(what))


@given(shards(), st.integers(0, 6))
def test_order_of_shards_matters_to_ties_of_the_worst_only(what: Pairs, cut: int) -> None:
    merged = run(what[cut:])
    merged.merge(run(what[:cut]))
    one, other = read(merged), read(run(what))
    del one["worst"], other["worst"]
    assert one == other


@given(shards(), st.data())
def test_weight_is_repetition(what: Pairs, data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(what), max_size=len(what)))
    repeated = [pair for pair, weight in zip(what, weights, strict=True) for _ in range(weight)]
    assert read(run(what, weights)) == read(run(repeated))


@given(pairs((*FLOATS, *INTEGERS, "bool")))
def test_labels_sum_up_to_the_whole(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = (z.reshape(z.shape or (1,)) for z in pair)
    labelled = Distance(label_axis=-1)
    labelled.update(a, b)
    whole, *labels = labelled.read()
    plain = Distance()
    plain.update(a, b)
    (expected,) = plain.read()
    assert len(labels) == a.shape[-1]
    for name in ("elements", "changed", "max_abs", "max_ulp", "identical", "p90"):
        assert getattr(whole, name) == getattr(expected, name)
    if expected.mean_abs is not None:
        assert whole.mean_abs == pytest.approx(expected.mean_abs, rel=1e-14)


def measure(a: np.ndarray, b: np.ndarray) -> DistanceSummary:
    distance = Distance()
    distance.update(a, b)
    return distance.read()[0]


@given(pairs())
def test_floats_against_plain_arithmetic(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pair
    summary = measure(a, b)
    finite = np.isfinite(a) & np.isfinite(b)
    x, y = a[finite].astype(np.longdouble), b[finite].astype(np.longdouble)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    assert summary.finite == finite.sum()
    assert summary.changed == (~same).sum()
    assert summary.identical == (a.tobytes() == b.tobytes())
    assert summary.nan_pattern_changed == bool((~same & ~finite).any())
    if finite.any():
        largest = min(np.abs(y - x).max(), np.finfo(np.float64).max)
        assert summary.max_abs == pytest.approx(float(largest), rel=1e-15)
        assert summary.max_ulp == ulp_distance(a[finite], b[finite]).max()


@given(pairs(INTEGERS))
def test_integers_against_python(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pair
    gaps = [abs(y - x) for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)]
    summary = measure(a, b)
    assert summary.max_abs == max(gaps, default=0)
    assert summary.changed == sum(map(bool, gaps))
    if gaps:
        assert summary.mean_abs == pytest.approx(sum(gaps) / len(gaps), rel=1e-14)


@given(pairs())
def test_distance_is_symmetric(pair: tuple[np.ndarray, np.ndarray]) -> None:
    one, other = measure(*pair), measure(*pair[::-1])
    for name in ("max_abs", "mean_abs", "p50", "p99", "changed", "max_ulp", "nan_pattern_changed"):
        assert getattr(one, name) == getattr(other, name)
    if one.mean_signed is not None:
        assert other.mean_signed == -one.mean_signed
