"""B1, fact 3: the one operator that drifts on a CPU, and how honest few repeats are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from detaudit.report import Report
from tests import builders
from tests.builders.graphs import value, write
from tests.cases.audits import audit_quickly, kinds, message, only

TRIES = 25
"""Audits of 200 runs each; the rate swings with the load between 2 in 40 and nearly all."""


def scatter_integers(folder: Path) -> Path:
    """Build the sum over duplicate indices in int64."""
    random = np.random.RandomState(0)
    weights = {
        "indices": random.randint(0, 16, (20_000, 1)).astype(np.int64),
        "updates": random.randint(-9, 10, (20_000, 64)).astype(np.int64),
    }
    node = helper.make_node("ScatterND", ["x", "indices", "updates"], ["y"], reduction="add")
    shape, kind = (16, 64), TensorProto.INT64
    return write(
        folder / "scatter_integers.onnx",
        [node],
        [value("x", shape, kind)],
        [value("y", shape, kind)],
        weights,
        opset=18,
    )


@pytest.fixture(scope="module")
def drifting(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The first of some audits on four threads that sees the drift."""
    model = builders.scatter_add_duplicates(tmp_path_factory.mktemp("scatter"))
    for _ in range(TRIES):
        report = audit_quickly(model, "cpu[threads=4]", runs=200)
        if not only(report.repeatability, scope="run").identical:
            return report
    pytest.skip(f"no drift seen in {TRIES * 200} runs on this machine, which proves nothing")


def test_drift_is_found_by_enough_runs(drifting: Report) -> None:
    """B1: found, measured, and the thread count is what to try."""
    run = only(drifting.repeatability, scope="run")
    assert run.distinct > 1
    # Threads also overwrite each other's sums, so that the size has no small bound.
    assert run.max_abs > 0
    assert 0 < run.changed_share <= 1
    assert run.instability_upper_bound is None
    assert "threads=1" in message(drifting, only_drift(drifting))
    assert "differ" in drifting.verdict.sentence


def only_drift(report: Report) -> str:
    (kind,) = kinds(report) & {"run-drift", "first-run-differs"}
    return kind


@pytest.mark.parametrize("build", [builders.scatter_add_duplicates, scatter_integers])
def test_one_thread_shows_none_and_says_no_more_than_that(
    tmp_path: Path, build: Callable[[Path], Path]
) -> None:
    """B1: no difference seen, with its bound, and never the word deterministic."""
    report = audit_quickly(build(tmp_path), "cpu[threads=1]", runs=40, sessions=2, processes=2)
    assert all(row.identical for row in report.repeatability if row.comparisons)
    bounds = {row.scope: row.instability_upper_bound for row in report.repeatability}
    # 40 runs in each of 4 sessions; 2 sessions in each of 2 processes; 2 processes.
    assert bounds["run"] == pytest.approx(1 - 0.05 ** (1 / (4 * 39)))
    assert bounds["session"] == pytest.approx(1 - 0.05 ** (1 / 2))
    assert bounds["process"] == pytest.approx(0.95)
    sentence = report.verdict.sentence
    assert "no difference was seen in 160 runs" in sentence
    assert "95 % confidence" in sentence
    assert "deterministic" not in sentence.lower()


def test_integers_are_measured_too(tmp_path: Path) -> None:
    """B1: no order changes a sum of int64, but lost sums do; a difference is a whole number."""
    report = audit_quickly(scatter_integers(tmp_path), "cpu[threads=4]", runs=100)
    run = only(report.repeatability, scope="run")
    assert run.identical == (run.distinct == 1) == (run.max_abs == 0)
    assert isinstance(run.max_abs, int) or run.identical
    assert run.max_ulp is None


def test_the_deterministic_mode_is_measured_not_believed(tmp_path: Path) -> None:
    """B1, fact 3: the option is in force, and what it promises is left to the runs."""
    model = builders.scatter_add_duplicates(tmp_path)
    report = audit_quickly(model, "cpu[deterministic=1,threads=4]", runs=40)
    (target,) = report.targets
    assert target.effective["deterministic"] is True
    run = only(report.repeatability, scope="run")
    assert run.identical == (run.distinct == 1)
    assert "deterministic" not in report.verdict.sentence.replace(target.name, "")
