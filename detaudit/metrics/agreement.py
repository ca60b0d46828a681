"""Do as many printed values change as the sizes of the differences let expect?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from detaudit.metrics.counts import find_upper_bound

Verdict: TypeAlias = Literal["as expected", "more than expected", "fewer than expected", "open"]

FACTOR = 1.5
"""Ratio of observed to expected that has no consequence: it moves the number of decimals that is
safe by less than a fifth of one."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Verdict on an observed count beside the expected one.

    Attributes:
        verdict: "as expected" where the two agree within the factor, "more than expected" and
            "fewer than expected" where they do not, each at the confidence; "open" where the
            counts are too few to tell
        expected: how many were expected
        lowest: least number that the observed count is compatible with
        highest: largest such number

    """

    verdict: Verdict
    expected: float
    lowest: float
    highest: float


def compare_with_expected(
    changed: int,
    values: int,
    expected_share: float,
    *,
    factor: float = FACTOR,
    confidence: float = 0.999,
) -> Agreement:
    """Hold an observed count of changed values against its expectation.

    Each value changes with a chance of its own, the size of its difference in units of the last
    decimal, if it lies anywhere between two rounding boundaries. The sum of such events strays no
    further from its mean than one of equal chances does [hoeffding1956]_, so the interval of
    [clopper1934]_ holds for it.

    Args:
        changed: how many values changed
        values: how many could have, at least 1
        expected_share: mean of the chances, 0 to 1
        factor: ratio of observed to expected that still counts as agreement, above 1
        confidence: how often a verdict other than "open" is right, where values are independent

    Raises:
        ValueError: if ``changed`` lies outside 0 to ``values``, or ``values`` is below 1

    Examples:
        >>> compare_with_expected(1003, 100_000, 0.01).verdict
        'as expected'
        >>> compare_with_expected(0, 100_000, 0.01).verdict
        'fewer than expected'
        >>> compare_with_expected(3, 1000, 0.001).verdict
        'open'

    """
    one_sided = 1 - (1 - confidence) / 2
    upper = find_upper_bound(changed, values, one_sided)
    lower = 1 - find_upper_bound(values - changed, values, one_sided)
    return Agreement(
        verdict=_judge(changed, expected_share, (lower, upper), factor),
        expected=expected_share * values,
        lowest=lower * values,
        highest=upper * values,
    )


def _judge(changed: int, share: float, interval: tuple[float, float], factor: float) -> Verdict:
    lower, upper = interval
    if changed == share == 0:
        return "as expected"
    if lower > share * factor:
        return "more than expected"
    if upper < share / factor:
        return "fewer than expected"
    within = share / factor <= lower and upper <= share * factor
    return "as expected" if within else "open"
