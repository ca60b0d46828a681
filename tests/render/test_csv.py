from __future__ import annotations

import csv
import io
import math
import os
from pathlib import Path

import docutils.core
import docutils.nodes
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from detaudit.render import words
from detaudit.render.csv_tables import COLUMNS, render_csv, render_tables, write_csv
from detaudit.report import SECTIONS
from tests.render.parts import differs, make, target
from tests.render.reports import REPORTS


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def _parse(tables: str) -> docutils.nodes.document:
    indented = "\n".join(f"   {line}" for line in tables.splitlines())
    source = f".. csv-table::\n   :header-rows: 1\n\n{indented}\n"
    settings = {"report_level": 2, "halt_level": 5, "warning_stream": io.StringIO()}
    return docutils.core.publish_doctree(source, settings_overrides=settings)


def test_columns_are_those_of_the_report() -> None:
    row = next(iter(REPORTS["drift"]().rows()))
    assert {*row, "kind", "status"} == set(COLUMNS)


def test_lines_end_as_the_standard_says() -> None:
    text = render_csv(REPORTS["drift"]())
    assert text.count("\r\n") == text.count("\n")
    assert text.endswith("\r\n")


@pytest.mark.parametrize(
    ("given", "cell"),
    [
        (0.1 + 0.2, "0.30000000000000004"),
        (5e-324, "5e-324"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.1), repr(float(np.float32(0.1)))),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (-1e-5, "-1e-05"),
        (None, ""),
    ],
)
def test_numbers_keep_their_precision(given: float | None, cell: str) -> None:
    row = differs("cuda:0", "y", 1.0, mean_signed=given)
    report = make([target("cpu"), target("cuda:0")], deviation=[row])
    found = [r["value"] for r in _rows(render_csv(report)) if r["measure"] == "mean_signed"]
    assert found == [cell]


def test_booleans_are_words() -> None:
    found = {
        row["value"]
        for row in _rows(render_csv(REPORTS["drift"]()))
        if row["measure"] == "identical"
    }
    assert found == {"true", "false"}


def test_pandas_reads_the_tidy_table() -> None:
    report = REPORTS["drift"]()
    frame = pd.read_csv(io.StringIO(render_csv(report)))
    assert list(frame) == list(COLUMNS)
    mean = frame[(frame.measure == "mean_signed") & (frame.label == "arousal")]
    assert mean.value.astype(float).tolist() == [-2.62856483e-05, -5.1e-05]


@pytest.mark.parametrize(
    ("label", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-x", "'-x"),
        ("@sum", "'@sum"),
        ("\t=1", "'\t=1"),
        ("-1", "-1"),
        ("+1.5", "+1.5"),
        ("plain", "plain"),
        ('a "quoted", text\nof two lines', 'a "quoted", text\nof two lines'),
    ],
)
def test_names_are_no_formulas(label: str, cell: str) -> None:
    report = make(
        [target("cpu"), target("cuda:0")], deviation=[differs("cuda:0", "y", 1.0, label=label)]
    )
    assert {row["label"] for row in _rows(render_csv(report)) if row["label"]} == {cell}


@pytest.mark.parametrize("name", REPORTS)
def test_no_cell_of_any_table_is_a_formula(name: str) -> None:
    for text in render_tables(REPORTS[name]()).values():
        for row in csv.reader(io.StringIO(text, newline="")):
            for cell in row:
                numeric = cell.replace("e-", "").replace("e+", "").replace(".", "")
                assert cell[0] not in "=+-@\t\r" or numeric.lstrip("-").isdigit()


@pytest.mark.parametrize("name", REPORTS)
def test_sphinx_takes_every_table(name: str) -> None:
    for section, text in render_tables(REPORTS[name]()).items():
        document = _parse(text)
        assert not list(document.findall(docutils.nodes.system_message)), section
        rows = list(document.findall(docutils.nodes.row))
        assert len(rows) == len(list(csv.reader(io.StringIO(text, newline=""))))


@given(st.text(st.characters(exclude_categories=()), min_size=1, max_size=20))
@example("name_")
@example("a__ b")
@example("|x|")
@example("1.")
@example("(a) b")
@example("-a")
@example("--long=x")
@example(":field: x")
@example(".. comment")
@example("====")
@example(">>> x")
@example("`x`_")
@example("*")
@example("\\")
@example("_target")
@example("[1]_")
@example("::")
@example("| line")
@example("__ anonymous")
@example("text::")
@example("text ::")
@example("\\\\\\")
def test_names_mean_nothing_to_sphinx(name: str) -> None:
    report = make(
        [target("cpu"), target("cuda:0")], deviation=[differs("cuda:0", "y", 1.0, label=name)]
    )
    document = _parse(render_tables(report)["deviation.csv"])
    assert not list(document.findall(docutils.nodes.system_message))
    body = next(iter(document.findall(docutils.nodes.tbody)))
    cells = list(body.findall(docutils.nodes.entry))
    # A name of spaces or a dash alone is shown as nothing.
    expected = " ".join(words.visible(name).split())
    shown = " ".join(cells[4].astext().split())
    assert shown == ("—" if expected in ("", words.NOTHING) else expected)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_text("old")
    write_csv(REPORTS["nasty_names"](), path)
    text = path.read_bytes().decode("utf-8")
    assert text == render_csv(REPORTS["nasty_names"]()).replace("\udc80", "\\udc80")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("exists", [False, True])
def test_a_directory(tmp_path: Path, exists: bool) -> None:
    path = tmp_path / "a" / "tables"
    if exists:
        path.mkdir(parents=True)
        (path / "own.csv").write_text("mine")
    write_csv(REPORTS["drift"](), path, directory=not exists)
    names = {f"{section}.csv" for section in SECTIONS} | ({"own.csv"} if exists else set())
    assert {file.name for file in path.iterdir()} == names
    tables = render_tables(REPORTS["drift"]())
    assert (path / "values.csv").read_bytes().decode("utf-8") == tables["values.csv"]


def test_sections_without_rows_replace_those_of_another_report(tmp_path: Path) -> None:
    write_csv(REPORTS["drift"](), tmp_path)
    write_csv(REPORTS["unavailable"](), tmp_path)
    (row,) = _rows((tmp_path / "deviation.csv").read_text(encoding="utf-8"))
    assert set(row.values()) == {"—"}


def test_nothing_is_written_where_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_csv(REPORTS["drift"](), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    write = Path.write_bytes

    def fail_late(path: Path, data: bytes) -> int:
        if path.name == "findings.csv":
            raise OSError(28, os.strerror(28))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fail_late)
    with pytest.raises(OSError, match="No space left"):
        write_csv(REPORTS["same"](), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_values_have_one_column_each() -> None:
    rows = _rows(render_tables(REPORTS["drift"]())["values.csv"])
    assert [row["arousal"] for row in rows] == ["0.6832043", "0.6832143", "0.6832243"]
    assert [row["Run"] for row in rows] == ["0", "1", "2"]


def test_decimals_without_limit_are_named_so() -> None:
    rows = _rows(render_tables(REPORTS["same"]())["decimals.csv"])
    assert [row["Agree to decimals"] for row in rows] == ["no limit", "no limit"]
    rows = _rows(render_tables(REPORTS["only_nan"]())["decimals.csv"])
    assert [row["Agree to decimals"] for row in rows] == ["—"]
    rows = _rows(render_tables(REPORTS["drift"]())["decimals.csv"])
    assert {r["Agree to decimals"] for r in rows if r["Output"] == "hidden_states"} == {"no limit"}
