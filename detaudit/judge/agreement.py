"""Which targets give the same results: to the bit, and as they print at some decimals."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from detaudit.comparison import Level
from detaudit.judge.grid import Grid
from detaudit.judge.matching import tells_structure
from detaudit.metrics.rounding import Rounding
from detaudit.metrics.structure import structural_difference
from detaudit.record import Outcomes, array_key
from detaudit.spec import JudgeSpec

_Result = tuple[str, ...] | None
"""Digests that one output gave on one sample, None where it was sometimes absent."""


def judge_agreement(
    grids: Sequence[Grid], judging: JudgeSpec, arrays: Mapping[str, np.ndarray]
) -> tuple[Level, ...]:
    """Classes of targets to the bit, then at every number of decimals.

    Args:
        grids: targets that ran to their end, with outputs under common names
        judging: which decimals
        arrays: arrays of the record

    """
    decimals = range(judging.decimals[0], judging.decimals[1] + 1)
    targets = _list_results(grids)
    bits = _group((target.key, target) for target in targets)
    found: dict[int | None, list[list[_Results]]] = {None: list(bits.values())}
    # Targets with the same bits print alike: one of them stands for all.
    heads = [(group[0], group) for group in bits.values()]
    heads += [(target, [target]) for target in targets if target.key is None]
    classes: dict[int, list[tuple[_Results, list[_Results]]]] = {k: [] for k in decimals}
    for head, group in heads:
        steady = head.find_alike(head, decimals, arrays)
        _place(head, group, steady, classes, arrays)
    for k in decimals:
        found[k] = [members for _, members in classes[k]]
    order = {target.name: number for number, target in enumerate(targets)}
    return tuple(_make_level(k, groups, order) for k, groups in found.items())


def _place(
    head: _Results,
    group: list[_Results],
    steady: frozenset[int],
    classes: dict[int, list[tuple[_Results, list[_Results]]]],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Add targets to the class whose first one prints alike, at each number of decimals."""
    open_ = set(steady)
    firsts = {first.name: first for k in steady for first, _ in classes[k]}
    for first in firsts.values():
        asked = [k for k in sorted(open_) if any(one is first for one, _ in classes[k])]
        for k in head.find_alike(first, asked, arrays) if asked else ():
            next(members for one, members in classes[k] if one is first).extend(group)
            open_.remove(k)
    for k in open_:
        classes[k].append((head, list(group)))


def _make_level(
    decimals: int | None, groups: Iterable[Sequence[_Results]], order: Mapping[str, int]
) -> Level:
    named = [sorted((target.name for target in group), key=order.__getitem__) for group in groups]
    named.sort(key=lambda names: order[names[0]])
    placed = {name for names in named for name in names}
    return Level(
        decimals,
        tuple(map(tuple, named)),
        tuple(name for name in order if name not in placed),
    )


class _Results:
    """All results of a target, by output and sample.

    Attributes:
        name: name of the target
        key: what is equal exactly for targets with the same bits, None where a result varies

    """

    def __init__(self, grid: Grid, *, structure: bool) -> None:
        self.name = grid.name
        self._grid = grid
        self._results: dict[tuple[str, int], tuple[_Result, Outcomes]] = {}
        self._keys = {facts.path: facts.keys for facts in grid.target.outputs}
        for number, facts in enumerate(grid.target.outputs):
            if structure or not tells_structure(facts.path):
                absent = np.any(grid.outcome[..., number] < 0, axis=(0, 1, 3))
                for seen in grid.outcomes(number):
                    told = None if absent[seen.sample] else seen.digests
                    self._results[facts.path, seen.sample] = told, seen
        self.key = self._make_key()

    def _make_key(self) -> Hashable:
        told = {place: digests for place, (digests, _) in self._results.items()}
        if any(digests is None or len(digests) > 1 for digests in told.values()):
            return None
        return frozenset(told.items())

    def find_alike(
        self, other: _Results, decimals: Iterable[int], arrays: Mapping[str, np.ndarray]
    ) -> frozenset[int]:
        """Decimals at which every result of both prints the same.

        Args:
            other: results of another target, or these
            decimals: numbers of decimals to try
            arrays: arrays of the record

        """
        alike = frozenset(decimals)
        if self._results.keys() != other._results.keys():
            return frozenset()
        for place, (digests, seen) in self._results.items():
            theirs, other_seen = other._results[place]
            if digests is None or theirs is None:
                return frozenset()
            if digests == theirs and len(digests) == 1:
                continue
            if self._keys[place[0]] != other._keys[place[0]]:
                return frozenset()
            if self._varies_in_structure(seen) or other._varies_in_structure(other_seen):
                return frozenset()
            ends = (*self._ends(seen, arrays), *other._ends(other_seen, arrays))
            alike = _print_alike(ends, alike)
            if not alike:
                break
        return alike

    def _varies_in_structure(self, seen: Outcomes) -> bool:
        """Whether results differ in what the lowest and highest values cannot tell."""
        return len(seen.digests) > 1 and any(
            spread.structural for spread in self._grid.spreads(seen.output)
        )

    def _ends(
        self, seen: Outcomes, arrays: Mapping[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest value of each element over all runs, the first result otherwise."""
        whats = ("low", "high") if seen.varies else (0, 0)
        low, high = (
            arrays[array_key(self._grid.number, seen.sample, seen.output, w)] for w in whats
        )
        return low, high


def _print_alike(ends: Sequence[np.ndarray], decimals: frozenset[int]) -> frozenset[int]:
    low, high, other_low, other_high = ends
    if low.dtype.kind != "f" or any(structural_difference(low, end) for end in ends[1:]):
        # Other types than floats print differently whenever they differ.
        return frozenset()
    rounding = Rounding(sorted(decimals), at_risk=False)
    # fmin passes over a NaN and maximum passes it on, so that one that comes or goes is a change.
    rounding.update(np.fmin(low, other_low), np.maximum(high, other_high))
    return frozenset(row.decimals for row in rounding.read() if not row.changed)


def _group(pairs: Iterable[tuple[Hashable, _Results]]) -> dict[Hashable, list[_Results]]:
    groups: dict[Hashable, list[_Results]] = {}
    for key, target in pairs:
        if key is not None:
            groups.setdefault(key, []).append(target)
    return groups


def _list_results(grids: Sequence[Grid]) -> list[_Results]:
    # Another form of the model tells lengths and presences in a way of its own.
    one_model = len({grid.target.target.model for grid in grids}) < 2
    return [_Results(grid, structure=one_model) for grid in grids]
