"""The samples most at risk."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from detaudit.metrics.risks import DecisionRisk, ValueRisk

Risk = TypeVar("Risk", DecisionRisk, ValueRisk)


@dataclass(frozen=True, slots=True)
class Kept(Generic[Risk]):
    """A sample with what is most at risk in it.

    Attributes:
        sample: what the caller called the input
        risk: its decision or value with the least room

    """

    sample: Hashable
    risk: Risk


class Closest(Generic[Risk]):
    """Keeps the samples with the least room, one entry for each, in bounded memory.

    Of equal rooms the one that came earlier goes first. Merging shards in their order equals one
    pass: who is among the first of all is among the first of its shard.

    Args:
        keep: how many samples to keep, at least 1

    Raises:
        ValueError: if ``keep`` is below 1

    Examples:
        >>> import numpy as np
        >>> from detaudit.metrics.risks import find_value_risk
        >>> closest = Closest(1)
        >>> for name, value in (("a.wav", 0.31), ("b.wav", 0.2501)):
        ...     risk = find_value_risk(np.array([value]), np.array([value - 0.001]), 1)
        ...     closest.update(risk, sample=name)
        >>> [(kept.sample, kept.risk.changed) for kept in closest.read()]
        [('b.wav', True)]

    """

    def __init__(self, keep: int = 20) -> None:
        if keep < 1:
            raise ValueError(f"at least one sample has to be kept, not {keep}")
        self._keep = keep
        self._kept: dict[Hashable, tuple[float, int, Risk]] = {}
        self._updates = 0

    def update(self, risk: Risk | None, *, sample: Hashable) -> None:
        """Add what is most at risk in a pair of outputs of a sample.

        Args:
            risk: the decision or value, None where the pair has none
            sample: name of the input; of several pairs the one with the least room counts

        """
        self._updates += 1
        if risk is not None:
            self._add(sample, (risk.room, self._updates, risk))
            self._drop()

    def merge(self, other: Closest[Risk]) -> None:
        """Add what another accumulator saw later.

        Args:
            other: accumulator that keeps as many samples

        Raises:
            ValueError: if it keeps more or fewer

        """
        if self._keep != other._keep:
            raise ValueError(f"the first {other._keep} cannot join the first {self._keep}")
        for sample, (room, update, risk) in other._kept.items():
            self._add(sample, (room, self._updates + update, risk))
        self._updates += other._updates
        self._drop()

    def read(self) -> tuple[Kept[Risk], ...]:
        """Samples kept so far, the one with the least room first."""
        return tuple(Kept(sample, self._kept[sample][2]) for sample in self._order())

    def _add(self, sample: Hashable, entry: tuple[float, int, Risk]) -> None:
        known = self._kept.get(sample)
        if known is None or entry[:2] < known[:2]:
            self._kept[sample] = entry

    def _drop(self) -> None:
        if len(self._kept) > self._keep:
            for sample in self._order()[self._keep :]:
                del self._kept[sample]

    def _order(self) -> list[Hashable]:
        return sorted(self._kept, key=lambda sample: self._kept[sample][:2])
