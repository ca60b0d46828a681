from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.errors import UsageError
from detaudit.judge.judge import judge
from detaudit.models.model import Labels
from detaudit.plain import to_plain
from detaudit.report import SECTIONS
from detaudit.spec import JudgeSpec
from detaudit.target_row import TargetRow
from tests.records import Call, Plan, always, by_run, floats, make_model, make_record

OFF = "cpu[opt=off]"


def test_targets_are_told_in_the_order_asked() -> None:
    report = judge(
        make_record({OFF: always(floats(1)), "cuda:0[use_tf32=0]": "no driver"}, Plan(runs=3))
    )
    assert report.targets[0] == TargetRow(
        name=OFF,
        kind="measured",
        status="ok",
        reason=None,
        is_reference=True,
        hardware="Abacus 9000",
        runs=12,
        plan=(3, 2, 2),
        requested={"opt": "off"},
        effective={"threads": 1},
        placement={"CPUExecutionProvider": 3},
        versions={"onnxruntime": "1.2.3"},
    )
    missing = report.targets[1]
    assert (missing.name, missing.status, missing.reason) == (
        "cuda:0[use_tf32=0]",
        "unavailable",
        "no driver",
    )
    assert (missing.runs, missing.is_reference, missing.hardware) == (0, False, "")


def test_facts_are_passed_on() -> None:
    record = make_record({"cpu": always(floats(1))}, Plan(processes=2, samples=2))
    report = judge(record)
    assert report.created == record.created
    assert report.environment == record.environment
    assert report.inputs["sha256"] == record.inputs_sha256
    assert report.inputs["source"] == "normal(0, 1)"
    assert [entry["sample"] for entry in report.inputs["arrays"]] == [0, 1]
    assert report.model["path"] == "hand.onnx"
    assert "graph" not in report.model
    assert report.seeding["parent"] == {"seed": 1}
    assert [p["process"] for p in report.seeding["targets"]["cpu"]] == [0, 1]
    assert not report.interrupted


def test_the_reference_is_the_first_unless_said_otherwise() -> None:
    record = make_record({"cpu": always(floats(1)), OFF: always(floats(2))})
    assert [row.target for row in judge(record).deviation] == [OFF]
    assert [row.target for row in judge(record, JudgeSpec(reference=OFF)).deviation] == ["cpu"]
    with pytest.raises(UsageError, match="the reference cuda:0 is none of the record's targets"):
        judge(record, JudgeSpec(reference="cuda:0"))


def test_a_record_can_be_judged_again_in_another_way() -> None:
    record = make_record({"cpu": always(floats(0, 1)), OFF: always(floats(1, 0))})
    assert judge(record).classes == ()
    again = dataclasses.replace(
        record.spec.judging, classes=(("y", -1),), labels=(("", ("a", "b")),), requirement="ulp=1"
    )
    report = judge(record, again)
    assert report.classes[-1].flips == 1
    assert [row.label for row in report.deviation] == [None, "a", "b"]
    assert report.verdict.met is False


@pytest.mark.parametrize(
    ("judging", "message"),
    [
        (JudgeSpec(labels=(("q", ("a",)),)), "the model has no output 'q'; it has: y"),
        (JudgeSpec(classes=(("q", -1),)), "the model has no output 'q'; it has: y"),
        (JudgeSpec(labels=(("y", ("a", "b", "c")),)), "3 labels do not fit output 'y'"),
        (JudgeSpec(classes=(("y", 4),)), "has no axis 4"),
        (JudgeSpec(requirement="best"), "unknown requirement 'best'"),
    ],
)
def test_what_cannot_be_judged(judging: JudgeSpec, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        judge(make_record({"cpu": always(floats(1, 2))}), judging)


def test_labels_of_the_model_name_the_rows() -> None:
    model = make_model("y", labels=(Labels("y", ("sad", "glad")),))
    report = judge(
        make_record({"cpu": always(floats(0, 1)), OFF: always(floats(0, 2))}, model=model)
    )
    assert [row.label for row in report.deviation] == [None, "sad", "glad"]
    assert {row.label for row in report.values} == {"sad", "glad"}
    assert [row.output for row in report.classes if row.reference != row.target] == ["y"]


def test_judging_is_repeatable() -> None:
    record = make_record({"cpu": by_run(floats(1), floats(2)), OFF: always(floats(3))})
    assert judge(record) == judge(record)


VALUES: list[Any] = [
    np.float32(1.5),
    floats(),
    floats(1, np.nan, -np.inf),
    np.zeros((2, 0, 3)),
    np.array([2**63 - 1, -(2**63)]),
    np.array([2**64 - 1], np.uint64),
    np.array([True, False]),
    np.array(["a", "ü"]),
    np.array("text"),
    np.array([1 + 2j]),
    np.float16([65504, -0.0]),
    None,
    [],
    [floats(1), floats(1, 2)],
    {"a": 1.0, "b": float("nan")},
    [{"a": 1.0}, {"b": [1, 2]}],
    [{"a": "x"}],
]


def pick(values: list[int], absent: int) -> Call:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        place = process + 2 * session + 3 * sample + 5 * run
        value = VALUES[values[place % len(values)]]
        return {"y": value} if place % 7 == absent else {"y": value, "z": floats(place % 2)}

    return call


@given(
    values=st.lists(
        st.tuples(
            st.lists(st.integers(0, len(VALUES) - 1), min_size=1, max_size=3), st.integers(0, 20)
        ),
        min_size=1,
        max_size=3,
    ),
    plan=st.builds(
        Plan,
        runs=st.integers(1, 3),
        sessions=st.integers(1, 2),
        processes=st.integers(1, 2),
        samples=st.integers(1, 2),
    ),
    requirement=st.sampled_from([None, "identical", "decimals=2", "max_abs=1", "flip-rate=0.5"]),
)
def test_whatever_a_model_gives_can_be_judged(
    values: list[tuple[list[int], int]], plan: Plan, requirement: str | None
) -> None:
    calls = [pick(*value) for value in values]
    targets = dict(zip(("cpu", OFF, "cuda:0"), calls, strict=False))
    report = judge(make_record(targets, plan, requirement=requirement))
    json.dumps(to_plain(report), allow_nan=False)
    for section in SECTIONS:
        report.frame(section)
    compared = [row for row in report.repeatability if row.comparisons]
    for row in report.repeatability:
        assert (row.identical is None) == (row.same_values is None) == (row not in compared)
    for row in compared:
        assert row.same_values or not row.identical
        assert (row.distinct == 1) == row.identical
        assert row.same_values or row.changed_share or row.structural or row.nan_pattern_changed
    for deviation in report.deviation:
        assert deviation.same_values or not deviation.identical
        if deviation.identical:
            assert not deviation.max_abs
            assert deviation.structural is None
    for rounding in report.rounding:
        assert 0 <= rounding.changed <= rounding.values
        assert rounding.changed <= rounding.values * rounding.changed_upper_bound + 1e-9
        assert 0 <= rounding.expected_share <= 1
        assert 0 <= rounding.at_risk_share <= 1
    for classes in report.classes:
        assert classes.flips + classes.ties <= classes.samples
    everything = [*compared, *report.deviation]
    if requirement == "identical":
        # What was not compared proves nothing.
        assert report.verdict.met is (bool(everything) and all(r.identical for r in everything))
