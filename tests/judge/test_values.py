from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.judge.judge import judge
from detaudit.rows import Value
from tests.records import Call, Plan, always, by_run, floats, make_record


def values(call: Call, plan: Plan | None = None, **options: Any) -> list[Value]:
    return list(judge(make_record({"cpu": call}, plan, **options)).values)


def test_every_run_has_its_values() -> None:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, np.ndarray]:
        return {"y": floats(100 * process + 10 * session + run, -1)}

    plan = Plan(runs=2, sessions=2, processes=2)
    found = values(call, plan, labels=(("y", ("a", "b")),))
    assert found[:3] == [
        Value("cpu", "y", "a", 0, 0, 0, 0, 0.0),
        Value("cpu", "y", "b", 0, 0, 0, 0, -1.0),
        Value("cpu", "y", "a", 0, 0, 0, 1, 1.0),
    ]
    assert [row.value for row in found if row.label == "a"] == [0, 1, 10, 11, 100, 101, 110, 111]
    assert len(found) == 16


def test_only_the_first_sample_is_listed() -> None:
    assert {row.sample for row in values(always(floats(1)), Plan(samples=3))} == {0}


@pytest.mark.parametrize(
    ("value", "labels", "expected"),
    [
        (np.float32(1), (), [""]),
        (floats(1, 2), (), ["0", "1"]),
        (np.float32([[1, 2]]), (), ["0,0", "0,1"]),
        (np.float32([[1, 2]]), ("a", "b"), ["a", "b"]),
        (np.float32([[1, 2], [3, 4]]), ("a", "b"), ["a [0]", "b [0]", "a [1]", "b [1]"]),
        (np.float32([[[1, 2]], [[3, 4]]]), ("a", "b"), ["a [0]", "b [0]", "a [1]", "b [1]"]),
        (np.float32([[1], [2], [3]]), ("a", "b", "c"), ["a", "b", "c"]),
    ],
)
def test_labels_are_told_with_their_place(
    value: np.ndarray, labels: tuple[str, ...], expected: list[str]
) -> None:
    options = {"labels": (("y", labels),)} if labels else {}
    found = values(always(value), Plan(runs=1, sessions=1, processes=1), **options)
    assert [row.label for row in found] == expected


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (np.zeros(32), 32),
        (np.zeros(33), 0),
        (np.zeros(0), 0),
        (np.array([True]), 1),
        (np.array([2**60]), 1),
        (np.array(["a"]), 0),
        (np.array([1j]), 0),
    ],
)
def test_only_few_numbers_are_listed(value: np.ndarray, count: int) -> None:
    found = values(always(value), Plan(runs=1, sessions=1, processes=1))
    assert len(found) == count
    assert [row.value for row in found] == value.tolist()[:count]


def test_results_of_another_shape_are_left_out() -> None:
    found = values(by_run(floats(1), floats(1, 2)), Plan(runs=2, sessions=1, processes=1))
    assert [(row.run, row.value) for row in found] == [(0, 1.0)]


def test_absent_results_are_left_out() -> None:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, np.ndarray]:
        return {"x": floats(1)} if run == 1 else {"x": floats(1), "y": floats(2)}

    found = values(call, Plan(runs=3, sessions=1, processes=1))
    assert [row.run for row in found if row.output == "y"] == [0, 2]
