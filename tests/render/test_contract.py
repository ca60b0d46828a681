"""What every renderer owes to every report."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings

from detaudit.render import words
from detaudit.render.csv_tables import render_csv, render_tables
from detaudit.render.json_report import render_json, to_json
from detaudit.render.terminal import render_terminal
from detaudit.report import SECTIONS, Report
from tests.render.reports import REPORTS
from tests.render.strategies import reports

MEASURED = [name for name in SECTIONS if name not in ("targets", "findings")]


def _read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def _check(report: Report) -> None:
    statuses = {row.name: row.status for row in report.targets}
    missing = {name for name, status in statuses.items() if status != "ok"}

    text = render_terminal(report, 100)
    for name, status in statuses.items():
        assert re.search(rf"^  {re.escape(words.visible(name))} .* {status}$", text, re.MULTILINE)
    for name in missing:
        # Rows stand under a line with the target and its kind, which one without rows lacks.
        assert f"\n  {name}  (" not in text
        assert f"\n  {name} (" not in text

    tidy = _read(render_csv(report))
    assert {row["target"]: row["value"] for row in tidy if row["measure"] == "status"} == statuses
    assert not [row for row in tidy if row["section"] != "targets" and row["target"] in missing]

    tables = render_tables(report)
    assert list(tables) == [f"{section}.csv" for section in SECTIONS]
    assert [row["Status"] for row in _read(tables["targets.csv"])] == list(statuses.values())
    for section in MEASURED:
        assert not {row["Target"] for row in _read(tables[f"{section}.csv"])} & missing

    plain = to_json(report)
    assert {row["name"]: row["status"] for row in plain["targets"]} == statuses
    for section in MEASURED:
        assert not {row["target"] for row in plain[section]} & missing
    render_json(report).encode("ascii")


@pytest.mark.parametrize("name", REPORTS)
def test_made_by_hand(name: str) -> None:
    _check(REPORTS[name]())


@given(reports())
@settings(max_examples=60)
def test_any(report: Report) -> None:
    _check(report)


@pytest.mark.parametrize("status", ["unavailable", "failed", "skipped"])
def test_nothing_is_the_same_where_nothing_ran(status: str) -> None:
    """Rows that a judge should not have made are not shown."""
    made = REPORTS["drift"]()
    targets = tuple(replace(row, status=status, reason="why") for row in made.targets)
    report = replace(made, targets=targets, findings=(), verdict=REPORTS["emulated"]().verdict)
    for text in (
        render_terminal(report, 80),
        render_csv(report),
        render_json(report),
        *render_tables(report).values(),
    ):
        assert "same bits" not in text
        assert '"identical": true' not in text
        assert "identical,true" not in text


@pytest.mark.parametrize("name", REPORTS)
def test_kind_is_in_every_table(name: str) -> None:
    for section, text in render_tables(REPORTS[name]()).items():
        assert section == "findings.csv" or "Kind" in text.splitlines()[0].split(",")


def test_importing_is_light() -> None:
    """Libraries are loaded by the functions that need them, so that --help stays fast."""
    modules = ["terminal", "csv_tables", "json_report", "words"]
    imports = "; ".join(f"import detaudit.render.{name}" for name in modules)
    heavy = "{'rich', 'pandas', 'numpy', 'torch', 'onnx', 'onnxruntime', 'scipy'}"
    code = f"{imports}; import sys; sys.exit(str({heavy} & set(sys.modules) or '') or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
