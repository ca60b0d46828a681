"""The report as CSV: one tidy table, or one table per section for documentation."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from detaudit.report import COLUMNS, Report

from . import words
from .audited import keep_audited
from .files import write_file, write_files
from .tables import Table, make_tables

_EMPTY = "—"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(report: Report, path: Path, directory: bool = False) -> None:
    r"""Write the report as CSV in UTF-8 as RFC 4180 has it.

    A file holds one row per measurement with the columns ``COLUMNS``: numbers in full precision,
    ``true`` and ``false``, ``nan``, ``inf`` and ``-inf``, and nothing for what does not apply. A
    text that a spreadsheet would take for a formula is led by an apostrophe.

    A directory holds one table per section, ``deviation.csv`` and so on, for ``csv-table`` with
    ``:header-rows: 1``: formatted cells, a dash for nothing, and names escaped by backslashes
    where reStructuredText would take them for markup. A section without rows has one of dashes.

    Args:
        report: what is written
        path: file, or directory, which is made if need be
        directory: whether the path is one although it does not exist yet

    Raises:
        OSError: if it cannot be written; files that were there are left as they were

    """
    if directory or path.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        write_files(path, render_tables(report))
    else:
        write_file(path, render_csv(report))


def render_csv(report: Report) -> str:
    """Tidy table as text."""
    return render_rows(keep_audited(report).rows())


def render_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows of measurements as text.

    Args:
        rows: with the columns ``COLUMNS``

    """
    told = ({**row, "value": _value(row["value"])} for row in rows)
    return _text(COLUMNS, ([_guard(row.get(name)) for name in COLUMNS] for row in told))


def render_tables(report: Report) -> dict[str, str]:
    """Tables for documentation as texts, by file name."""
    tables = make_tables(keep_audited(report))
    return {f"{section}.csv": render_table(table) for section, table in tables.items()}


def render_table(table: Table) -> str:
    """Table for documentation as text."""
    rows = table.rows or ((words.NOTHING,) * len(table.header),)
    cells = ([_restructured(text) for text in row] for row in rows)
    return _text([_restructured(name) for name in table.header], cells)


def _value(value: Any) -> Any:
    """Value of a measurement so that it can be read back."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else value


def _guard(cell: Any) -> Any:
    """Cell that no spreadsheet runs; a text that is a number stays one."""
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?")
_MARKUP = re.compile(r"[\\*`|]|_(?![^\W_])|(?<![^\W_])_|::$")
_BLOCK = re.compile(
    r"""
    [-+*•‣⁃](?=\s|$)                        # bullet
    | \(?(?:\w|\#|[0-9]+|[ivxlcdm]+)[.)](?=\s|$)  # enumeration
    | [-+/=@]                               # option, title, formula
    | [^\w\s](?=[^\w\s]|$)                  # title, comment, doctest, line block
    | :(?=\S)                               # field
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _restructured(text: str) -> str:
    """Cell for ``csv-table``: the words, whatever they mean in reStructuredText."""
    shown = words.visible(text).strip()
    if shown in ("", words.NOTHING):
        return _EMPTY
    if _NUMBER.fullmatch(shown):
        return shown
    escaped = _MARKUP.sub(lambda found: f"\\{found[0]}", shown)
    # An escaped space shows nothing, and makes an ordinary paragraph of what follows.
    return f"\\ {escaped}" if _BLOCK.match(escaped) else escaped


def _text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()
