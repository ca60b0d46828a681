"""L, fact 9: no result is a view of memory that the next run overwrites."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from detaudit.record import array_key
from tests import builders
from tests.cases.audits import audit_quickly, capture_quickly, only
from tests.cases.runtimes import stand_in


def test_later_results_leave_earlier_ones_alone(tmp_path: Path) -> None:
    """L1, fact 9: ``x + x`` of each sample is the double of that sample, not of the last."""
    record = capture_quickly(
        builders.same_pass_twice(tmp_path), samples=3, runs=2, shapes={"n": "8"}
    )
    target = record.targets[0]
    results = [record.arrays[array_key(0, sample, 0, 0)] for sample in range(3)]
    assert len({result.tobytes() for result in results}) == 3
    assert [len(outcomes.digests) for outcomes in target.outcomes] == [1, 1, 1]
    x = tmp_path / "x.npy"
    for value in (1, 2):
        np.save(x, np.full(8, value, np.float32))
        once = capture_quickly(builders.same_pass_twice(tmp_path), inputs={"x": f"@{x}"})
        assert once.arrays[array_key(0, 0, 0, 0)].tolist() == [2.0 * value] * 8


def test_runs_that_differ_are_kept_apart(tmp_path: Path) -> None:
    """L1: each of the values told run by run is that of its own run."""
    report = audit_quickly(
        builders.identity(tmp_path),
        stand_in("cpu", VARIES="run", STEP="1"),
        runs=4,
        inputs={"x": "zeros"},
    )
    told = [row.value for row in report.values if row.label == "0,0"]
    assert told == [1, 2, 3, 4]
    row = only(report.repeatability, scope="run")
    assert (row.distinct, row.max_abs) == (4, 3)


def test_outputs_of_open_shape_are_not_bound_beforehand(tmp_path: Path) -> None:
    """L3: samples of other lengths each give theirs."""
    record = capture_quickly(
        builders.nonzero(tmp_path), runs=3, samples=6, inputs={"x": "uniform:-1:1"}
    )
    assert record.targets[0].status == "ok"
    report = audit_quickly(builders.nonzero(tmp_path), runs=3, inputs={"x": "ones"})
    assert [row.value for row in report.values if row.run == 2] == [0, 1, 2, 3]
