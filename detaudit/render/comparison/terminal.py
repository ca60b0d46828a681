"""The comparison as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TextIO

from detaudit.comparison import Comparison, Difference, Level
from detaudit.render.audited import keep_audited
from detaudit.render.comparison.letters import VARIES, name_class
from detaudit.render.page import Page, print_page, render_page
from detaudit.render.sections.parts import group
from detaudit.render.sheet import Cells, Column, Line
from detaudit.render.terminal import lay_out_report

if TYPE_CHECKING:
    from rich.console import RenderableType

_HINT = (
    "Targets with the same letter in a column gave the same results for every output and sample:"
    " the same bits, or the same printed values at so many decimals. Letters of different columns"
    " have nothing to do with each other. ~: not even the target's own runs agree."
)


def render_comparison(
    comparison: Comparison,
    width: int | None = None,
    color: bool | None = None,
    *,
    ascii: bool = False,
) -> str:
    """Comparison as text.

    Args:
        comparison: what is shown
        width: characters per line, at least 60; None for 80
        color: whether escape sequences for colour are written; the text is complete without
        ascii: whether only ASCII is written; names lose their other characters to escapes

    Returns:
        lines without trailing spaces, the last ended

    """
    return render_page(partial(_lay_out, _prepare(comparison)), width, color, ascii=ascii)


def print_comparison(comparison: Comparison, file: TextIO) -> None:
    """Write the comparison to a stream, as wide and as colourful as the stream is.

    Args:
        comparison: what is shown
        file: text stream, such as ``sys.stdout``

    """
    print_page(partial(_lay_out, _prepare(comparison)), file)


def _prepare(comparison: Comparison) -> Comparison:
    return replace(comparison, report=keep_audited(comparison.report))


def _lay_out(comparison: Comparison, page: Page) -> Iterator[RenderableType]:
    names = [record.name for record in comparison.records]
    head = f"detaudit {comparison.report.detaudit} · {len(names)} records compared"
    yield from page.lines(Line(head, 0, "bold"))
    yield from _records(comparison, page)
    if comparison.differing:
        yield from page.title("What should be the same and is not")
        yield from page.table((), _list_values(names, comparison.differing, "bold yellow"))
    yield from page.title("What else differs")
    same = "Nothing: machine, versions and variables are the same, as far as the records tell."
    lines = _list_values(names, comparison.environments, "") or [Line(same, 2)]
    yield from page.table((), lines)
    yield from _agreement(comparison, page)
    yield from page.title("Against the reference")
    yield from lay_out_report(comparison.report, page)


def _records(comparison: Comparison, page: Page) -> Iterator[RenderableType]:
    columns = (
        Column("Record", "left", flexible=True),
        Column("Made", "left"),
        Column("Plan", "left"),
        Column("File", "left", flexible=True),
    )
    yield from page.title("Records")
    hint = "Plan: runs x sessions x processes."
    rows = [
        Cells((one.name, one.created, " x ".join(map(str, one.plan)), one.path))
        for one in comparison.records
    ]
    yield from page.lines(Line(hint, 0, "dim"))
    yield from page.table(columns, rows)


def _list_values(names: Sequence[str], rows: Sequence[Difference], style: str) -> list[Line]:
    """What differs, each value after the records that have it."""
    lines = []
    for row in rows:
        lines.append(Line(row.name, 2, style or "bold"))
        owners = group(zip(names, row.values, strict=True), lambda pair: pair[1])
        for value, pairs in owners.items():
            lines.append(Line(f"{', '.join(name for name, _ in pairs)}: {value}", 4))
    return lines


def _agreement(comparison: Comparison, page: Page) -> Iterator[RenderableType]:
    levels = comparison.agreement
    heads = ["bits" if level.decimals is None else str(level.decimals) for level in levels]
    columns = (Column("Target", "left", flexible=True), *(Column(head, "left") for head in heads))
    targets = [row.name for row in comparison.report.targets if row.status == "ok"]
    rows = [Cells((t, *(_mark(level, t) for level in levels))) for t in targets]
    if rows:
        yield from page.title("Which agree, to the bit and at how many decimals")
        yield from page.lines(Line(_HINT, 0, "dim"))
        yield from page.table(columns, rows)


def _mark(level: Level, target: str) -> str:
    letter = name_class(level, target)
    return "~" if letter == VARIES else letter
