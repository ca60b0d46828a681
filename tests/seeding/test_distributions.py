from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from detaudit.seeding import stream, streams


@pytest.fixture(scope="module")
def million() -> np.ndarray:
    return stream(1, "normal").normal(10**6, "float64")


def test_normal_follows_the_normal_distribution(million: np.ndarray) -> None:
    ordered = np.sort(million)
    exact = np.fromiter((0.5 * math.erfc(-x / math.sqrt(2)) for x in ordered), float)
    ranks = np.arange(10**6 + 1) / 10**6
    distance = max((ranks[1:] - exact).max(), (exact - ranks[:-1]).max())
    assert distance * math.sqrt(10**6) < 1.95  # Kolmogorov and Smirnov, p = 0.001


def test_normal_has_the_moments_of_the_normal_distribution(million: np.ndarray) -> None:
    for power, (mean, variance) in {
        1: (0, 1),
        2: (1, 2),
        3: (0, 15),
        4: (3, 96),
        5: (0, 945),
        6: (15, 10170),
    }.items():
        deviation = (np.mean(million**power) - mean) / math.sqrt(variance / 10**6)
        assert abs(deviation) < 3.3, power


def test_normal_reaches_the_tails_as_often_as_it_should() -> None:
    values = stream(1, "tails").normal(4 * 10**6)
    for limit in (2, 3, 4, 4.5, 5):
        for sign in (1, -1):
            expected = 4 * 10**6 * 0.5 * math.erfc(limit / math.sqrt(2))
            found = np.count_nonzero(sign * values > limit)
            assert abs(found - expected) < 3.3 * math.sqrt(expected) + 1, (limit, sign)


def test_no_two_streams_and_no_lags_are_correlated(million: np.ndarray) -> None:
    length = 50000
    names = [f"inputs/{sample}/{name}" for sample in range(4) for name in ("a", "b", "aa")]
    rows = np.stack([stream(1, name).normal(length, "float64") for name in names])
    rows = np.concatenate([rows, stream(2, names[0]).normal((1, length), "float64")])
    correlation = np.corrcoef(rows)[np.triu_indices(len(rows), 1)] * math.sqrt(length)
    assert abs(correlation).max() < 4.3
    for lag in (1, 2, 3, 4, 64, streams.BLOCK):
        product = million[lag:] * million[:-lag]
        assert abs(product.mean()) * math.sqrt(product.size) < 3.5, lag


def test_uniform_is_uniform() -> None:
    values = np.sort(stream(1, "a").uniform(-2, 6, 10**5, "float64"))
    exact = (values + 2) / 8
    ranks = np.arange(10**5 + 1) / 10**5
    distance = max((ranks[1:] - exact).max(), (exact - ranks[:-1]).max())
    assert distance * math.sqrt(10**5) < 1.95


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-3, 2), (0, 9), (0, 16), (100, 132)])
def test_integers_are_equally_likely(low: int, high: int) -> None:
    count, kinds = 10**5, high - low + 1
    found = Counter(stream(1, "a").integers(low, high, count).tolist())
    assert sorted(found) == list(range(low, high + 1))
    expected = count / kinds
    square = sum((value - expected) ** 2 / expected for value in found.values())
    assert square < kinds - 1 + 3.7 * math.sqrt(2 * (kinds - 1))


def test_a_range_just_above_a_power_of_two_is_not_biased() -> None:
    values = stream(1, "a").integers(0, 2**63, 40000, "uint64")
    below = np.count_nonzero(values < 2**62)
    assert abs(below - 20000) < 3.3 * 100
    assert values.max() <= 2**63


def test_booleans_are_equally_likely() -> None:
    values = stream(1, "a").booleans((100, 1000))
    assert values.dtype == bool
    assert abs(np.count_nonzero(values) - 50000) < 3.3 * math.sqrt(25000)
