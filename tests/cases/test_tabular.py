"""K: double precision, as tabular models have it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from detaudit.cli import main
from tests import builders
from tests.cases.audits import all_identical, audit_quickly, message, only
from tests.cases.replay import in_one_session, replay


def test_an_operator_without_a_kernel_for_double(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """K2: the runtime's own words in one line, and exit code 3."""
    once = ["--runs", "2", "--sessions", "1", "--processes", "1", "--device", "cpu"]
    assert main([str(builders.double_conv(tmp_path)), *once, "--json", "-"]) == 3
    (target,) = json.loads(capfd.readouterr().out)["targets"]
    assert target["status"] == "failed"
    assert "Conv" in target["reason"]
    assert "\n" not in target["reason"]


def test_a_scaler_in_double(tmp_path: Path) -> None:
    """K3: double and float32 outputs of one model, each in its own type."""
    report = audit_quickly(builders.double_scaler(tmp_path), "cpu,cpu[opt=off]")
    assert all_identical(report)
    assert [output["dtype"] for output in report.model["outputs"]] == ["float64", "float32"]
    resolution = {row.output: row.resolution for row in report.decimals if row.target == "cpu"}
    assert resolution["y"] > resolution["z"]


@pytest.mark.parametrize(
    ("fine", "coarse", "step"),
    [
        ("float64", "float32", 2**-23),
        ("float64", "float16", 2**-10),
        ("float32", "float16", 2**-10),
    ],
)
def test_two_types_are_compared_in_the_coarser_one(fine: str, coarse: str, step: float) -> None:
    """K3: a value that was rounded to float32 is 0 units away from what it was, never millions."""
    values = np.array([1 / 3, 1 / 7, 123.456], fine)
    calls = {"cpu": in_one_session(values), "openvino": in_one_session(values.astype(coarse))}
    report = replay(calls)
    row = only(report.deviation)
    assert (row.identical, row.max_ulp, row.structural) == (False, 0, None)
    assert 0 < row.max_abs < 123.456 * step
    assert row.explanation is None
    assert f"type {coarse} against {fine}" in message(report, "type-differs")
    moved = np.array([1, 2, 4], coarse) * (1 + np.array(step, coarse))
    calls = {
        "cpu": in_one_session(np.array([1, 2, 4], fine)),
        "openvino": in_one_session(moved.astype(coarse)),
    }
    assert only(replay(calls).deviation).max_ulp == 1
