"""C, D1: one device against another, fed with saved results where the device is not at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from detaudit.audit import plan_audit
from detaudit.errors import UsageError
from detaudit.report import Report
from tests import builders
from tests.cases.audits import all_identical, audit_quickly, kinds, message, only
from tests.cases.replay import in_one_session, on_samples, replay
from tests.cases.runtimes import stand_in
from tests.runtime import normal

WRONG = "relative error near 1 is a mismatch, not drift"


def against_cpu(reference: object, other: object, **options: object) -> Report:
    return replay({"cpu": in_one_session(reference), "cuda:0": in_one_session(other)}, **options)


def test_a_long_sum_keeps_few_decimals() -> None:
    """C1: sums of 2304 terms of size one, moved as TF32 and another order move them."""
    values = 48 * normal(1, 256, 4, 4)
    report = against_cpu(values, values + np.float32(2e-4) * normal(1, 256, 4, 4, seed=1))
    row = only(report.deviation)
    assert row.max_ulp > 100
    assert row.changed_share > 0.9
    decimals = only(report.decimals, target="cuda:0", reference="cpu")
    assert decimals.agree == 2
    assert decimals.safe_1pct == 1
    changed = {r.decimals: r.changed for r in report.rounding if r.reference == "cpu"}
    assert changed[5] > changed[3] > changed[1]


def test_a_long_sum_is_moved_by_the_optimiser_too(tmp_path: Path) -> None:
    """C1: the recipe itself, as far as a CPU shows it: rounding, and no more than that."""
    report = audit_quickly(builders.wide_conv(tmp_path), "cpu[opt=off],cpu")
    row = only(report.deviation)
    assert row.rel_norm < 1e-5
    assert "unusual-size" not in kinds(report)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda y: -y,
        lambda y: np.zeros_like(y),
        lambda y: y[:, ::-1].copy(),
        lambda y: np.where(np.arange(y.size).reshape(y.shape) == 3, 2 * np.abs(y).max(), y),
    ],
    ids=["sign", "zeros", "reversed", "one"],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_wrong_result_is_no_rounding(
    spoil: Callable[[np.ndarray], np.ndarray], dtype: str
) -> None:
    """C2: a kernel that is wrong is called so, whether in all elements or in one."""
    values = normal(2, 50).astype(dtype)
    report = against_cpu(values, spoil(values).astype(dtype))
    assert only(report.deviation).explanation == WRONG
    assert WRONG in message(report, "unusual-size")


@pytest.mark.parametrize(("dtype", "steps"), [("float16", 3), ("float32", 40), ("float64", 40)])
def test_rounding_is_no_wrong_result(dtype: str, steps: int) -> None:
    """C2: a few units in the last place of the largest value have nothing to explain."""
    values = normal(2, 50).astype(dtype)
    unit = np.spacing(np.abs(values).max())
    report = against_cpu(values, (values + steps * unit).astype(dtype))
    assert not only(report.deviation).identical
    assert only(report.deviation).explanation is None
    assert "unusual-size" not in kinds(report)


@pytest.mark.parametrize(
    ("dtype", "unit"), [("float16", 2**-10), ("float32", 2**-23), ("float64", 2**-52)]
)
def test_units_are_those_of_the_output(dtype: str, unit: float) -> None:
    """C6: one step of float16 is 8192 of float32, and never told as such."""
    values = np.array([1, 1.5], dtype)
    row = only(against_cpu(values, (values + 2 * unit).astype(dtype)).deviation)
    assert (row.max_ulp, row.max_abs) == (2, 2 * unit)


def test_a_model_in_sixteen_bits_is_named(tmp_path: Path) -> None:
    """C6, C7: since a CPU may compute it in float32 behind casts."""
    report = audit_quickly(builders.fp16_matmul(tmp_path), "cpu[opt=off],cpu")
    assert report.model["low_precision"] is True
    assert "16 bits" in message(report, "low-precision")
    assert only(report.deviation).max_ulp in (0, 1)
    assert {output["dtype"] for output in report.model["outputs"]} == {"float16"}


def test_an_ordinary_model_is_not(tmp_path: Path) -> None:
    """C6: the note is for models that need it."""
    assert "low-precision" not in kinds(audit_quickly(builders.classifier(tmp_path)))


def test_the_order_of_a_tie_is_no_drift() -> None:
    """C10: TopK of [3, 2, 3, 2, 1, 1], whose indices another device gives in another order."""
    values = np.float32([[3, 3]])
    report = against_cpu(
        {"values": values, "indices": np.array([[0, 2]])},
        {"values": values, "indices": np.array([[2, 0]])},
    )
    assert only(report.deviation, output="values").identical
    assert not only(report.deviation, output="indices").identical
    assert "tie" in message(report, "tied-indices", output="indices")


def test_the_runtime_gives_a_tie_to_the_lower_index(tmp_path: Path) -> None:
    """C10: as the standard says."""
    values = tmp_path / "x.npy"
    np.save(values, np.float32([[3, 2, 3, 2, 1, 1]]))
    report = audit_quickly(builders.topk(tmp_path), inputs={"x": f"@{values}"})
    indices = [row.value for row in report.values if row.output == "indices" and row.run == 0]
    assert indices == [0, 2]


def test_other_indices_without_a_tie_are_drift() -> None:
    """C10: where the values differ, the index tells something."""
    report = against_cpu(
        {"values": np.float32([[3, 2]]), "indices": np.array([[0, 1]])},
        {"values": np.float32([[3, 2]]), "indices": np.array([[0, 5]])},
    )
    assert "tied-indices" not in kinds(report)


def test_a_device_of_torch_is_refused_for_an_onnx_model() -> None:
    """C11: a model of torch may name it, see the cases of torch."""
    with pytest.raises(UsageError, match=r"mps is a device of torch.* devices are: cpu, cuda"):
        plan_audit("model.onnx", "mps")


@pytest.mark.parametrize("device", ["mps:0", "tpu", "xpu"])
def test_devices_of_others_are_refused_clearly(device: str) -> None:
    """C11: before anything runs, with the known ones."""
    with pytest.raises(UsageError, match=f"unknown device '{device}'; known devices: cpu, cuda"):
        plan_audit("model.onnx", device)


def test_steps_of_a_sequence_flip_one_by_one() -> None:
    """C13: [T, C] scores of a text recogniser in which '0' and 'O' are 1e-4 apart."""
    scores = np.zeros((5, 3), np.float32)
    scores[:, 0] = 4
    scores[3] = (4, 4 - 1e-4, 0)
    moved = scores.copy()
    moved[3, 1] += 2e-4
    logits = {"score_outputs": ("logits",)}
    report = replay(
        {
            "cpu": on_samples(*[{"logits": scores}] * 4),
            "cuda:0": on_samples(*[{"logits": scores}] * 3, {"logits": moved}),
        },
        logits,
    )
    row = only(report.classes, target="cuda:0")
    assert (row.samples, row.flips) == (20, 1)
    assert row.min_margin == pytest.approx(1e-4, rel=1e-2)
    assert row.max_margin_shift == pytest.approx(2e-4, rel=1e-2)
    assert row.at_risk >= 1
    # One of four texts changed, not one of twenty independent steps.
    assert 0.5 < row.flip_upper_bound < 1
    assert "1 of 20 predicted classes change" in message(report, "class-flips")


def test_margins_below_the_shift_are_at_risk_before_any_flip() -> None:
    """C13: close calls are told although nothing flipped."""
    scores = np.float32([[1, 1 - 1e-4, 0], [3, 0, 0]])
    report = against_cpu(
        {"logits": scores},
        {"logits": scores + np.float32([[2e-4, 2e-4, 0], [0, 0, 0]])},
        facts={"score_outputs": ("logits",)},
    )
    row = only(report.classes, target="cuda:0")
    assert row.flips == 0
    moved_apart = against_cpu(
        {"logits": scores},
        {"logits": scores + np.float32([[2e-4, 0, 0], [0, 0, 0]])},
        facts={"score_outputs": ("logits",)},
    )
    row = only(moved_apart.classes, target="cuda:0")
    assert (row.flips, row.at_risk) == (0, 1)


@pytest.mark.parametrize(
    "tokens",
    [
        (np.array([[7, 8, 9]]), np.array([[7, 8, 9, 2]])),
        (np.array([7, 8]), np.array([], np.int64)),
    ],
    ids=["longer", "nothing"],
)
def test_texts_of_other_length_are_another_structure(tokens: tuple[np.ndarray, ...]) -> None:
    """C14: like and liked, run to run and device to device."""
    a, b = ({"tokens": value} for value in tokens)
    report = replay({"cuda:0": in_one_session(a, b), "cpu": in_one_session(b, b)})
    run = only(report.repeatability, target="cuda:0", scope="run")
    assert not run.identical
    assert run.structural == f"shape {tokens[0].shape} against {tokens[1].shape}"
    assert only(report.deviation).structural
    assert {"structure-varies", "structure-differs"} <= kinds(report)
    assert not any(row.target == "cpu" for row in report.findings if row.kind == "structure-varies")


def test_a_list_of_another_length_is_another_structure() -> None:
    """C14: lists of texts, too, whichever side has more."""
    one, two = [np.float32([1])], [np.float32([1]), np.float32([2])]
    for reference, other in ((one, two), (two, one)):
        report = against_cpu(reference, other, requirement="max_abs=100")
        assert only(report.deviation, output="len(y)").max_abs == 1
        assert only(report.deviation, output="y[0]").identical
        assert only(report.deviation, output="y[1]").structural
        assert report.verdict.met is False


def test_tf32_and_its_variable_are_recorded(tmp_path: Path) -> None:
    """D1: the option of the session, and the variable of the process."""
    devices = [
        stand_in("cuda:0"),
        stand_in("cuda:0", "use_tf32=0"),
        stand_in("cuda:0", "env.NVIDIA_TF32_OVERRIDE=0"),
    ]
    report = audit_quickly(builders.identity(tmp_path), ",".join(devices), variants="none")
    given = [row.effective["provider_options"]["CUDAExecutionProvider"] for row in report.targets]
    assert [options.get("use_tf32") for options in given] == [None, "0", None]
    variable = [row.requested.get("env.NVIDIA_TF32_OVERRIDE") for row in report.targets]
    assert variable == [None, None, "0"]


def test_a_cuda_device_brings_its_variants(tmp_path: Path) -> None:
    """D1, A2: without being asked, unless told not to."""
    devices = stand_in("cuda:0", STEP="1e-3", VARIES="session")
    report = audit_quickly(builders.identity(tmp_path), devices, sessions=2)
    asked = [row.requested for row in report.targets]
    assert [(a.get("cudnn_conv_algo_search"), a.get("use_tf32")) for a in asked] == [
        (None, None),
        ("DEFAULT", None),
        (None, "0"),
    ]
    scopes = {(row.scope, row.identical) for row in report.repeatability}
    assert {("run", True), ("session", False)} <= scopes
    told = [finding for finding in report.findings if finding.kind == "session-drift"]
    assert len(told) == 3
    assert all("cudnn_conv_algo_search=DEFAULT" in finding.message for finding in told)


def test_the_same_bits_everywhere_are_told_so(tmp_path: Path) -> None:
    """C: nothing is found where there is nothing."""
    report = audit_quickly(
        builders.identity(tmp_path), f"{stand_in('cpu')},{stand_in('cuda:0')}", variants="none"
    )
    assert all_identical(report)
    assert not kinds(report)
