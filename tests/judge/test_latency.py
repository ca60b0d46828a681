from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.judge.grid import Grid
from detaudit.judge.judge import judge
from detaudit.judge.latency import judge_latency
from detaudit.record import ProcessFacts, TargetRecord
from detaudit.rows import Latency
from detaudit.target import parse_target
from tests.records import Plan, always, floats, make_record


def make(seconds: Any, sessions: tuple[float, ...] = (0.5,)) -> Latency:
    target = TargetRecord(parse_target("cpu"), processes=(ProcessFacts(0, sessions, {}, {}),))
    return judge_latency(Grid(0, target, np.array(seconds, float), np.zeros(0)))


def test_the_first_call_of_every_session_is_told_apart() -> None:
    row = make([[[[9, 1, 2]], [[7, 3, 4]]]], sessions=(0.5, 1.5))
    assert row == Latency("cpu", 6, 1.0, 8.0, 2.5, pytest.approx(3.7))  # type: ignore[arg-type]


def test_later_samples_are_later_calls() -> None:
    row = make([[[[9, 1], [2, 3]]]])
    assert (row.first_seconds, row.median_seconds) == (9, 2)


def test_a_single_call_is_first_and_last() -> None:
    row = make([[[[4]]]])
    assert (row.calls, row.first_seconds, row.median_seconds, row.p90_seconds) == (1, 4, 4, 4)


def test_every_target_that_ran_has_a_row() -> None:
    record = make_record({"cpu": always(floats(1)), "cuda:0": "no driver"}, Plan(sessions=2))
    (row,) = judge(record).latency
    assert row == Latency("cpu", 16, 1.0, 0.25, 0.125, 0.125)
