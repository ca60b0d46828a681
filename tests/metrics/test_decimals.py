"""How many decimals may be published."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.metrics.decimals import agree_decimals, count_existing_decimals, safe_decimals


def test_two_answers_to_one_question() -> None:
    assert agree_decimals(1e-6) == 5
    assert safe_decimals(1e-6, 0.01) == 4
    assert safe_decimals(1e-6, 0.001) == 3


@pytest.mark.parametrize("k", range(-3, 16))
def test_round_numbers_do_not_end_one_short(k: int) -> None:
    assert agree_decimals(0.5 * 10.0**-k) == k
    for share in (0.01, 0.001):
        assert safe_decimals(share * 10.0**-k, share) == k


def test_no_difference_sets_no_limit() -> None:
    assert agree_decimals(0.0, "float32", 1.0) is None
    assert safe_decimals(0.0, 0.01, "float32", 1.0) is None


@pytest.mark.parametrize(
    ("dtype", "value", "decimals"),
    [
        ("float32", 640.0, 4),
        ("float32", 1.0, 6),
        ("float16", 1.0, 3),
        ("bfloat16", 1.0, 2),
        ("float64", 1.0, 15),
        ("float32", 1e9, -2),
        ("float32", -640.0, 4),
        ("int64", 7.0, 0),
    ],
)
def test_precision_ends_somewhere(dtype: str, value: float, decimals: int) -> None:
    assert count_existing_decimals(dtype, value) == decimals
    assert agree_decimals(1e-30, dtype, value) == decimals
    assert safe_decimals(1e-30, 0.01, dtype, value) == decimals


@pytest.mark.parametrize("value", [0.0, np.inf, np.nan, 1e39])
def test_no_magnitude_sets_no_end(value: float) -> None:
    assert count_existing_decimals("float32", value) is None
    assert agree_decimals(1e-3, "float32", value) == 2


def test_large_differences_leave_not_even_whole_numbers() -> None:
    assert agree_decimals(30.0) == -2
    assert safe_decimals(5.0, 0.01) == -3


@given(st.floats(1e-300, 1e300))
def test_results_agree_within_half_a_unit(max_abs: float) -> None:
    k = agree_decimals(max_abs)
    assert k is not None
    assert max_abs <= 0.5 * 10.0**-k * (1 + 1e-8)
    assert max_abs > 0.5 * 10.0 ** -(k + 1) * (1 - 1e-8)
