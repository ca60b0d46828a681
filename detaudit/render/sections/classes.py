"""How often the predicted class changes."""

from __future__ import annotations

from collections.abc import Iterator

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
from detaudit.rows import Classes

_COLUMNS = (
    Column("Output", "left", flexible=True),
    Column("flips"),
    Column("at most"),
    Column("expected"),
    Column("at risk"),
    Column("margin"),
    Column("shift"),
)


def show_classes(report: Report) -> Section:
    """One row per target and output that holds class scores."""
    hint = (
        "Flips: items whose class changed. At risk: items whose margin is not clear of the changes"
        " seen. Margin: smallest distance between the two best scores. Shift: largest change of"
        " such a distance."
    )
    items: list[Cells | Line] = []
    pairs = group(report.classes, lambda row: (row.target, row.reference))
    for (target, reference), rows in pairs.items():
        items.append(heading(report, target, reference))
        shown = keep_worst(rows, lambda row: row.flips + row.at_risk / (row.samples + 1))
        for row in shown:
            items += _row(row)
        left = [row for row in rows if row not in shown]
        if left:
            items.append(left_out("output", left))
    return make_section("Class flips", hint, _COLUMNS, items)


def _row(row: Classes) -> Iterator[Cells | Line]:
    yield Cells(
        (
            row.output,
            phrases.flips(row),
            words.bound(row.flip_upper_bound),
            words.share(row.expected_flip_share),
            words.count(row.at_risk),
            words.number(row.min_margin),
            words.number(row.max_margin_shift),
        ),
        4,
    )
    yield from (Line(note, 6) for note in phrases.class_notes(row))
