"""What was asked, and what ran where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from detaudit.render import phrases, words
from detaudit.render.sections.parts import Section, make_section
from detaudit.render.sheet import Cells, Column, Line
from detaudit.report import Report
from detaudit.target_row import TargetRow

_STYLES = {"ok": "", "skipped": "yellow"}


def show_targets(report: Report) -> Section:
    """One row per target, its facts or the reason why there are none below it."""
    columns = (
        Column("Target", "left", flexible=True),
        Column("Kind", "left"),
        Column("Status", "left"),
    )
    options = sorted({key for target in report.targets for key in target.requested})
    shared = phrases.shared_versions(report.targets)
    items: list[Cells | Line] = []
    for target in report.targets:
        style = _STYLES.get(target.status, "red")
        items.append(Cells((target.name, phrases.kind(target), target.status), 2, style))
        items += _facts(target, options, shared)
    hint = "Runs: calls that ended (planned runs x sessions x processes)."
    return make_section("Targets", hint, columns, items)


def _facts(target: TargetRow, options: Sequence[str], shared: Mapping[str, str]) -> Iterator[Line]:
    if target.reason:
        yield Line(words.prose(target.reason))
    if target.status == "ok" or target.runs:
        yield Line(f"{phrases.ran_on(target)} · {phrases.plan(target)}", style="dim")
    ran = filter(None, (phrases.other_model(target), phrases.weights(target)))
    if what := " · ".join(ran):
        yield Line(what, style="dim")
    own = [f"{name} {text}" for name, text in target.versions.items() if name not in shared]
    settings = [f"{key}={text}" for key, text in phrases.in_force(target, options).items()]
    for told, facts in (("with", own), ("in force:", settings)):
        if facts:
            yield Line(f"{told} {', '.join(facts)}", style="dim")
