"""What the sections are made of, and how they choose among many rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from detaudit.render import phrases, words
from detaudit.render.sheet import Cells, Column, Line
from detaudit.report import Report

Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows under common columns, with lines between them."""

    columns: tuple[Column, ...]
    items: tuple[Cells | Line, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the report.

    Attributes:
        title: what it is on
        hint: how it is read
        blocks: its rows; a section without is not shown

    """

    title: str
    hint: str
    blocks: tuple[Block, ...]


def make_section(
    title: str, hint: str, columns: Sequence[Column], items: Sequence[Cells | Line]
) -> Section:
    """Section of one block, of none where there are no items."""
    blocks = (Block(tuple(columns), tuple(items)),) if items else ()
    return Section(title, hint, blocks)


def group(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    """Rows by key, both in the order in which they come."""
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def heading(report: Report, target: str, reference: str | None = None) -> Line:
    """Line over the rows of a target, which says how its numbers came about."""
    kind = phrases.kind(next(row for row in report.targets if row.name == target))
    against = ""
    if reference is not None:
        against = ", its own runs" if reference == target else f", against {reference}"
    return Line(f"{target}  ({kind}{against})", 2, "bold")


def keep_worst(
    rows: Sequence[Row], extent: Callable[[Row], float], most: int = 12, worst: int = 5
) -> list[Row]:
    """All rows where they are few, else those of the largest extent, in their order.

    Args:
        rows: the rows
        extent: how much a reader wants to see a row
        most: rows that are all shown
        worst: rows that are shown of more

    """
    if len(rows) <= most:
        return list(rows)
    order = sorted(range(len(rows)), key=lambda i: -extent(rows[i]))
    return [rows[i] for i in sorted(order[:worst])]


def left_out(noun: str, rows: Sequence[Any], same: int | None = None, indent: int = 4) -> Line:
    """Line that tells how many rows are not shown, and where they are."""
    with_bits = "" if same is None else f", {same:,} of them with the same bits"
    return Line(
        f"… {words.plural(len(rows), f'more {noun}')}{with_bits}; every one is in --csv and --json",
        indent,
        "dim",
    )
