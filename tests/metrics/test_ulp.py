"""Steps between representable numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from detaudit.metrics.ulp import NOT_COMPARABLE, Grid, find_max_ulp, order, ulp_distance
from tests.metrics.strategies import FLOATS


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("start", [0.0, 1.0, -1.0, 5.9e-8, -2.0])
def test_each_nextafter_is_one_step(dtype: Grid, start: float) -> None:
    values = [np.dtype(dtype).type(start)]
    for _ in range(40):
        values.append(np.nextafter(values[-1], np.dtype(dtype).type(np.inf)))
    chain = np.array(values)
    assert np.diff(order(chain)).tolist() == [1] * 40
    assert ulp_distance(chain[:1].repeat(41), chain).tolist() == list(range(41))


@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_of_both_signs_are_one_number(dtype: str) -> None:
    assert ulp_distance(np.array([0.0], dtype), np.array([-0.0], dtype)).tolist() == [0]


def test_all_of_float16_is_in_order() -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    values = bits.view(np.float16)
    values = values[~np.isnan(values)]
    by_value = np.argsort(values.astype(float), kind="stable")
    steps = np.diff(order(values)[by_value].astype(int))
    assert sorted(set(steps.tolist())) == [0, 1]
    assert np.count_nonzero(steps == 0) == 1


def test_the_whole_of_float64_does_not_overflow() -> None:
    largest = np.finfo(np.float64).max
    top = int(np.float64(largest).view(np.int64))
    a, b = np.array([-largest]), np.array([largest])
    assert ulp_distance(a, b).tolist() == [2 * top]
    assert 2 * top > np.iinfo(np.int64).max
    assert find_max_ulp(a, b, "float64") == 2 * top


def test_nan_is_no_number_of_steps_away() -> None:
    a = np.array([np.nan, np.nan, 1.0], np.float32)
    b = np.array([np.nan, 1.0, np.nan], np.float32)
    assert ulp_distance(a, b).tolist() == [0, NOT_COMPARABLE, NOT_COMPARABLE]


def test_infinity_is_one_step_outside() -> None:
    a, b = np.array([65504.0], np.float16), np.array([np.inf], np.float16)
    assert ulp_distance(a, b).tolist() == [1]


def test_double_against_single_counts_in_singles() -> None:
    double = np.array([1.0 + 2.0**-40, 1.0 + 2.0**-23])
    single = np.array([1.0, 1.0], np.float32)
    assert ulp_distance(double, single).tolist() == [0, 1]
    assert ulp_distance(single, double).tolist() == [0, 1]


def test_bfloat16_has_its_own_grid() -> None:
    a = np.array([1.0, 1.0, -1.0, 0.0], np.float32)
    b = np.array([1.0078125, 1.015625, -1.0078125, -0.0], np.float32)
    assert ulp_distance(a, b, "bfloat16").tolist() == [1, 2, 1, 0]


def test_between_two_bfloat16_the_nearest_counts_and_halfway_the_even_one() -> None:
    step = 2.0**-7
    values = np.array(
        [1 + 0.49 * step, 1 + 0.5 * step, 1 + 1.5 * step, 1 + 0.51 * step], np.float32
    )
    assert ulp_distance(np.ones(4, np.float32), values, "bfloat16").tolist() == [0, 0, 2, 1]
    assert ulp_distance(-np.ones(4, np.float32), -values, "bfloat16").tolist() == [0, 0, 2, 1]


def test_two_printed_results_of_another_machine() -> None:
    a, b = np.array([-1.8208287], np.float32), np.array([-1.8208290], np.float32)
    assert ulp_distance(a, b).tolist() == [3]
    assert ulp_distance(np.nextafter(a, np.float32(-2)), b).tolist() == [2]


def test_small_values_are_many_steps_apart() -> None:
    a = np.array([1e-3], np.float32)
    assert ulp_distance(a, a + np.float32(1.2e-4)).item() > 1_000_000


def test_scalars_keep_their_shape() -> None:
    assert ulp_distance(np.array(1.0), np.array(1.0)).shape == ()


@given(
    st.sampled_from(FLOATS),
    st.lists(st.tuples(st.floats(width=16), st.floats(width=16)), min_size=1, max_size=20),
)
def test_largest_distance_is_the_largest_of_all(dtype: Grid, values: list) -> None:
    a, b = np.array(values, dtype).T
    assume(np.isfinite(a).all() and np.isfinite(b).all())
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    assert find_max_ulp(a, b, dtype) == ulp_distance(a, b).max()
    assert (ulp_distance(a, b) == ulp_distance(b, a)).all()
