"""What a requirement is held against: rows by target and output."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from detaudit.judge.weights import OTHER_SESSIONS
from detaudit.report import Report
from detaudit.rows import Classes, Deviation, Repeatability, Rounding
from detaudit.target_row import TargetRow

Place = tuple[str, str]
"""Name of a target and path of an output."""


class _Row(Protocol):
    @property
    def target(self) -> str: ...
    @property
    def output(self) -> str: ...


R = TypeVar("R", bound=_Row)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows of a report by the target and the output that they are about.

    Attributes:
        targets: all targets
        whole: rows on whole outputs, those of labels left out
        rounding: rows on rounding
        decisions: rows on classes, those of runs that are all equal included
        compared: where at least two results were compared
        numberless: float outputs that hold nothing but NaN and infinities
        one_model: whether all sessions of each target had the same weights

    """

    targets: Sequence[TargetRow]
    whole: Mapping[Place, Sequence[Repeatability | Deviation]]
    rounding: Mapping[Place, Sequence[Rounding]]
    decisions: Mapping[Place, Sequence[Classes]]
    compared: frozenset[Place]
    numberless: frozenset[Place]
    one_model: bool


def gather_evidence(
    report: Report, decisions: Iterable[Classes], numberless: Iterable[Place]
) -> Evidence:
    """Put the rows of a report in order.

    Args:
        report: report of the audit, with any verdict
        decisions: rows on classes, those of runs that are all equal included
        numberless: where float outputs hold nothing but NaN and infinities

    """
    deviation = [row for row in report.deviation if row.label is None]
    compared = {(row.target, row.output) for row in report.repeatability if row.comparisons}
    for row in deviation:
        compared |= {(row.target, row.output), (row.reference, row.output)}
    return Evidence(
        targets=report.targets,
        whole=_group([*report.repeatability, *deviation]),
        rounding=_group(report.rounding),
        decisions=_group(decisions),
        compared=frozenset(compared),
        numberless=frozenset(numberless),
        one_model=not any(row.structural == OTHER_SESSIONS for row in report.repeatability),
    )


def _group(rows: Iterable[R]) -> Mapping[Place, Sequence[R]]:
    groups: defaultdict[Place, list[R]] = defaultdict(list)
    for row in rows:
        groups[row.target, row.output].append(row)
    return dict(groups)
