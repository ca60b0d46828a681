"""The binomial distribution, solved for its probability.

SciPy has it too, but takes longer to load than most records take to judge.
"""

from __future__ import annotations

import math

import numpy as np

_CLOSE = 1e-8
"""Relative step after which the next one, squared, would no longer show."""
_MOST = 100
"""Steps; ten are many."""
_EXACT = 1000
"""Counts up to which ways to choose are counted exactly: logarithms of factorials lose digits."""
_BLOCK = 512
"""Terms that are summed at once."""


def find_probability(x: int, n: int, tail: float) -> float:
    """Probability with which at most ``x`` of ``n`` happen in a share ``tail`` of all cases.

    Newton's method on the logarithm of the distribution function, which is concave in the
    probability: from its left it steps past the solution once, then comes down to it.

    Args:
        x: how often it happened, at least 0 and below ``n``
        n: how often it could have happened
        tail: share of cases, between 0 and 1

    Returns:
        probability, between 0 and 1

    Examples:
        >>> round(find_probability(1, 100, 0.05), 4)
        0.0466

    """
    ways = _count_ways(x, n)
    p = (x + 1) / (n + 1)
    for _ in range(_MOST):
        exactly = ways + x * math.log(p) + (n - x) * math.log1p(-p)
        fewer = _sum_relative(x, n, p)
        excess = exactly + math.log(fewer) - math.log(tail)
        step = excess * (1 - p) * fewer / (n - x)
        # A step out of the interval goes half of the way to its end.
        p = min(p + step, (p + 1) / 2)
        if abs(step) <= _CLOSE * min(p, 1 - p):
            break
    return p


def _count_ways(x: int, n: int) -> float:
    """Logarithm of the number of ways to choose ``x`` of ``n``."""
    if min(x, n - x) <= _EXACT:
        return math.log(math.comb(n, x))
    return math.lgamma(n + 1) - math.lgamma(x + 1) - math.lgamma(n - x + 1)


def _sum_relative(x: int, n: int, p: float) -> float:
    """Chance of at most ``x`` over that of exactly ``x``, for ``p`` at or above the mean."""
    total = last = 1.0
    while x > 0 and last > total * 1e-17:
        counts = np.arange(x, max(x - _BLOCK, 0), -1)
        terms = last * np.cumprod(counts * (1 - p) / ((n - counts + 1) * p))
        total += float(terms.sum())
        last = float(terms[-1])
        x -= _BLOCK
    return total
