"""The runs of a target as a grid: processes, sessions, samples, runs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from detaudit.metrics.counts import instability_upper_bound
from detaudit.metrics.spread_summary import SpreadSummary
from detaudit.record import Outcomes, Record, TargetRecord, table_key

_AXES = ("process", "session", "sample", "run")


@dataclass(frozen=True)
class Grid:
    """Everything about one target that the judges look at.

    Attributes:
        number: number of the target in the record
        target: what happened on it
        seconds: time of each call, [processes, sessions, samples, runs]
        outcome: number of the outcome per call, [processes, sessions, samples, runs, outputs], -1
            where the output was absent

    """

    number: int
    target: TargetRecord
    seconds: np.ndarray
    outcome: np.ndarray

    @property
    def name(self) -> str:
        """Name of the target."""
        return self.target.target.name

    def outcomes(self, output: int) -> tuple[Outcomes, ...]:
        """Distinct results of an output, one entry per sample."""
        return tuple(self._outcomes[output])

    def spreads(self, output: int) -> tuple[SpreadSummary, ...]:
        """Distances of an output in the scopes where it varies."""
        return tuple(self._spreads[output])

    def number_of(self, path: str) -> int | None:
        """Number of the output with a path, None where there is none."""
        return self._numbers.get(path)

    @cached_property
    def _outcomes(self) -> dict[int, list[Outcomes]]:
        found = defaultdict(list)
        for seen in self.target.outcomes:
            found[seen.output].append(seen)
        return found

    @cached_property
    def _spreads(self) -> dict[int, list[SpreadSummary]]:
        found = defaultdict(list)
        for spread in self.target.spreads:
            found[spread.output].append(spread.summary)
        return found

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {facts.path: number for number, facts in enumerate(self.target.outputs)}

    def groups(self, output: int, scope: str) -> np.ndarray:
        """Outcomes that a scope compares with each other.

        Args:
            output: number of the output
            scope: ``run``, ``session`` or ``process``

        Returns:
            numbers of outcomes, [samples, groups, units]

        """
        cells = self.outcome[..., output]
        if scope == "run":
            return np.moveaxis(cells, 2, 0).reshape(cells.shape[2], -1, cells.shape[3])
        if scope == "session":
            return cells[..., 0].transpose(2, 0, 1)
        return cells[:, 0, :, 0].T[:, np.newaxis, :]


def audited_grids(record: Record) -> tuple[Grid, ...]:
    """Grids of the targets that ran to their end; only these can be judged.

    Their sizes are those of the tables: in a merged record, targets may have run by other plans.

    Raises:
        ValueError: if a table does not hold what the record says was planned

    """
    spec = record.spec
    plan = (spec.processes, spec.sessions, spec.inputs.samples, spec.runs)
    grids = []
    for number, target in enumerate(record.targets):
        if target.status == "ok":
            table = record.arrays[table_key(number, "runs")]
            shape = tuple(int(table[column].max()) + 1 for column in _AXES)
            if not target.target.record and shape != plan:
                raise ValueError(f"{target.target.name} did not run as planned: {shape}, {plan}")
            seconds = table["seconds"].reshape(shape)
            outcome = record.arrays[table_key(number, "outcome")].reshape(*shape, -1)
            grids.append(Grid(number, target, seconds, outcome))
    return tuple(grids)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How the outcomes of a scope agree, over all its groups.

    Attributes:
        comparisons: independent comparisons; samples share a session and do not add any
        units: outcomes in a group
        distinct: distinct outcomes in the group that has most
        modal_share: smallest share of the most frequent outcome
        first_differs: whether some group's first outcome differs from all others, which are equal,
            and no group varies in any other way
        bound: largest probability that one more unit differs, None where it cannot be bounded

    """

    comparisons: int
    units: int
    distinct: int
    modal_share: float
    first_differs: bool
    bound: float | None


def find_agreement(groups: np.ndarray, confidence: float) -> Agreement:
    """Agreement of outcomes.

    Args:
        groups: numbers of outcomes, [samples, groups, units]
        confidence: of the bound, between 0 and 1

    Examples:
        >>> find_agreement(np.array([[[0, 1, 1]]]), 0.95)
        Agreement(comparisons=2, units=3, distinct=2, modal_share=0.6666666666666666, \
first_differs=True, bound=None)

    """
    _, count, units = groups.shape
    flat = np.sort(groups.reshape(-1, units), axis=1)
    distinct = 1 + (np.diff(flat, axis=1) != 0).sum(axis=1)
    most = max(1, int(distinct.max(initial=1)))
    modal = 1.0
    first = False
    if most > 1:
        varying = groups.reshape(-1, units)[distinct > 1]
        modal = min(float(np.unique(row, return_counts=True)[1].max()) / units for row in varying)
        rest_equal = (varying[:, 1:] == varying[:, 1:2]).all(axis=1)
        first = units > 2 and bool(rest_equal.all())
    comparisons = count * (units - 1)
    bound = instability_upper_bound(comparisons + 1, confidence) if most == 1 else None
    return Agreement(comparisons, units, most, modal, first, bound)
