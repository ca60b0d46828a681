"""Intervals of a share that is counted in clusters, such as sessions.

What shares a session is not independent: the session chose its kernels once for all of it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from detaudit.metrics.blocks import Array


@dataclass(frozen=True, slots=True)
class ClustersSummary:
    """A share over clusters, with two intervals.

    Attributes:
        clusters: clusters seen
        items: items in all of them
        changed: items that changed
        share: share of items that changed
        effective: independent items that would leave as much doubt, at most ``items``; None where
            a single cluster, or no or every change, leaves it open
        interval: ends that hold about as often as said, if the clusters seen show how much
            clusters vary [korn1998]_; a few of them may not. None where ``effective`` is
        certain: ends for the mean share of a cluster that hold at least as often as said, whatever
            the law of the clusters [hoeffding1963]_

    """

    clusters: int
    items: int
    changed: int
    share: float
    effective: float | None
    interval: tuple[float, float] | None
    certain: tuple[float, float]


class Clusters:
    """Accumulates how many items of each cluster changed.

    Examples:
        >>> clusters = Clusters()
        >>> for session, changed in enumerate([0, 0, 30, 2]):
        ...     clusters.update(session, changed, 100)
        >>> summary = clusters.read()
        >>> summary.share, round(summary.effective)
        (0.08, 14)
        >>> tuple(round(end, 2) for end in summary.certain)
        (0.0, 0.72)

    """

    def __init__(self) -> None:
        self._counts: dict[Hashable, tuple[int, int]] = {}

    def update(self, cluster: Hashable, changed: int, items: int) -> None:
        """Add items of a cluster.

        Args:
            cluster: name of the cluster; it may come again
            changed: items that changed
            items: items looked at, at least 1

        Raises:
            ValueError: if ``changed`` lies outside 0 to ``items``, or ``items`` is below 1

        """
        if items < 1 or not 0 <= changed <= items:
            raise ValueError(f"{changed} of {items} is no count")
        known = self._counts.get(cluster, (0, 0))
        self._counts[cluster] = known[0] + changed, known[1] + items

    def merge(self, other: Clusters) -> None:
        """Add what another accumulator saw."""
        for cluster, counts in other._counts.items():
            self.update(cluster, *counts)

    def read(self, confidence: float = 0.95) -> ClustersSummary:
        """Summary of the clusters seen so far.

        Args:
            confidence: how often both ends of an interval hold, between 0 and 1

        Raises:
            ValueError: if no cluster was seen

        """
        if not self._counts:
            raise ValueError("no cluster was seen")
        changed, items = np.array(list(self._counts.values()), float).T
        effective = _find_effective(changed, items)
        share = float(changed.sum() / items.sum())
        return ClustersSummary(
            clusters=len(items),
            items=int(items.sum()),
            changed=int(changed.sum()),
            share=share,
            effective=effective,
            interval=None
            if effective is None
            else _find_interval(share, effective, len(items), int(items.sum()), confidence),
            certain=bound_mean(float(np.mean(changed / items)), len(items), confidence),
        )


def bound_mean(mean: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Two-sided interval of the mean of a law on 0 to 1, whatever the law [hoeffding1963]_.

    An end is the share p beyond the mean m with ``n (m ln(m/p) + (1-m) ln((1-m)/(1-p)))`` equal to
    ``-ln(alpha / 2)``. For a mean of 0 the upper end is ``1 - (alpha / 2) ** (1 / n)``.

    Args:
        mean: mean of independent values between 0 and 1
        n: how many values, at least 1
        confidence: how often the interval holds, between 0 and 1

    Examples:
        >>> lower, upper = bound_mean(0.0, 20)
        >>> lower, round(upper, 3)
        (0.0, 0.168)

    """
    limit = -math.log((1 - confidence) / 2) / n
    upper = 1 - _find_lower(1 - mean, limit)
    return _find_lower(mean, limit), upper


def _find_lower(mean: float, limit: float) -> float:
    """Smallest p below a mean whose divergence from it stays within a limit."""
    if mean <= 0:
        return 0.0
    low, high = 0.0, mean
    # Halving ends by itself when two neighbouring numbers are left.
    while low < (middle := (low + high) / 2) < high:
        if _diverge(mean, middle) > limit:
            low = middle
        else:
            high = middle
    return low


def _diverge(m: float, p: float) -> float:
    rest = (1 - m) * math.log((1 - m) / (1 - p)) if m < 1 else 0.0
    return m * math.log(m / p) + rest


def _find_effective(changed: Array, items: Array) -> float | None:
    """Independent items with the variance that the clusters show."""
    clusters, total = len(items), float(items.sum())
    share = float(changed.sum()) / total
    if clusters < 2 or not 0 < share < 1:
        return None
    residues = changed - share * items
    variance = clusters / (clusters - 1) * float((residues**2).sum()) / total**2
    return min(share * (1 - share) / variance, total) if variance else total


def _find_interval(
    share: float, effective: float, clusters: int, items: int, confidence: float
) -> tuple[float, float]:
    """Ends of [clopper1934]_ at the effective count, for which few clusters are a thin basis."""
    from scipy.special import betaincinv, stdtrit

    tail = (1 - confidence) / 2
    quantiles = stdtrit(items - 1, 1 - tail), stdtrit(clusters - 1, 1 - tail)
    n = effective * (quantiles[0] / quantiles[1]) ** 2
    x = share * n
    return float(betaincinv(x, n - x + 1, tail)), float(betaincinv(x + 1, n - x, 1 - tail))
