"""What of a report may be shown as measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from detaudit.report import SECTIONS, Report


def keep_audited(report: Report) -> Report:
    """Report without measurements of, or against, a target that did not run to its end.

    Such a target keeps its row among the targets, with its status and reason, and the findings
    that name it.
    """
    ran = {row.name for row in report.targets if row.status == "ok"}

    def kept(section: str) -> tuple[Any, ...]:
        return tuple(
            row
            for row in report.section(section)
            if row.target in ran and getattr(row, "reference", row.target) in ran
        )

    measured = [name for name in SECTIONS if name not in ("targets", "findings")]
    sections: dict[str, Any] = {name: kept(name) for name in measured}
    return replace(report, **sections)
