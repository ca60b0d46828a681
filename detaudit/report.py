"""What a record means: measurements, findings and a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from detaudit.rows import (
    Classes,
    Decimals,
    Deviation,
    Latency,
    Repeatability,
    Rounding,
    Value,
)
from detaudit.target_row import TargetRow

if TYPE_CHECKING:
    import pandas as pd

SECTIONS = (
    "targets",
    "repeatability",
    "deviation",
    "rounding",
    "decimals",
    "classes",
    "latency",
    "values",
    "findings",
)
"""Tables of a report, in the order in which they are read."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth telling.

    Attributes:
        level: ``info``, ``warning`` or ``error``
        kind: fixed name of what was found, such as ``first-run-differs``
        target: name of the target, None for all
        output: path of the output, None for all
        message: what it is, its likely cause, and what to do

    """

    level: Literal["info", "warning", "error"]
    kind: str
    target: str | None
    output: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a target meets one condition of the requirement in one output.

    Attributes:
        requirement: the condition, such as ``decimals=3``
        target: name of the target
        output: path of the output, None where no single one is concerned
        status: ``met``, ``missed``, or ``untested`` where nothing tells
        failures: what misses it or why nothing tells, one line each, with figure and limit

    """

    requirement: str
    target: str
    output: str | None
    status: Literal["met", "missed", "untested"]
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in one sentence.

    Attributes:
        requirement: what was required, None for nothing
        met: whether it is met, None when nothing was required
        untested: targets that could not be audited
        failures: what misses the requirement, one line each
        sentence: the answer as a documentation author can quote it
        origin: file that the requirement was taken from, None where it was given directly
        checks: what each target makes of each condition in each output

    """

    requirement: str | None
    met: bool | None
    untested: tuple[str, ...]
    failures: tuple[str, ...]
    sentence: str
    origin: str | None = None
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a renderer needs.

    Attributes:
        created: date and time of the record in UTC, ISO 8601
        detaudit: version that judged
        model: facts on the model
        inputs: facts on the inputs
        seeding: what was seeded with what, in the parent and per target and process
        environment: machine, operating system, interpreter, versions
        interrupted: whether the audit was stopped before its end
        targets: one row per target
        repeatability: one row per target, output and scope
        deviation: one row per target, output and label
        rounding: one row per target, output and number of decimals
        decimals: one row per target and output
        classes: one row per target and output that holds class scores
        latency: one row per target
        values: one row per run and value of small outputs
        findings: most serious first
        verdict: the answer

    """

    created: str
    detaudit: str
    model: Mapping[str, Any]
    inputs: Mapping[str, Any]
    seeding: Mapping[str, Any]
    environment: Mapping[str, Any]
    interrupted: bool
    targets: tuple[TargetRow, ...]
    repeatability: tuple[Repeatability, ...]
    deviation: tuple[Deviation, ...]
    rounding: tuple[Rounding, ...]
    decimals: tuple[Decimals, ...]
    classes: tuple[Classes, ...]
    latency: tuple[Latency, ...]
    values: tuple[Value, ...]
    findings: tuple[Finding, ...]
    verdict: Verdict

    def section(self, name: str) -> tuple[Any, ...]:
        """Rows of a section of ``SECTIONS``."""
        rows: tuple[Any, ...] = getattr(self, name)
        return rows

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per measurement, with the same columns for every section.

        Targets come first, so that one without measurements is seen too, and every row says what
        kind of target it is about and what became of it.

        Yields:
            the columns ``COLUMNS``; what does not apply is None

        """
        marks = {row.name: {"kind": row.kind, "status": row.status} for row in self.targets}
        for target in self.targets:
            keys = {**dict.fromkeys(COLUMNS), "section": "targets", "target": target.name}
            for measure in ("status", "reason", "is_reference", "hardware", "runs"):
                value = getattr(target, measure)
                row = {**keys, **marks[target.name], "measure": measure, "value": value}
                yield {**row, "unit": _unit(measure)}
        for section in SECTIONS:
            if section not in ("targets", "findings"):
                for measured in self.section(section):
                    for row in _measurements(section, measured):
                        yield {**row, **marks[row["target"]]}

    def frame(self, section: str = "rows") -> pd.DataFrame:
        """Section as a table.

        Args:
            section: one of ``SECTIONS``, or ``rows`` for one row per measurement

        Returns:
            table with one column per attribute of the section's rows

        """
        import pandas as pd

        if section == "rows":
            return pd.DataFrame(list(self.rows()), columns=list(COLUMNS))
        kind = _ROW_TYPES[section]
        names = [f.name for f in fields(kind)]
        return pd.DataFrame(
            [[getattr(row, name) for name in names] for row in self.section(section)],
            columns=names,
        )


COLUMNS = (
    "section",
    "target",
    "kind",
    "status",
    "reference",
    "output",
    "label",
    "scope",
    "decimals",
    "sample",
    "process",
    "session",
    "run",
    "measure",
    "value",
    "unit",
)
"""Columns of the table with one row per measurement."""

_KEYS = COLUMNS[1:-3]
_ROW_TYPES: Mapping[str, type] = {
    "targets": TargetRow,
    "repeatability": Repeatability,
    "deviation": Deviation,
    "rounding": Rounding,
    "decimals": Decimals,
    "classes": Classes,
    "latency": Latency,
    "values": Value,
    "findings": Finding,
}
_UNITS = {
    "max_ulp": "ULP",
    "bits_kept": "bit",
    "agree": "decimals",
    "safe_1pct": "decimals",
    "safe_01pct": "decimals",
    "resolution": "decimals",
}
_COUNTS = (
    *("comparisons", "units", "distinct", "elements", "finite", "values", "changed"),
    *("samples", "flips", "at_risk", "ties", "no_class", "calls", "runs"),
)


def _measurements(section: str, row: Any) -> Iterator[dict[str, Any]]:
    given = {f.name: getattr(row, f.name) for f in fields(row)}
    worst = given.pop("worst", None)
    keys = {"section": section, **{key: given.get(key) for key in _KEYS}}
    for measure, value in given.items():
        if measure not in _KEYS:
            yield {**keys, "measure": measure, "value": value, "unit": _unit(measure)}
    if worst is not None:
        keys["sample"] = worst.sample
        place = ",".join(str(i) for i in worst.index)
        for measure, value in (
            ("worst_index", place),
            ("worst_value", worst.value),
            ("worst_reference_value", worst.reference_value),
        ):
            yield {**keys, "measure": measure, "value": value, "unit": ""}


def _unit(measure: str) -> str:
    if measure in _UNITS:
        return _UNITS[measure]
    if measure in _COUNTS:
        return "count"
    if measure.endswith(("_share", "_bound")):
        return "share"
    if measure.endswith("_seconds"):
        return "s"
    return ""
