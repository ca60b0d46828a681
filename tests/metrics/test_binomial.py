from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv

from detaudit.metrics.binomial import find_probability

TAILS = (0.5, 0.1, 0.05, 0.025, 1e-4)


# SciPy 1.11 loses digits of its own from ten million on; newer ones do not.
LARGEST = pytest.param(10**7, marks=pytest.mark.modern)


@pytest.mark.parametrize("tail", [*TAILS, 0.99])
@pytest.mark.parametrize("n", [1, 2, 5, 20, 100, 12345, 10**6, LARGEST])
def test_it_is_scipys(n: int, tail: float) -> None:
    for x in {0, 1, 2, n // 100, n // 7, n // 2, n - n // 7, n - 2, n - 1}:
        if 0 <= x < n:
            expected = float(betaincinv(x + 1, n - x, 1 - tail))
            assert find_probability(x, n, tail) == pytest.approx(expected, rel=1e-8)


@given(st.integers(1, 3000), st.data(), st.floats(1e-4, 0.99))
def test_any(n: int, data: st.DataObject, tail: float) -> None:
    x = data.draw(st.integers(0, n - 1))
    expected = float(betaincinv(x + 1, n - x, 1 - tail))
    assert find_probability(x, n, tail) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("n", [1, 7, 40000, 10**6])
def test_closed_forms(n: int, tail: float) -> None:
    assert find_probability(0, n, tail) == pytest.approx(1 - tail ** (1 / n), rel=1e-9)
    assert find_probability(n - 1, n, tail) == pytest.approx((1 - tail) ** (1 / n), rel=1e-12)


@pytest.mark.parametrize(("x", "n"), [(1, 10**9), (10**9 - 1, 10**9), (5 * 10**8, 10**9)])
def test_it_ends_where_logarithms_lose_digits(x: int, n: int) -> None:
    expected = float(betaincinv(x + 1, n - x, 0.95))
    assert find_probability(x, n, 0.05) == pytest.approx(expected, rel=1e-7)


def test_bounds_do_without_scipy() -> None:
    code = (
        "import sys; sys.modules['scipy'] = None;"
        "from detaudit.metrics.counts import find_upper_bound; print(find_upper_bound(1, 100))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(0.0466, abs=1e-4)
