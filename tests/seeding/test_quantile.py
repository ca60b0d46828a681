from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from detaudit.seeding import quantile
from detaudit.seeding.quantile import compute_normal


def words(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


@given(st.integers(0, 2**64 - 1))
def test_the_value_has_the_tail_probability_of_its_bits(word: int) -> None:
    value = compute_normal(words(word))[0]
    expected = ((word >> 12) + 0.5) / 2**53
    assert math.isclose(0.5 * math.erfc(abs(value) / math.sqrt(2)), expected, rel_tol=2e-13)
    assert math.copysign(1, value) == (-1 if word & 1 else 1)


@given(st.integers(0, 52), st.integers(0, 2**12 - 1))
def test_tails_are_as_exact_as_the_middle(power: int, low: int) -> None:
    word = (1 << power) << 12 | low
    value = abs(compute_normal(words(word % 2**64))[0])
    expected = ((word % 2**64 >> 12) + 0.5) / 2**53
    assert math.isclose(0.5 * math.erfc(value / math.sqrt(2)), expected, rel_tol=2e-13)


def test_the_extremes() -> None:
    smallest, largest = compute_normal(words(2**64 - 2, 0))
    assert 0 < smallest < 2e-16
    assert 8.2 < largest < 8.3
    assert (compute_normal(words(2**64 - 1, 1)) == [-smallest, -largest]).all()


@given(st.lists(st.integers(0, 2**64 - 2).map(lambda word: word & ~1), min_size=2, max_size=50))
def test_larger_words_give_no_larger_values(values: list[int]) -> None:
    drawn = compute_normal(words(*sorted(values)))
    assert (np.diff(drawn) <= 1e-15 * drawn[:-1]).all()


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50))
def test_a_value_does_not_depend_on_its_neighbours(values: list[int]) -> None:
    together = compute_normal(words(*values))
    alone = [compute_normal(words(value))[0] for value in values]
    assert together.tolist() == alone


@given(st.floats(2.0**-53, 1.0, exclude_max=True))
def test_log(x: float) -> None:
    assert math.isclose(quantile._log(np.array([x]))[0], math.log(x), rel_tol=4e-16, abs_tol=1e-16)


def compute_one(word: int) -> float:
    """The same steps with Python's own arithmetic, one value at a time."""

    def evaluate(coefficients: tuple[float, ...], x: float) -> float:
        value = x * coefficients[-1]
        for coefficient in coefficients[-2:0:-1]:
            value = (value + coefficient) * x
        return value + coefficients[0]

    tail = ((word >> 12) + 0.5) * 2.0**-53
    distance = 0.5 - tail
    if distance <= 0.425:
        ratio, x, factor = quantile.CENTRAL, 0.180625 - distance * distance, distance
    else:
        mantissa, exponent = math.frexp(tail)
        if mantissa < quantile.SQRT_HALF:
            mantissa, exponent = mantissa * 2, exponent - 1
        s = (mantissa - 1) / (mantissa + 1)
        root = math.sqrt(-(exponent * quantile.LOG_2 + s * evaluate(quantile.ATANH, s * s)))
        far = root > 5
        ratio, x, factor = (
            (quantile.FAR_TAIL, root - 5, 1.0) if far else (quantile.NEAR_TAIL, root - 1.6, 1.0)
        )
    value = evaluate(ratio[0], x) / evaluate(ratio[1], x) * factor
    return -value if word & 1 else value


@given(st.integers(0, 2**64 - 1), st.integers(0, 60))
def test_vectors_and_single_values_have_the_same_bits(word: int, shift: int) -> None:
    word >>= shift
    many = compute_normal(np.full(33, word, dtype=np.uint64))
    assert many.tolist() == [compute_one(word)] * 33
