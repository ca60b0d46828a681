"""Small audits, and how the tests read what comes out of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from detaudit.audit import plan_audit
from detaudit.capture.capture import capture
from detaudit.judge.judge import judge
from detaudit.record import Record
from detaudit.report import Report

Row = TypeVar("Row")


def capture_quickly(model: Path, device: str = "cpu", **options: Any) -> Record:
    """Capture two calls of one session, or what the options say."""
    counts = {"runs": 2, "sessions": 1, "processes": 1, "timeout": 60.0}
    return capture(plan_audit(model, device, **{**counts, **options}))


def audit_quickly(model: Path, device: str = "cpu", **options: Any) -> Report:
    """Audit two calls of one session, or what the options say."""
    return judge(capture_quickly(model, device, **options))


def only(rows: Iterable[Row], **wanted: Any) -> Row:
    """Return the one row whose attributes are as wanted."""
    found = [r for r in rows if all(getattr(r, k) == v for k, v in wanted.items())]
    assert len(found) == 1, f"{len(found)} rows with {wanted}"
    return found[0]


def kinds(report: Report) -> set[str]:
    """Return the kinds of all findings."""
    return {finding.kind for finding in report.findings}


def message(report: Report, kind: str, **wanted: Any) -> str:
    """Return the message of the one finding of a kind."""
    return only(report.findings, kind=kind, **wanted).message


def statuses(report: Report) -> dict[str, str]:
    """Return the status of every target."""
    return {row.name: row.status for row in report.targets}


def all_identical(report: Report) -> bool:
    """Whether no scope of no output and no target showed any difference."""
    rows = (*(row for row in report.repeatability if row.comparisons), *report.deviation)
    assert rows
    return all(row.identical for row in rows)


def read_strictly(text: str) -> Any:
    """Read JSON that knows neither NaN nor Infinity."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)
