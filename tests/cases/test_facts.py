"""Section 0: facts of the runtime and of NumPy that a wrong design trips over.

Facts 1, 2 and 10 are in test_random, 3 in test_scatter, 5 in test_outputs, 9 in test_iobinding.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from detaudit.cli import main
from tests import builders
from tests.cases.audits import audit_quickly, kinds, only, statuses
from tests.cases.replay import in_one_session, on_samples, replay

UNKNOWN_PROVIDER = "ep:MadeUpExecutionProvider"


def test_asking_for_cuda_never_certifies_the_cpu(tmp_path: Path) -> None:
    """Fact 4, F2: the runtime only warns, and runs on the CPU."""
    report = audit_quickly(builders.classifier(tmp_path), "cpu,cuda:0")
    assert set(statuses(report).values()) == {"ok", "unavailable"}
    assert statuses(report)["cpu"] == "ok"
    for row in report.targets[1:]:
        assert row.reason
        assert row.runs == 0
    assert {row.target for row in report.repeatability} == {"cpu"}
    assert not report.deviation
    assert set(report.verdict.untested) == {row.name for row in report.targets[1:]}
    assert "Not audited: cuda:0" in report.verdict.sentence


@pytest.mark.parametrize("device", ["cuda:0", UNKNOWN_PROVIDER])
def test_a_target_that_did_not_run_alone_is_no_clean_result(tmp_path: Path, device: str) -> None:
    """Fact 4, F2: even when nothing else was asked, and whatever was required."""
    report = audit_quickly(
        builders.classifier(tmp_path), device, variants="none", require="identical"
    )
    assert statuses(report) == {device: "unavailable"}
    assert not report.repeatability
    assert report.verdict.met is False


def test_a_provider_that_nobody_knows_leaves_stdout_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Fact 4: the runtime prints a banner to stdout, where JSON has to stay JSON."""
    model = str(builders.classifier(tmp_path))
    once = ["--runs", "2", "--sessions", "1", "--processes", "1"]
    code = main([model, "--device", f"cpu,{UNKNOWN_PROVIDER}", "--json", "-", "--quiet", *once])
    told = json.loads(capfd.readouterr().out)
    assert code == 3
    assert [target["status"] for target in told["targets"]] == ["ok", "unavailable"]
    assert UNKNOWN_PROVIDER.removeprefix("ep:") in told["targets"][1]["reason"]


@pytest.mark.parametrize(
    ("dtype", "a", "b", "distance"),
    [
        ("uint8", 1, 2, 1),
        ("uint8", 0, 255, 255),
        ("int8", -128, 127, 255),
        ("uint16", 0, 65535, 65535),
        ("int16", -32768, 32767, 65535),
        ("uint32", 0, 2**32 - 1, 2**32 - 1),
        ("int32", -(2**31), 2**31 - 1, 2**32 - 1),
        ("uint64", 0, 2**64 - 1, 2**64 - 1),
        ("int64", -(2**63), 2**63 - 1, 2**64 - 1),
        ("int64", 2**53, 2**53 + 1, 1),
    ],
)
def test_integers_never_wrap(dtype: str, a: int, b: int, distance: int) -> None:
    """Fact 6: between targets and between runs, in both directions."""
    x, y = np.array([a], dtype), np.array([b], dtype)
    for reference, other in ((x, y), (y, x)):
        report = replay({"cpu": in_one_session(reference), "openvino": in_one_session(other)})
        row = only(report.deviation)
        assert (row.identical, row.max_abs, row.max_ulp) == (False, distance, None)
    repeated = only(replay({"cpu": in_one_session(x, y)}).repeatability, scope="run")
    assert (repeated.identical, repeated.max_abs) == (False, distance)


def test_booleans_only_change() -> None:
    """Fact 6: NumPy refuses to subtract them."""
    x, y = np.array([True, False, True, True]), np.array([True, True, True, True])
    row = only(replay({"cpu": in_one_session(x), "openvino": in_one_session(y)}).deviation)
    assert (row.identical, row.changed_share, row.max_abs) == (False, 0.25, None)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_sign_of_zero_is_a_class_of_its_own(dtype: str) -> None:
    """Fact 7: equal values in other bits are neither identical nor drift of values."""
    x, y = np.array([0.0, 1.0], dtype), np.array([-0.0, 1.0], dtype)
    report = replay({"cpu": in_one_session(x, y), "openvino": in_one_session(y, y)})
    row = only(report.deviation)
    assert (row.identical, row.same_values, row.max_abs, row.changed_share) == (False, True, 0, 0)
    run = only(report.repeatability, target="cpu", scope="run")
    assert (run.identical, run.same_values, run.max_abs, run.max_ulp) == (False, True, 0, 0)
    assert not any(row.changed for row in report.rounding)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_nan_payload_is_a_class_of_its_own(dtype: str) -> None:
    """Fact 7: so is what a NaN carries besides being one."""
    x = np.array([np.nan, 1.0], dtype)
    y = x.copy()
    y.view(f"uint{8 * y.itemsize}")[:1] += 1
    report = replay({"cpu": in_one_session(x), "openvino": in_one_session(y)})
    row = only(report.deviation)
    assert (row.identical, row.same_values, row.nan_pattern_changed) == (False, True, False)


def test_scores_with_nan_have_no_class() -> None:
    """Fact 8: ONNX skips a NaN, NumPy returns its place; neither is a class to rely on."""
    scores = {"score_outputs": ("logits",)}
    whole, spoiled = np.float32([[1, 3, 2]]), np.float32([[1, np.nan, 2]])
    report = replay(
        {
            "cpu": on_samples({"logits": whole}, {"logits": spoiled}),
            "openvino": on_samples({"logits": whole}, {"logits": spoiled}),
        },
        scores,
    )
    row = only(report.classes, target="openvino")
    assert (row.samples, row.no_class, row.flips) == (2, 1, 0)
    assert "no-class" in kinds(report)


def test_a_class_lost_to_nan_is_told() -> None:
    """Fact 8: a score that becomes NaN takes the class away."""
    whole, spoiled = np.float32([[1, 3, 2]]), np.float32([[1, np.nan, 2]])
    report = replay(
        {"cpu": in_one_session({"logits": whole}), "openvino": in_one_session({"logits": spoiled})},
        {"score_outputs": ("logits",)},
        requirement="no-class-flip",
    )
    row = only(report.classes, target="openvino")
    assert (row.no_class, row.flips, row.flip_upper_bound) == (1, 1, 1.0)
    assert "1 of 1 classes of logits changed" in report.verdict.sentence
    assert {"no-class", "nan-differs"} <= kinds(report)
    assert report.verdict.met is False


def test_arg_max_of_the_runtime_is_an_integer_output_like_any_other(tmp_path: Path) -> None:
    """Fact 8: run on NaN, it is audited as what it is."""
    values = tmp_path / "x.npy"
    np.save(values, np.float32([[1, np.nan, 2]]))
    report = audit_quickly(builders.argmax(tmp_path), inputs={"x": f"@{values}"})
    assert only(report.repeatability, scope="run").identical
    assert only(report.values, run=1).value == 2
