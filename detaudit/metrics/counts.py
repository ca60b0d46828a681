"""How much a count of observations supports.

All bounds hold for independent units drawn from the conditions that were sampled, and only for
those.
"""

from __future__ import annotations

import math


def clopper_pearson(x: int, n: int, alpha: float = 0.05) -> tuple[float, float]:
    """Two-sided interval of a probability from counts [clopper1934]_.

    Args:
        x: how often it happened
        n: how often it could have happened, at least 1
        alpha: how often the interval may miss the probability, between 0 and 1

    Returns:
        lower and upper end, 0 to 1

    Raises:
        ValueError: if ``x`` lies outside 0 to ``n``, or ``n`` is below 1

    Examples:
        >>> lower, upper = clopper_pearson(0, 20)
        >>> lower, round(upper, 4)
        (0.0, 0.1684)

    """
    from scipy.special import betaincinv

    _check_counts(x, n)
    lower = 0.0 if x == 0 else float(betaincinv(x, n - x + 1, alpha / 2))
    upper = 1.0 if x == n else float(betaincinv(x + 1, n - x, 1 - alpha / 2))
    return lower, upper


def find_upper_bound(x: int, n: int, confidence: float = 0.95) -> float:
    """One-sided upper bound of a probability from counts [clopper1934]_.

    Args:
        x: how often it happened
        n: how often it could have happened, at least 1
        confidence: how often the bound holds, between 0 and 1

    Returns:
        bound, 0 to 1; ``1 - (1 - confidence) ** (1 / n)`` when it never happened

    Raises:
        ValueError: if ``x`` lies outside 0 to ``n``, or ``n`` is below 1

    Examples:
        >>> round(find_upper_bound(1, 100), 4)
        0.0466

    """
    _check_counts(x, n)
    if x == n:
        return 1.0
    if x == 0:
        return -math.expm1(math.log1p(-confidence) / n)
    from scipy.special import betaincinv

    return float(betaincinv(x + 1, n - x, confidence))


def zero_of_n_upper_bound(n: int, confidence: float = 0.95) -> float:
    """Upper bound of a probability when none of ``n`` units showed it.

    Args:
        n: units, at least 1
        confidence: how often the bound holds, between 0 and 1

    Examples:
        >>> round(zero_of_n_upper_bound(300), 4)
        0.0099

    """
    return find_upper_bound(0, n, confidence)


def instability_upper_bound(units: int, confidence: float = 0.95) -> float | None:
    """Upper bound of the chance that a unit differs, when all of ``units`` gave the same.

    All are equal with probability ``(1 - p) ** (units - 1)``, because the first one is what the
    others are compared with.

    Args:
        units: independent units, for instance processes
        confidence: how often the bound holds, between 0 and 1

    Returns:
        bound, 0 to 1; None below two units, which support nothing

    Examples:
        >>> round(instability_upper_bound(20), 3)
        0.146

    """
    return None if units < 2 else zero_of_n_upper_bound(units - 1, confidence)


def runs_needed(p: float, confidence: float = 0.95) -> int:
    """How many equal units exclude that a unit differs with probability ``p`` or more.

    Args:
        p: probability to exclude, above 0 and below 1
        confidence: how often the conclusion holds, between 0 and 1

    Raises:
        ValueError: if ``p`` is not between 0 and 1

    Examples:
        >>> runs_needed(0.05)
        60

    """
    if not 0 < p < 1:
        raise ValueError(f"p must lie between 0 and 1, not be {p}")
    return 1 + math.ceil(math.log1p(-confidence) / math.log1p(-p))


def modal_share(x: int, n: int, confidence: float = 0.95) -> tuple[float, float, float]:
    """Share of the most frequent outcome, with its interval.

    Which outcome is the most frequent one is known only afterwards, so the lower end counts in the
    chance that another, rarer outcome took its place: of all ``n`` equal, the first one supports
    nothing, and the end is ``(alpha / 2) ** (1 / (n - 1))``. The upper end is that of
    [clopper1934]_.

    Args:
        x: how often the most frequent outcome was seen
        n: how many outcomes were seen, at least 1
        confidence: how often the interval holds, between 0 and 1

    Returns:
        share, lower end, upper end

    Raises:
        ValueError: if ``x`` lies outside 0 to ``n``, or ``n`` is below 1

    Examples:
        >>> share, lower, upper = modal_share(19, 20)
        >>> share, round(lower, 3), round(upper, 3)
        (0.95, 0.738, 0.999)

    """
    alpha = 1 - confidence
    _, upper = clopper_pearson(x, n, alpha)
    return x / n, _bound_modal_share(x, n, alpha / 2), upper


def _bound_modal_share(x: int, n: int, alpha: float) -> float:
    """Largest p for which no outcome of probability p or less reaches ``x`` of ``n``.

    There are at most 1 / p outcomes of probability p. Rarer ones are more, but each of them is so
    much less likely to come ``x`` times that p itself is the worst case.
    """
    from scipy.special import betainc

    if x < 2:
        return 0.0
    low, high = 0.0, x / n
    while low < (middle := (low + high) / 2) < high:
        if betainc(x, n - x + 1, middle) > alpha * middle:
            high = middle
        else:
            low = middle
    return low


def _check_counts(x: int, n: int) -> None:
    if n < 1 or not 0 <= x <= n:
        raise ValueError(f"{x} of {n} is no count")
