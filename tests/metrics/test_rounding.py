"""What is printed, and what would be."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from detaudit.metrics.rounding import Rounding, RoundingSummary, round_decimals
from tests.metrics.strategies import FLOATS, pairs


def print_units(value: float, k: int) -> int:
    return int(format(float(value), f".{k}f").replace(".", ""))


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 22))
@example(2.675, 2)
@example(1.005, 2)
@example(0.5, 0)
@example(1.5, 0)
@example(-2.5, 0)
@example(0.125, 2)
@example(-0.375, 2)
@example(5e-324, 22)
def test_doubles_round_as_they_print(value: float, k: int) -> None:
    assume(abs(value) * 10.0**k < 2**53)
    rounded = round_decimals(np.array([value]), k)
    assert int(rounded[0]) == print_units(value, k)
    exact = Decimal(value).scaleb(k).quantize(Decimal(1), ROUND_HALF_EVEN)
    assert int(rounded[0]) == int(exact)


@given(st.integers(-(10**9), 10**9), st.integers(0, 12))
def test_doubles_next_to_ties_round_as_they_print(units: int, k: int) -> None:
    tie = (units + 0.5) / 10**k
    values = np.array([np.nextafter(tie, -np.inf), tie, np.nextafter(tie, np.inf)])
    assert round_decimals(values, k).tolist() == [print_units(value, k) for value in values]


@given(st.integers(-(2**20), 2**20), st.integers(1, 12))
def test_true_ties_go_to_the_even_unit(odd: int, k: int) -> None:
    tie = (2 * odd + 1) / 2 ** (k + 1)
    rounded = round_decimals(np.array([tie]), k)
    assert rounded[0] == print_units(tie, k)
    assert rounded[0] % 2 == 0


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@given(st.data())
def test_shorter_floats_round_as_they_print(dtype: str, data: st.DataObject) -> None:
    width = 16 if dtype == "float16" else 32
    value = data.draw(st.floats(width=width, allow_nan=False, allow_infinity=False))
    k = data.draw(st.integers(0, 12))
    assume(abs(value) * 10.0**k < 2**53)
    assert round_decimals(np.array([value], dtype), k)[0] == print_units(value, k)


def test_single_precision_would_round_otherwise() -> None:
    value = np.array([0.0005], np.float32)
    assert format(float(value[0]), ".3f") == "0.001"
    assert round_decimals(value, 3).tolist() == [1.0]
    assert np.round(value, 3)[0] == 0.0


def test_zero_is_never_negative() -> None:
    rounded = round_decimals(np.array([-0.0, -1e-9, 1e-9]), 2)
    assert not np.signbit(rounded).any()
    assert (rounded == 0).all()


def test_special_values_stay() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1e308])
    rounded = round_decimals(values, 12)
    np.testing.assert_array_equal(rounded[:3], values[:3])


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_shape_is_kept(shape: tuple[int, ...]) -> None:
    assert round_decimals(np.full(shape, 0.5, np.float32), 0).shape == shape


@pytest.mark.parametrize("k", [-1, 23])
def test_decimals_have_a_range(k: int) -> None:
    with pytest.raises(ValueError, match="0 to 22"):
        round_decimals(np.zeros(1), k)


def measure(a: object, b: object, decimals: range | list[int], **kwargs: float) -> list:
    rounding = Rounding(decimals)
    rounding.update(np.asarray(a), np.asarray(b))
    return list(rounding.read(**kwargs))


def test_two_results_of_other_machines_agree_to_six_decimals() -> None:
    rows = measure(np.array([-1.8208287], "f4"), np.array([-1.8208290], "f4"), range(8))
    assert [row.changed for row in rows] == [0, 0, 0, 0, 0, 0, 0, 1]


def test_special_values_print_as_themselves() -> None:
    a = [np.nan, np.inf, 1.0, np.inf, -np.inf, 2.0]
    b = [np.nan, np.inf, np.nan, -np.inf, 0.0, 2.0]
    (row,) = measure(a, b, [2])
    # What is special on both sides, and the same, has no decimals and counts for nothing.
    assert (row.values, row.changed) == (4, 3)
    assert row.expected_share == 0.75


def test_values_without_decimals_left_print_differently_when_they_differ() -> None:
    x = np.array([1e10, 1.6384e15, 3e4])
    assert [row.changed for row in measure(x, np.nextafter(x, np.inf), [12])] == [3]


@given(st.floats(1e3, 1e300), st.integers(0, 22))
def test_neighbours_beyond_the_last_decimal_print_differently(value: float, k: int) -> None:
    other = float(np.nextafter(value, np.inf))
    (row,) = measure([value], [other], [k])
    assert row.changed == (format(value, f".{k}f") != format(other, f".{k}f"))


def test_expected_share_is_the_mean_of_capped_differences() -> None:
    rows = measure([0.0, 1.0], [0.004, 1.5], [0, 2, 3])
    assert [row.expected_share for row in rows] == pytest.approx([0.252, 0.7, 1.0])


def test_nothing_seen_has_an_upper_bound() -> None:
    (row,) = measure(np.zeros(100), np.zeros(100), [3])
    assert row.changed == 0
    assert row.changed_upper_bound == pytest.approx(1 - 0.05**0.01)
    assert row.at_risk_share is None


def test_share_at_risk_lies_next_to_the_boundaries() -> None:
    values = np.array([0.0049, 0.005, 0.0051, 0.0, 0.01, 0.0149])
    (row,) = measure(values, values, [2], max_abs=1.1e-4)
    assert row.at_risk_share == pytest.approx(4 / 6)
    (row,) = measure(values, values, [2], max_abs=0.0)
    assert row.at_risk_share == 0.0
    (row,) = measure(values, values, [2], max_abs=1.0)
    assert row.at_risk_share == 1.0


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("max_abs", [1e-5, 3e-4, 2e-3])
def test_share_at_risk_is_never_too_small_and_hardly_too_large(dtype: str, max_abs: float) -> None:
    x = np.random.default_rng(3).uniform(-2, 2, 5_000).astype(dtype)
    (row,) = measure(x, x, [2], max_abs=max_abs)
    units = x.astype(float) * 100
    distance = (0.5 - np.abs(units - np.rint(units))) / 100
    assert row.at_risk_share is not None
    assert (distance <= max_abs).mean() <= row.at_risk_share
    assert row.at_risk_share <= (distance <= max_abs * 1.125).mean()


@pytest.mark.parametrize("sigma", [1e-6, 1e-5, 1e-4, 5e-4])
def test_expected_share_is_what_uniform_phases_show(sigma: float) -> None:
    rng = np.random.default_rng(4)
    n = 4_000_000 if sigma < 1e-5 else 400_000
    rounding = Rounding([3])
    # A grid of phases instead of random ones keeps the simulation's own error small.
    x = (np.arange(n) + rng.random()) / n * 1e-3
    rounding.update(x, x + sigma * rng.standard_normal(n))
    (row,) = rounding.read()
    assert row.expected_share == pytest.approx(row.changed / n, rel=0.02)


@pytest.mark.parametrize("a", [np.zeros(2, int), np.zeros(2, bool), np.array(["a", "b"])])
def test_only_floats_are_rounded(a: np.ndarray) -> None:
    with pytest.raises(TypeError, match="only floats"):
        Rounding().update(a, a)


def test_shapes_must_match() -> None:
    with pytest.raises(ValueError, match="shape"):
        Rounding().update(np.zeros(2), np.zeros(3))


def test_decimals_must_match_to_merge() -> None:
    with pytest.raises(ValueError, match="cannot join"):
        Rounding([1]).merge(Rounding([2]))


@given(pairs(), st.booleans())
def test_values_at_risk_need_not_be_counted(
    pair: tuple[np.ndarray, np.ndarray], equal: bool
) -> None:
    first, second = pair[0], pair[0] if equal else pair[1]
    full, less = Rounding(), Rounding(at_risk=False)
    for rounding in (full, less):
        rounding.update(first, second, 3)
    assert less.read() == full.read()
    assert less.read(0.0) == full.read(0.0)
    with pytest.raises(ValueError, match="values at risk were not counted"):
        less.read(0.1)
    with pytest.raises(ValueError, match="on one side only"):
        less.merge(full)


def test_no_values() -> None:
    rows = measure(np.zeros(0), np.zeros(0), [1], max_abs=1.0)
    assert rows == [RoundingSummary(1, 0, 0, None, 0.0, 0.0)]


@given(pairs(), st.integers(0, 12))
def test_change_is_what_printing_shows(pair: tuple[np.ndarray, np.ndarray], k: int) -> None:
    def show(value: float) -> str:
        text = format(value, f".{k}f")
        return text.removeprefix("-") if not text.strip("-0.") else text

    (row,) = measure(*pair, [k])
    a, b = (z.astype(float).ravel().tolist() for z in pair)
    assert row.changed == sum(show(x) != show(y) for x, y in zip(a, b, strict=True))


@given(st.lists(pairs(), min_size=1, max_size=5), st.integers(0, 5), st.integers(1, 3))
def test_merged_shards_and_weights_are_one_pass(what: list, cut: int, weight: int) -> None:
    one, first, second = Rounding(), Rounding(), Rounding()
    for i, (a, b) in enumerate(what):
        for _ in range(weight):
            one.update(a, b)
        (first if i < cut else second).update(a, b, weight)
    first.merge(second)
    assert first.read(1e-3) == one.read(1e-3)
