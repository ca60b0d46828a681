"""How long calls took."""

from __future__ import annotations

from detaudit.render import phrases, words
from detaudit.render.sections.parts import Section, make_section
from detaudit.render.sheet import Cells, Column
from detaudit.report import Report

_COLUMNS = (
    Column("Target", "left", flexible=True),
    Column("call"),
    Column("90 %"),
    Column("first"),
    Column("session"),
)


def show_latency(report: Report) -> Section:
    """One row per target."""
    kinds = {target.name: phrases.kind(target) for target in report.targets}
    hint = (
        "Call: median of the calls after the first. 90 %: as many of them took no longer."
        " Session: to create one."
    )
    items = [
        Cells(
            (
                f"{row.target} ({kinds[row.target]})",
                *map(words.duration, (row.median_seconds, row.p90_seconds)),
                *map(words.duration, (row.first_seconds, row.session_seconds)),
            )
        )
        for row in report.latency
    ]
    return make_section("Latency", hint, _COLUMNS, items)
