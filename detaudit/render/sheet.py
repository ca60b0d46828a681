"""Laying out rows that share their columns, with lines of text between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import RenderableType

PROSE = 110
"""Characters of a line of prose, at most."""
_GAP = 2
_NARROWEST = 14


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        title: heading
        justify: side that its cells are set to
        flexible: whether its cells may be broken where the width is short
        optional: whether it is left out where the width is short

    """

    title: str
    justify: Literal["left", "right"] = "right"
    flexible: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Cells:
    """A row with one text per column.

    Attributes:
        texts: the cells
        indent: columns by which the first cell is moved in
        style: look of the row where colour is shown

    """

    texts: tuple[str, ...]
    indent: int = 2
    style: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Text that runs over all columns and wraps.

    Attributes:
        text: the text
        indent: columns by which it is moved in
        style: look of the text where colour is shown

    """

    text: str
    indent: int = 4
    style: str = ""


def lay_out(
    columns: Sequence[Column], items: Sequence[Cells | Line], width: int
) -> Iterator[RenderableType]:
    """Arrange rows and lines so that the rows of all groups share their column widths.

    Args:
        columns: the columns
        items: rows and lines in their order; every text is safe to show
        width: characters per line

    Yields:
        the heads of the columns, one table per group of rows, and one text per line

    """
    rows = [item for item in items if isinstance(item, Cells)]
    if rows:
        titles = Cells(tuple(column.title for column in columns), rows[0].indent, "dim")
        natural = _measure([titles, *rows])
        shown = _choose(columns, natural, width)
        head = [columns[i] for i in shown]
        widths = _fit(head, [natural[i] for i in shown], width)
        yield _table(head, widths, shown, [titles])
    for are_cells, group in groupby(items, key=lambda item: isinstance(item, Cells)):
        if are_cells:
            yield _table(head, widths, shown, [item for item in group if isinstance(item, Cells)])
        else:
            yield from (_line(item, width) for item in group if isinstance(item, Line))


def _measure(rows: Sequence[Cells]) -> list[int]:
    """Widths that the columns would like to have."""
    from rich.cells import cell_len

    first = max(row.indent + cell_len(row.texts[0]) for row in rows)
    others = zip(*(row.texts[1:] for row in rows), strict=True)
    return [first, *(max(map(cell_len, texts)) for texts in others)]


def _choose(columns: Sequence[Column], natural: Sequence[int], width: int) -> list[int]:
    """Columns to show: optional ones are left out, the last first, until all fit."""
    shown = list(range(len(columns)))
    for i in reversed(range(len(columns))):
        if sum(natural[j] + _GAP for j in shown) - _GAP <= width:
            break
        if columns[i].optional:
            shown.remove(i)
    return shown


def _fit(columns: Sequence[Column], natural: Sequence[int], width: int) -> list[int]:
    """Widths of the columns: the widest flexible one gives way first."""
    widths = list(natural)
    flexible = [i for i, column in enumerate(columns) if column.flexible]
    excess = sum(widths) + _GAP * (len(widths) - 1) - width
    while excess > 0 and flexible:
        widest = max(flexible, key=lambda i: widths[i])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
        excess -= 1
    return widths


def _table(
    columns: Sequence[Column],
    widths: Sequence[int],
    shown: Sequence[int],
    rows: Sequence[Cells],
) -> RenderableType:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    # The gaps lie in the cells: versions of rich differ in what they make of a table's padding.
    table = Table(box=None, show_header=False, padding=0, pad_edge=False)
    gaps = [0, *[_GAP] * (len(columns) - 1)]
    for column, chosen, gap in zip(columns, widths, gaps, strict=True):
        table.add_column(justify=column.justify, width=chosen + gap, overflow="fold")
    for row in rows:
        table.add_row(
            *(
                Padding(Text(row.texts[i], overflow="fold"), (0, 0, 0, gap or row.indent))
                for i, gap in zip(shown, gaps, strict=True)
            ),
            style=row.style,
        )
    return table


def _line(line: Line, width: int) -> RenderableType:
    from rich.padding import Padding
    from rich.text import Text

    text = Text(line.text, style=line.style, overflow="fold")
    return Padding(text, (0, max(0, width - PROSE), 0, line.indent))
