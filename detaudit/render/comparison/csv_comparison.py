"""The comparison as CSV: one tidy table, or one table per section for documentation."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from detaudit.comparison import Comparison, Difference
from detaudit.render.audited import keep_audited
from detaudit.render.comparison.letters import name_class
from detaudit.render.csv_tables import render_rows, render_table, render_tables
from detaudit.render.files import write_file, write_files
from detaudit.render.tables import Table


def write_csv_comparison(comparison: Comparison, path: Path, directory: bool = False) -> None:
    """Write the comparison as CSV, as :func:`detaudit.render.csv_tables.write_csv` a report.

    A file has the rows of :meth:`detaudit.comparison.Comparison.rows`; a directory the tables
    ``differing.csv``, ``environments.csv`` and ``agreement.csv`` beside those of the report.

    Args:
        comparison: what is written
        path: file, or directory, which is made if need be
        directory: whether the path is one although it does not exist yet

    Raises:
        OSError: if it cannot be written; files that were there are left as they were

    """
    if directory or path.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        tables = {
            "differing": _list_differences(comparison, comparison.differing),
            "environments": _list_differences(comparison, comparison.environments),
            "agreement": _list_agreement(comparison),
        }
        own = {f"{name}.csv": render_table(table) for name, table in tables.items()}
        write_files(path, {**render_tables(comparison.report), **own})
    else:
        audited = dataclasses.replace(comparison, report=keep_audited(comparison.report))
        write_file(path, render_rows(audited.rows()))


def _list_differences(comparison: Comparison, rows: Sequence[Difference]) -> Table:
    names = (record.name for record in comparison.records)
    return Table(("What", *names), tuple((row.name, *row.values) for row in rows))


def _list_agreement(comparison: Comparison) -> Table:
    levels = comparison.agreement
    heads = ("Bits" if lv.decimals is None else f"Decimals: {lv.decimals}" for lv in levels)
    targets = [row.name for row in comparison.report.targets if row.status == "ok"]
    rows = ((target, *(name_class(level, target) for level in levels)) for target in targets)
    return Table(("Target", *heads), tuple(rows))
