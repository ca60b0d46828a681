"""Whether the same input gave the same output again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detaudit.render import phrases, words
from detaudit.render.sections.parts import (
    Section,
    group,
    heading,
    keep_worst,
    left_out,
    make_section,
)
from detaudit.render.sheet import Cells, Column, Line
from detaudit.report import Report
from detaudit.rows import Decimals, Repeatability

_COLUMNS = (
    Column("Output", "left", flexible=True),
    Column("Result", "left", flexible=True),
    Column("max |Δ|"),
    Column("ULP"),
    Column("at most"),
    Column("changed", optional=True),
    Column("most frequent", optional=True),
)


def show_repeatability(report: Report) -> Section:
    """One row per target and output; one per scope where something differs."""
    hint = (
        f"At most: upper bound ({phrases.confidence(report)} confidence) of the chance that one"
        " more run / session / process differs."
    )
    items: list[Cells | Line] = []
    for target, rows in group(report.repeatability, lambda row: row.target).items():
        items.append(heading(report, target))
        own = {r.output: r for r in report.decimals if r.target == r.reference == target}
        runs = next(row.runs for row in report.targets if row.name == target)
        outputs = list(group(rows, lambda row: row.output).values())
        shown = keep_worst(outputs, _extent)
        for scopes in shown:
            items += _rows(scopes, runs, own.get(scopes[0].output))
        left = [scopes for scopes in outputs if scopes not in shown]
        if left:
            items.append(left_out("output", left, sum(map(phrases.always_same, left))))
    return make_section("Repeatability", hint, _COLUMNS, items)


def _rows(
    scopes: Sequence[Repeatability], runs: int, own: Decimals | None
) -> Iterator[Cells | Line]:
    output, none = scopes[0].output, words.NOTHING
    if phrases.always_same(scopes):
        result = f"same bits in {runs:,} of {words.plural(runs, 'run')}"
        yield Cells((output, result, none, none, phrases.bounds(scopes), none, none), 4)
        return
    if not any(phrases.compared(row) or row.structural for row in scopes):
        yield Cells((output, f"not repeated ({words.plural(runs, 'run')})", *[none] * 5), 4)
        return
    for number, row in enumerate(scopes):
        differs = phrases.compared(row) and row.identical is False
        figures = (
            words.number(row.max_abs),
            words.count(row.max_ulp),
            words.bound(row.instability_upper_bound),
            words.share(row.changed_share),
            words.share(row.modal_share),
        )
        if not differs:
            figures = (none, none, figures[2] if phrases.compared(row) else none, none, none)
        yield Cells((output if number == 0 else "", phrases.repeated(row), *figures), 4)
    for told in dict.fromkeys(told for row in scopes for told in phrases.oddities(row)):
        yield Line(words.prose(told), 6)
    if own is not None:
        yield Line(phrases.publishable(own), 6)


def _extent(scopes: Sequence[Repeatability]) -> float:
    return max(1 - row.modal_share if row.modal_share == row.modal_share else 1 for row in scopes)
