"""How many printed values change at each number of decimals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from detaudit.render import phrases, words
from detaudit.render.sections.parts import Block, Section, group, heading, keep_worst, left_out
from detaudit.render.sheet import Cells, Column, Line
from detaudit.report import Report
from detaudit.rows import Rounding

_ACROSS = 8
_COUNTED = 100_000


def show_rounding(report: Report) -> Section:
    """One column per number of decimals, in blocks of eight."""
    hint = (
        "Printed values that change, by number of decimals. At most: upper bound"
        f" ({phrases.confidence(report)} confidence). Expected: of values not tried. At risk: near"
        " enough to a boundary that the largest difference can carry them over."
    )
    steps = sorted({row.decimals for row in report.rounding})
    blocks = []
    for first in range(0, len(steps), _ACROSS):
        shown = steps[first : first + _ACROSS]
        columns = (Column("Decimals", "left"), *(Column(str(step)) for step in shown))
        blocks.append(Block(columns, tuple(_items(report, shown))))
    return Section("Rounding", hint, tuple(blocks))


def _items(report: Report, steps: Sequence[int]) -> list[Cells | Line]:
    items: list[Cells | Line] = []
    rows = [row for row in report.rounding if row.decimals in steps]
    pairs = group(rows, lambda row: (row.target, row.reference))
    for (target, reference), pair in pairs.items():
        outputs = list(group(pair, lambda row: row.output).values())
        empty = [output for output in outputs if not any(row.values for row in output)]
        loud = [output for output in outputs if any(map(_moves, output))]
        quiet = [output for output in outputs if output not in empty and output not in loud]
        if target == reference and not loud and len(pairs) > 1:
            continue  # its repeatability has told as much
        items.append(heading(report, target, reference))
        shown = keep_worst(loud, _extent, most=4, worst=3)
        for output in shown:
            items += _matrix(output, steps)
        left = [output for output in loud if output not in shown]
        if left:
            items.append(left_out("output", left))
        if quiet:
            items.append(Line(_sum_up(quiet, steps)))
        if empty:
            items.append(Line(f"{_names(empty)}: no values to print"))
    return items


def _matrix(output: Sequence[Rounding], steps: Sequence[int]) -> list[Cells | Line]:
    at = {row.decimals: row for row in output}
    values = max(row.values for row in output)

    def cells(name: str, text: Callable[[Rounding], str]) -> Cells:
        return Cells((name, *(text(at[k]) if k in at else words.NOTHING for k in steps)), 6)

    seen = (
        cells("changed", lambda row: words.count(row.changed))
        if values < _COUNTED
        else cells("changed %", lambda row: _percent(words.share(row.changed / max(row.values, 1))))
    )
    return [
        Line(f"{output[0].output}, {words.plural(values, 'value')}"),
        seen,
        cells("at most %", lambda row: _percent(words.bound(row.changed_upper_bound))),
        cells("expected %", lambda row: _percent(words.share(row.expected_share))),
        cells("at risk %", lambda row: _percent(words.share(row.at_risk_share))),
    ]


def _moves(row: Rounding) -> bool:
    """Whether there is anything to tell; an unknown share is."""
    shares = (row.expected_share, row.at_risk_share)
    return row.values > 0 and (row.changed > 0 or any(share != 0 for share in shares))


def _extent(output: Sequence[Rounding]) -> float:
    """Sort key; an unknown share counts as the worst."""
    shares = (row.expected_share for row in output)
    return sum(1.0 if math.isnan(share) else share for share in shares)


def _sum_up(outputs: Sequence[Sequence[Rounding]], steps: Sequence[int]) -> str:
    most = max(row.changed_upper_bound for output in outputs for row in output)
    return (
        f"{_names(outputs)}: every value printed the same at {steps[0]} to {steps[-1]} decimals"
        f" (of values not tried, at most {words.bound(most)} would change)"
    )


def _names(outputs: Sequence[Sequence[Rounding]]) -> str:
    names = ", ".join(output[0].output for output in outputs[:3])
    more = len(outputs) - 3
    return f"{names} and {words.plural(more, 'more output')}" if more > 0 else names


def _percent(text: str) -> str:
    """Share without its sign, which the row's name has."""
    return text.removesuffix(" %").replace("< ", "<").replace("> ", ">")
