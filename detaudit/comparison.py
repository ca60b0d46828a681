"""Records of several machines, versions or dates beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from detaudit.report import COLUMNS, Report


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record that is compared.

    Attributes:
        name: what its targets are told apart by
        path: file that holds it
        created: date and time in UTC, ISO 8601
        detaudit: version that made it
        model: digest of its model
        inputs: digest over its inputs
        plan: runs x sessions x processes
        interrupted: whether its audit was stopped before its end
        environment: machine, operating system, interpreter, versions

    """

    name: str
    path: str
    created: str
    detaudit: str
    model: str
    inputs: str
    plan: tuple[int, int, int]
    interrupted: bool
    environment: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that the records do not have in common.

    Attributes:
        name: what it is, such as ``inputs`` or ``processor``
        values: what each record has, in the order of the records, a dash for nothing

    """

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """Which targets give the same results at one level of detail.

    Two targets are in one class when every result of both, for every output and sample, is the
    same: to the bit, or as it prints at a number of decimals. That is an equivalence, so no two
    targets of one class differ at this level, and any two of different classes do. A class at
    some decimals need not be a part of one at fewer decimals.

    Attributes:
        decimals: decimals that are printed, None for the bits
        classes: targets by class, both in the order of the report
        varying: targets that do not even agree with themselves from run to run

    """

    decimals: int | None
    classes: tuple[tuple[str, ...], ...]
    varying: tuple[str, ...]

    def place(self, target: str) -> int | None:
        """Number of the class of a target, from 0; None where it varies or did not run."""
        return next((n for n, names in enumerate(self.classes) if target in names), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that a renderer of a comparison needs.

    Attributes:
        records: the records, in the order given
        differing: what had to agree and does not, compared nonetheless because it was asked for
        environments: what else the records do not have in common
        agreement: which targets agree, one row for the bits and one per number of decimals
        report: every target of every record against one reference

    """

    records: tuple[RecordRow, ...]
    differing: tuple[Difference, ...]
    environments: tuple[Difference, ...]
    agreement: tuple[Level, ...]
    report: Report

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per measurement, with the columns of :meth:`detaudit.report.Report.rows`.

        What the records do not have in common comes first, in the sections ``differing`` and
        ``environments`` with a record in the place of a target; then the ``agreement``, with the
        number of the class as value, from 1.

        """
        for section in ("differing", "environments"):
            for difference in getattr(self, section):
                for record, value in zip(self.records, difference.values, strict=True):
                    row = {"target": record.name, "measure": difference.name, "value": value}
                    yield {**_EMPTY, "section": section, **row, "unit": ""}
        kinds = {row.name: {"kind": row.kind, "status": row.status} for row in self.report.targets}
        for level in self.agreement:
            for target, marks in kinds.items():
                place = level.place(target)
                if place is not None or target in level.varying:
                    yield {
                        **_EMPTY,
                        **marks,
                        "section": "agreement",
                        "target": target,
                        "decimals": level.decimals,
                        "measure": "bits_class" if level.decimals is None else "printed_class",
                        "value": "varies" if place is None else place + 1,
                        "unit": "",
                    }
        yield from self.report.rows()


_EMPTY: Mapping[str, Any] = dict.fromkeys(COLUMNS)
