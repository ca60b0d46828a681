"""How far the targets lie from the reference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

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
from detaudit.rows import Decimals, Deviation

_COLUMNS = (
    Column("Output, label", "left", flexible=True),
    Column("mean Δ"),
    Column("max |Δ|"),
    Column("ULP"),
    Column("agree to"),
    Column("safe 1 %"),
    Column("safe 0.1 %"),
    Column("mean |Δ|", optional=True),
    Column("99 % of |Δ|", optional=True),
    Column("relative", optional=True),
    Column("bits kept", optional=True),
    Column("changed", optional=True),
)


def show_deviation(report: Report) -> Section:
    """One row per target and output, and one per label."""
    hint = (
        "Δ: target minus reference. Agree to: decimals to which results lie within half a unit."
        " Safe: decimals at which at most 1 % or 0.1 % of printed values change."
    )
    decimals = {(r.target, r.reference, r.output, r.label): r for r in report.decimals}
    items: list[Cells | Line] = []
    pairs = group(report.deviation, lambda row: (row.target, row.reference))
    for (target, reference), rows in pairs.items():
        items.append(heading(report, target, reference))
        outputs = list(group(rows, lambda row: row.output).values())
        shown = keep_worst(outputs, lambda output: max(map(_extent, output)))
        for output in shown:
            items += _rows(output, decimals)
        left = [output for output in outputs if output not in shown]
        if left:
            same = sum(all(row.identical for row in output) for output in left)
            items.append(left_out("output", left, same))
    return make_section("Deviation", hint, _COLUMNS, items)


def _rows(
    output: Sequence[Deviation], decimals: Mapping[tuple[str, str, str, str | None], Decimals]
) -> Iterator[Cells | Line]:
    def cells(row: Deviation, name: str) -> Cells:
        key = (row.target, row.reference, row.output, row.label)
        return _cells(row, name, decimals.get(key))

    whole = [row for row in output if row.label is None]
    labels = [row for row in output if row.label is not None]
    for row in whole:
        yield cells(row, row.output)
        notes = (phrases.largest(row), *phrases.oddities(row), row.explanation)
        yield from (Line(words.prose(note), 6) for note in notes if note)
    if whole and all(row.identical for row in output):
        return
    shown = keep_worst(labels, _extent)
    for row in shown:
        name = f"{row.label}" if whole else f"{row.output} {row.label}"
        yield cells(row, name)
    left = [row for row in labels if row not in shown]
    if left:
        yield left_out("label", left, sum(row.identical for row in left), 6)


def _cells(row: Deviation, name: str, decimals: Decimals | None) -> Cells:
    none, same = words.NOTHING, phrases.sameness(row)
    indent = 4 if row.label is None else 6
    publish = (none, none, none)
    if decimals is not None:
        publish = phrases.publish(decimals, limited=same is None)
    if same:
        return Cells((name, none, same, none, *publish, none, none, none, none, none), indent)
    figures = (
        words.number(row.mean_abs),
        words.number(row.p99),
        words.number(row.rel_norm),
        words.bits(row.bits_kept),
        words.share(row.changed_share),
    )
    extremes = (words.number(row.mean_signed), words.number(row.max_abs), words.count(row.max_ulp))
    return Cells((name, *extremes, *publish, *figures), indent)


def _extent(row: Deviation) -> float:
    """Sort key: the larger, the more a reader wants to see the row."""
    if row.structural or row.nan_pattern_changed:
        return math.inf
    if row.max_abs is None or math.isnan(row.max_abs):
        return row.changed_share or 0.0
    return row.max_abs
