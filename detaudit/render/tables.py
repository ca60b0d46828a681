"""One table per section with cells as a documentation author wants them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from detaudit.report import Finding, Report
from detaudit.rows import (
    Classes,
    Decimals,
    Deviation,
    Latency,
    Repeatability,
    Rounding,
)
from detaudit.target_row import TargetRow

from . import phrases, words

ALL_VALUES = "all values"
"""Stands where others have the name of one value."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Attributes:
        header: names of the columns
        rows: one text per column, empty or a dash for nothing

    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def make_tables(report: Report) -> dict[str, Table]:
    """Tables of a report by section, each row marked with the kind of its target.

    Args:
        report: report without rows of targets that did not run

    """
    kinds = {target.name: phrases.kind(target) for target in report.targets}
    return {
        "targets": _fill(_TARGETS, report.targets, None),
        "repeatability": _fill(_REPEATABILITY, report.repeatability, kinds),
        "deviation": _fill(_DEVIATION, report.deviation, kinds),
        "rounding": _fill(_ROUNDING, report.rounding, kinds),
        "decimals": _fill(_name_decimals(report), report.decimals, kinds),
        "classes": _fill(_CLASSES, report.classes, kinds),
        "latency": _fill(_LATENCY, report.latency, kinds),
        "values": _spread_values(report, kinds),
        "findings": _fill(_FINDINGS, report.findings, None),
    }


_TARGETS: Mapping[str, Callable[[TargetRow], str]] = {
    "Target": lambda row: row.name,
    "Kind": phrases.kind,
    "Status": lambda row: row.status,
    "Ran on": lambda row: phrases.ran_on(row) if row.runs else words.NOTHING,
    "Runs (runs x sessions x processes)": phrases.plan,
    "Versions": lambda row: ", ".join(f"{name} {text}" for name, text in row.versions.items()),
    "Reason": lambda row: words.prose(row.reason or words.NOTHING),
}

_REPEATABILITY: Mapping[str, Callable[[Repeatability], str]] = {
    "Target": lambda row: row.target,
    "Output": lambda row: row.output,
    "Scope": lambda row: row.scope,
    "Result": phrases.repeated,
    "Largest difference": lambda row: words.number(_if_differs(row, row.max_abs)),
    "ULP": lambda row: words.count(_if_differs(row, row.max_ulp)),
    "Values that differ": lambda row: words.share(_if_differs(row, row.changed_share)),
    "One more differs, at most": lambda row: words.bound(
        row.instability_upper_bound if phrases.compared(row) else None
    ),
    "Confidence": lambda row: f"{100 * row.confidence:g} %",
    "Remarks": lambda row: "; ".join(phrases.oddities(row)),
}

_DEVIATION: Mapping[str, Callable[[Deviation], str]] = {
    "Target": lambda row: row.target,
    "Reference": lambda row: row.reference,
    "Output": lambda row: row.output,
    "Label": lambda row: ALL_VALUES if row.label is None else row.label,
    "Result": lambda row: phrases.sameness(row) or "different",
    "Mean difference": lambda row: words.number(_if_differs(row, row.mean_signed)),
    "Mean absolute difference": lambda row: words.number(_if_differs(row, row.mean_abs)),
    "Largest difference": lambda row: words.number(_if_differs(row, row.max_abs)),
    "ULP": lambda row: words.count(_if_differs(row, row.max_ulp)),
    "Relative to largest": lambda row: words.number(_if_differs(row, row.rel_norm)),
    "Values that differ": lambda row: words.share(_if_differs(row, row.changed_share)),
    "Remarks": lambda row: "; ".join(filter(None, (*phrases.oddities(row), row.explanation))),
}

_ROUNDING: Mapping[str, Callable[[Rounding], str]] = {
    "Target": lambda row: row.target,
    "Against": lambda row: _against(row),
    "Output": lambda row: row.output,
    "Decimals": lambda row: str(row.decimals),
    "Printed values that change": lambda row: words.ratio(row.changed, row.values),
    "At most": lambda row: words.bound(row.changed_upper_bound if row.values else None),
    "Expected": lambda row: words.share(row.expected_share if row.values else None),
    "At risk": lambda row: words.share(row.at_risk_share if row.values else None),
}

_CLASSES: Mapping[str, Callable[[Classes], str]] = {
    "Target": lambda row: row.target,
    "Against": lambda row: _against(row),
    "Output": lambda row: row.output,
    "Class flips": phrases.flips,
    "At most": lambda row: words.bound(row.flip_upper_bound),
    "Expected": lambda row: words.share(row.expected_flip_share),
    "At risk": lambda row: words.count(row.at_risk),
    "Smallest margin": lambda row: words.number(row.min_margin),
    "Largest shift of a margin": lambda row: words.number(row.max_margin_shift),
    "Remarks": lambda row: "; ".join(phrases.class_notes(row)),
}

_LATENCY: Mapping[str, Callable[[Latency], str]] = {
    "Target": lambda row: row.target,
    "Calls": lambda row: words.count(row.calls),
    "Median": lambda row: words.duration(row.median_seconds),
    "90 % within": lambda row: words.duration(row.p90_seconds),
    "First call": lambda row: words.duration(row.first_seconds),
    "Session": lambda row: words.duration(row.session_seconds),
}

_FINDINGS: Mapping[str, Callable[[Finding], str]] = {
    "Level": lambda row: row.level,
    "Finding": lambda row: row.kind,
    "Target": lambda row: row.target or words.NOTHING,
    "Output": lambda row: row.output or words.NOTHING,
    "Message": lambda row: words.prose(row.message),
}


def _fill(
    columns: Mapping[str, Callable[[Any], str]],
    rows: Iterable[Any],
    kinds: Mapping[str, str] | None,
) -> Table:
    """Table of some rows; where kinds are given, the kind stands after the target."""
    header = tuple(columns)
    texts = (tuple(column(row) for column in columns.values()) for row in rows)
    if kinds is None:
        return Table(header, tuple(texts))
    marked = tuple(
        (text[0], kinds[row.target], *text[1:]) for row, text in zip(rows, texts, strict=True)
    )
    return Table((header[0], "Kind", *header[1:]), marked)


def _name_decimals(report: Report) -> Mapping[str, Callable[[Decimals], str]]:
    free = phrases.unlimited(report)

    def published(row: Decimals) -> tuple[str, str, str]:
        return phrases.publish(row, limited=(row.target, row.reference, row.output) not in free)

    return {
        "Target": lambda row: row.target,
        "Against": _against,
        "Output": lambda row: row.output,
        "Label": lambda row: ALL_VALUES if row.label is None else row.label,
        "Agree to decimals": lambda row: published(row)[0],
        "Safe decimals (1 % change)": lambda row: published(row)[1],
        "Safe decimals (0.1 % change)": lambda row: published(row)[2],
        "Decimals that the type holds": lambda row: words.places(row.resolution),
    }


def _spread_values(report: Report, kinds: Mapping[str, str]) -> Table:
    """Values with one row per run and one column per value, to eight significant digits."""
    values = report.values
    names = list(dict.fromkeys((value.output, value.label) for value in values))
    several = len({output for output, _ in names}) > 1
    runs: dict[tuple[str, int, int, int, int], dict[tuple[str, str], str]] = {}
    for value in values:
        run = (value.target, value.sample, value.process, value.session, value.run)
        text = f"{value.value:.8g}" if value.value == value.value else words.NOTHING
        runs.setdefault(run, {})[value.output, value.label] = text
    heads = (f"{output} {label}" if several else label for output, label in names)
    return Table(
        ("Target", "Kind", "Sample", "Process", "Session", "Run", *heads),
        tuple(
            (run[0], kinds[run[0]], *map(str, run[1:]), *_in_order(names, found))
            for run, found in runs.items()
        ),
    )


def _in_order(names: Sequence[tuple[str, str]], found: Mapping[tuple[str, str], str]) -> list[str]:
    return [found.get(name, words.NOTHING) for name in names]


def _against(row: Rounding | Decimals | Classes) -> str:
    return "its own runs" if row.reference == row.target else row.reference


def _if_differs(row: Repeatability | Deviation, figure: Any) -> Any:
    compared = isinstance(row, Deviation) or phrases.compared(row)
    return figure if compared and not (row.identical or row.same_values) else None
