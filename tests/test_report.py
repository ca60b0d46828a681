from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from detaudit import rows as row_types
from detaudit.judge.judge import judge
from detaudit.report import COLUMNS, SECTIONS, Report
from tests.records import Plan, always, by_run, floats, make_model, make_record


@pytest.fixture(scope="module")
def report() -> Report:
    """One target that varies, one that deviates, one that is missing."""
    return judge(
        make_record(
            {
                "cpu": by_run(floats(0.25, 0.5), floats(0.25, 0.625)),
                "cpu[opt=off]": always(floats(0.25, 0.75)),
                "cuda:0": "no driver",
            },
            Plan(runs=3, sessions=2, processes=2),
            model=make_model("y", score_outputs=("y",)),
        )
    )


def pick(report: Report, **keys: Any) -> list[dict[str, Any]]:
    return [row for row in report.rows() if all(row[k] == v for k, v in keys.items())]


def test_every_row_has_every_column(report: Report) -> None:
    for row in report.rows():
        assert tuple(row) == COLUMNS or set(row) == set(COLUMNS)


def test_no_measurement_comes_twice(report: Report) -> None:
    keys = [tuple(v for k, v in row.items() if k not in ("value", "unit")) for row in report.rows()]
    assert [key for key, count in Counter(keys).items() if count > 1] == []


def test_every_section_is_there(report: Report) -> None:
    assert list(dict.fromkeys(row["section"] for row in report.rows())) == [
        section for section in SECTIONS if section != "findings"
    ]


def test_every_figure_of_a_row_type_is_a_measurement(report: Report) -> None:
    kinds = {
        "repeatability": row_types.Repeatability,
        "rounding": row_types.Rounding,
        "decimals": row_types.Decimals,
        "classes": row_types.Classes,
        "latency": row_types.Latency,
    }
    for section, kind in kinds.items():
        measures = {row["measure"] for row in pick(report, section=section)}
        names = {f.name for f in dataclasses.fields(kind)}
        assert names - measures <= set(COLUMNS), section
        assert measures <= names


def test_a_measurement_is_found_by_its_keys(report: Report) -> None:
    (row,) = pick(report, section="repeatability", target="cpu", scope="run", measure="max_abs")
    assert row["value"] == 0.125
    (row,) = pick(
        report, section="rounding", target="cpu", reference="cpu", decimals=1, measure="changed"
    )
    assert (row["value"], row["unit"]) == (1, "count")
    (row,) = pick(report, section="deviation", label=None, measure="max_abs")
    assert (row["target"], row["reference"], row["value"]) == ("cpu[opt=off]", "cpu", 0.25)


def test_the_worst_element_is_told_with_its_place(report: Report) -> None:
    worst = {
        row["measure"]: (row["sample"], row["value"])
        for row in pick(report, section="deviation", label=None)
        if row["measure"].startswith("worst")
    }
    assert worst == {
        "worst_index": (0, "1"),
        "worst_value": (0, 0.75),
        "worst_reference_value": (0, 0.5),
    }


def test_a_target_that_is_missing_is_told_and_not_measured(report: Report) -> None:
    rows = pick(report, target="cuda:0")
    assert {row["section"] for row in rows} == {"targets"}
    assert {row["measure"]: row["value"] for row in rows}["status"] == "unavailable"


@pytest.mark.parametrize(
    ("measure", "unit"),
    [
        ("max_ulp", "ULP"),
        ("changed_share", "share"),
        ("instability_upper_bound", "share"),
        ("median_seconds", "s"),
        ("agree", "decimals"),
        ("distinct", "count"),
        ("max_abs", ""),
    ],
)
def test_no_value_travels_without_its_unit(report: Report, measure: str, unit: str) -> None:
    assert {row["unit"] for row in pick(report, measure=measure)} == {unit}


def test_frames_hold_what_the_rows_hold(report: Report) -> None:
    for section in SECTIONS:
        frame = report.frame(section)
        rows = report.section(section)
        assert len(frame) == len(rows)
        if rows:
            assert list(frame.columns) == [f.name for f in dataclasses.fields(rows[0])]
            for name in frame.columns:
                for value, row in zip(frame[name], rows, strict=True):
                    expected = getattr(row, name)
                    assert value == expected or (pd.isna(value) and expected is None)


def test_the_tidy_frame(report: Report) -> None:
    frame = report.frame()
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == len(list(report.rows()))


def test_an_empty_section_keeps_its_columns() -> None:
    empty = judge(make_record({"cuda:0": "no driver"}))
    for section in SECTIONS:
        assert len(empty.frame(section).columns) > 0
    assert len(empty.frame("deviation")) == 0


def test_an_unknown_section_is_an_error(report: Report) -> None:
    with pytest.raises(KeyError):
        report.frame("colours")


def test_values_are_python_numbers(report: Report) -> None:
    for row in report.rows():
        assert not isinstance(row["value"], np.generic), row
