"""Whole outputs, compared with files that people have looked at.

``DETAUDIT_UPDATE_GOLDEN=1 pytest tests/render/test_golden.py`` writes them anew; look at the
difference before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from detaudit.render.csv_tables import render_csv, render_tables
from detaudit.render.json_report import render_json
from detaudit.render.terminal import render_terminal
from detaudit.report import Report
from tests.render.reports import REPORTS

GOLDEN = Path(__file__).parent / "golden"
UPDATE = os.environ.get("DETAUDIT_UPDATE_GOLDEN") == "1"


def _tables(report: Report) -> str:
    return "".join(f"== {name}\n{text}\n" for name, text in render_tables(report).items())


READ_BY_PEOPLE: Mapping[str, Callable[[Report], str]] = {
    "80.txt": lambda report: render_terminal(report, 80),
    "140.txt": lambda report: render_terminal(report, 140),
    "tables.txt": _tables,
}
READ_BY_MACHINES: Mapping[str, Callable[[Report], str]] = {
    "csv": render_csv,
    "json": render_json,
    "ascii.txt": lambda report: render_terminal(report, 80, ascii=True),
    "color.txt": lambda report: render_terminal(report, 80, color=True),
}
CASES = [(name, kind) for name in REPORTS for kind in READ_BY_PEOPLE] + [
    (name, kind) for name in ("drift", "only_nan", "nasty_names") for kind in READ_BY_MACHINES
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_output(name: str, kind: str) -> None:
    made = {**READ_BY_PEOPLE, **READ_BY_MACHINES}[kind](REPORTS[name]())
    # The repository keeps its files with line feeds; that CSV has CRLF is tested elsewhere.
    data = made.replace("\r\n", "\n").encode("utf-8", "backslashreplace")
    path = GOLDEN / f"{name}.{kind}"
    if UPDATE:
        path.write_bytes(data)
    assert data == path.read_bytes()


def test_no_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}.{kind}" for name, kind in CASES}
