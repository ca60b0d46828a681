from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.judge.judge import judge
from detaudit.rows import Repeatability
from tests.records import Call, Plan, always, by_run, floats, make_record

A, B = floats(1, 2), floats(1, 2.5)


def rows(call: Call, plan: Plan | None = None) -> dict[str, Repeatability]:
    report = judge(make_record({"cpu": call}, plan))
    return {row.scope: row for row in report.repeatability}


def test_a_steady_model() -> None:
    found = rows(always(A), Plan(runs=10, sessions=2, processes=2))
    assert found["run"] == Repeatability(
        target="cpu",
        output="y",
        scope="run",
        comparisons=36,
        units=10,
        distinct=1,
        identical=True,
        same_values=True,
        modal_share=1.0,
        instability_upper_bound=pytest.approx(1 - 0.05 ** (1 / 36)),  # type: ignore[arg-type]
        confidence=0.95,
        max_abs=0.0,
        mean_abs=0.0,
        max_ulp=None,
        changed_share=0.0,
        first_run_differs=False,
        nan_pattern_changed=False,
        structural=None,
    )
    assert (found["session"].comparisons, found["session"].units) == (2, 2)
    assert (found["process"].comparisons, found["process"].units) == (1, 2)
    assert found["process"].instability_upper_bound == pytest.approx(0.95)
    assert all(row.identical for row in found.values())


def test_one_run_of_each_supports_nothing() -> None:
    for row in rows(always(A), Plan(runs=1, sessions=1, processes=1)).values():
        assert (row.comparisons, row.units) == (0, 1)
        assert row.instability_upper_bound is None


def test_the_first_run_differs_from_the_rest() -> None:
    found = rows(by_run(A, B))
    assert found["run"] == Repeatability(
        target="cpu",
        output="y",
        scope="run",
        comparisons=12,
        units=4,
        distinct=2,
        identical=False,
        same_values=False,
        modal_share=0.75,
        instability_upper_bound=None,
        confidence=0.95,
        max_abs=0.5,
        mean_abs=0.25,
        max_ulp=2**21,
        changed_share=0.5,
        first_run_differs=True,
        nan_pattern_changed=False,
        structural=None,
    )
    assert found["session"].identical
    assert found["process"].identical


def test_each_scope_sees_its_own_drift() -> None:
    steady = {"run": True, "session": True, "process": True}
    for scope, call in {
        "run": by_run(A, A, B, A),
        "session": lambda _p, session, *_: {"y": B if session else A},
        "process": lambda process, *_: {"y": B if process else A},
    }.items():
        found = {name: row.identical for name, row in rows(call).items()}
        assert found == {**steady, scope: False}


def test_the_sign_of_zero_is_no_other_value() -> None:
    row = rows(by_run(floats(0.0), floats(-0.0)))["run"]
    assert (row.identical, row.same_values) == (False, True)
    assert (row.max_abs, row.max_ulp, row.changed_share) == (0, 0, 0)


def test_what_a_nan_carries_is_no_other_value() -> None:
    one, other = (np.array([bits], np.uint32).view(np.float32) for bits in (0x7FC00000, 0x7FC00001))
    row = rows(by_run(one, other))["run"]
    assert (row.identical, row.same_values, row.nan_pattern_changed) == (False, True, False)


def test_a_nan_that_appears_is_a_change_of_no_size() -> None:
    row = rows(by_run(floats(1, 2), floats(np.nan, 2)))["run"]
    assert (row.same_values, row.nan_pattern_changed) == (False, True)
    assert row.max_abs == 0
    assert row.changed_share == 0.5
    row = rows(by_run(floats(1), floats(np.nan)))["run"]
    assert row.max_abs is None
    assert row.nan_pattern_changed


@pytest.mark.parametrize(
    ("one", "other", "max_abs", "max_ulp", "share"),
    [
        (np.array(["a", "b"]), np.array(["a", "c"]), None, None, 0.5),
        (np.array([True, False]), np.array([True, True]), None, None, 0.5),
        (np.array([1, 2]), np.array([1, 5]), 3, None, 0.5),
        (np.array([2**53], np.int64), np.array([2**53 + 1], np.int64), 1, None, 1.0),
        (np.array([1], np.uint8), np.array([255], np.uint8), 254, None, 1.0),
        (
            np.array([2**63 - 1], np.int64),
            np.array([-(2**63)], np.int64),
            2**64 - 1,
            None,
            1.0,
        ),
        (np.float16([1]), np.float16([1 + 2**-10]), 2**-10, 1, 1.0),
        (np.float64([1]), np.float64([1 + 2**-52]), 2**-52, 1, 1.0),
    ],
)
def test_every_type(
    one: np.ndarray, other: np.ndarray, max_abs: Any, max_ulp: int | None, share: float
) -> None:
    row = rows(by_run(one, other))["run"]
    assert not row.identical
    assert not row.same_values
    assert (row.max_abs, row.max_ulp, row.changed_share) == (max_abs, max_ulp, share)


def test_shapes_that_change_have_no_distance() -> None:
    row = rows(by_run(floats(1), floats(1, 2)))["run"]
    assert row.structural == "shape (1,) against (2,)"
    assert not row.same_values
    assert not row.identical


@pytest.mark.parametrize(
    "absent",
    [
        lambda _p, _s, run: run == 0,
        lambda _p, _s, run: run == 3,
        lambda process, _s, _r: process == 0,
        lambda process, _s, _r: process == 1,
    ],
)
def test_an_output_that_comes_and_goes_is_no_same_value(absent: Any) -> None:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"y": A} if absent(process, session, run) else {"y": A, "z": A}

    report = judge(make_record({"cpu": call}))
    varying = [row for row in report.repeatability if not row.identical]
    assert {row.output for row in varying} == {"z"}
    for row in varying:
        assert row.structural == "the output was absent in some runs"
        assert not row.same_values


def test_the_confidence_is_that_asked_for() -> None:
    record = make_record({"cpu": always(A)}, Plan(processes=11), confidence=0.99)
    row = next(r for r in judge(record).repeatability if r.scope == "process")
    assert row.confidence == 0.99
    assert row.instability_upper_bound == pytest.approx(1 - 0.01 ** (1 / 10))
