"""E: threads, batch, optimiser level, machines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from tests import builders
from tests.builders.graphs import draw, value, write
from tests.cases.audits import all_identical, audit_quickly, kinds, message, only, statuses
from tests.cases.replay import in_one_session, in_processes, replay

LEVELS = "cpu[opt=off],cpu[opt=basic],cpu[opt=extended],cpu"


def test_two_machines_and_what_they_print() -> None:
    """E1: -1.8208287 and -1.8208290 print alike at 6 decimals and not at 7."""
    mine, theirs = np.float32([-1.8208287]), np.float32([-1.8208290])
    report = replay({"cpu": in_one_session(mine), "openvino": in_one_session(theirs)})
    row = only(report.deviation)
    # The only floats that print so lie three steps apart, not the two that the report gives.
    assert (row.max_ulp, row.max_abs) == (3, 3 * 2**-23)
    assert row.explanation is None
    changed = {r.decimals: r.changed for r in report.rounding if r.target == "openvino"}
    assert changed == {**dict.fromkeys(range(7), 0), 7: 1}
    assert only(report.decimals, target="openvino", reference="cpu").agree == 6


def test_two_machines_under_a_requirement() -> None:
    """E1: 6 decimals are met, 7 are not."""
    mine, theirs = np.float32([-1.8208287]), np.float32([-1.8208290])
    calls = {"cpu": in_one_session(mine), "openvino": in_one_session(theirs)}
    met = {k: replay(calls, requirement=f"decimals={k}").verdict.met for k in (6, 7)}
    assert met == {6: True, 7: False}


@pytest.mark.modern
def test_a_fused_integer_kernel_rounds_once(tmp_path: Path) -> None:
    """E4: few elements move, by one whole step, and no TF32 is suspected."""
    report = audit_quickly(builders.qdq_conv(tmp_path), LEVELS)
    rows = {row.target: row for row in report.deviation}
    assert rows["cpu[opt=basic]"].identical
    for level in ("cpu[opt=extended]", "cpu"):
        row = rows[level]
        assert row.max_abs == pytest.approx(0.2, abs=1e-6)
        changed = round(row.changed_share * row.elements)
        assert 1 <= changed <= 8
        told = message(report, "unusual-size", target=level)
        assert told.startswith(f"{changed} of {row.elements} values are up to 2.0e-01 off")
        assert "quantised" in told
        assert "TF32" not in told
    assert report.model["quantised"] is True
    assert all(row.identical for row in report.repeatability if row.comparisons)


@pytest.mark.parametrize(
    ("name", "words", "moves", "largest"),
    [
        ("conv_batchnorm", "normal", "cpu[opt=basic]", 1e-3),
        ("decomposed_gelu", "normal", "cpu[opt=extended]", 1e-5),
        # Older runtimes lose far more in the fused form.
        pytest.param(
            *("decomposed_layernorm", "normal:1000:1", "cpu[opt=extended]", 1e-2),
            marks=pytest.mark.modern,
        ),
    ],
)
def test_the_optimiser_moves_float32_by_rounding(
    tmp_path: Path, name: str, words: str, moves: str, largest: float
) -> None:
    """E5: by the level that fuses, while every level repeats itself."""
    model = getattr(builders, name)(tmp_path)
    report = audit_quickly(model, LEVELS, inputs={"x": words}, shapes={"n": "4"})
    row = only(report.deviation, target=moves)
    assert not row.identical
    assert 0 < row.max_abs < largest
    assert row.explanation != "relative error near 1 is a mismatch, not drift"
    assert all(r.identical for r in report.repeatability if r.comparisons)
    assert row.worst.value != row.worst.reference_value


def test_options_in_force_are_told(tmp_path: Path) -> None:
    """E6: as the session reports them."""
    device = "cpu[deterministic=1,mem_pattern=0,opt=basic,threads=2]"
    (target,) = audit_quickly(builders.classifier(tmp_path), device).targets
    expected = {"threads": 2, "opt": "basic", "execution": "sequential"}
    assert expected.items() <= target.effective.items()
    assert (target.effective["mem_pattern"], target.effective["deterministic"]) == (False, True)


@pytest.mark.parametrize(
    ("device", "moot"),
    [
        ("cpu[inter_threads=2]", True),
        ("cpu[execution=parallel,inter_threads=2]", False),
        ("cpu[threads=2]", False),
    ],
)
def test_threads_between_operators_are_moot_in_sequence(
    tmp_path: Path, device: str, moot: bool
) -> None:
    """E6: and the user is told."""
    assert ("moot-option" in kinds(audit_quickly(builders.classifier(tmp_path), device))) == moot


def test_the_threads_of_audonnx_and_of_the_runtime(tmp_path: Path) -> None:
    """E7: audonnx runs on one thread, the runtime on what it likes; both are recorded."""
    folder = builders.audonnx_folder(tmp_path)
    as_audonnx = audit_quickly(folder, "cpu,cpu[threads=2]")
    plain = audit_quickly(folder / "model.onnx", "cpu")
    assert [row.effective["threads"] for row in as_audonnx.targets] == [1, 2]
    assert "runtime's choice" in str(plain.targets[0].effective["threads"])


BATCHED = {
    "MatMul": (["x", "w"], {"w": draw(1, 64, 8)}, {}, ("n", 64)),
    "Gemm": (["x", "w", "b"], {"w": draw(1, 64, 8), "b": draw(2, 8)}, {}, ("n", 64)),
    "Conv": (["x", "w"], {"w": draw(1, 4, 3, 3, 3)}, {}, ("n", 3, 8, 8)),
    "Softmax": (["x"], {}, {"axis": -1}, ("n", 64)),
    "ReduceSum": (["x", "axes"], {"axes": np.array([1], np.int64)}, {}, ("n", 64)),
}


@pytest.mark.parametrize("op", BATCHED)
def test_a_batch_gives_what_single_inputs_give(tmp_path: Path, op: str) -> None:
    """E8: on this CPU, for each operator alone; samples are those of the batch."""
    inputs, weights, attributes, shape = BATCHED[op]
    model = write(
        tmp_path / f"{op}.onnx",
        [helper.make_node(op, inputs, ["y"], **attributes)],
        [value("x", shape)],
        [value("y", None)],
        weights,
    )
    report = audit_quickly(model, "cpu,cpu[batch=4]", samples=4)
    assert set(statuses(report).values()) == {"ok"}
    assert all_identical(report)
    assert only(report.deviation).elements % 4 == 0
    assert "cpu[batch=4] gave the bits of cpu" in report.verdict.sentence


def test_a_batch_that_rounds_otherwise_is_not_run_to_run_drift() -> None:
    """E10: byte-identical on every rerun, and dependent on the batch all the same."""
    alone, batched = np.float16([1, 2, 3]), np.float16([1, 2.002, 3])
    report = replay(
        {
            "cpu": in_processes([alone, alone], [alone, alone]),
            "cpu[batch=8]": in_processes([batched, batched], [batched, batched]),
        }
    )
    assert all(row.identical for row in report.repeatability if row.comparisons)
    row = only(report.deviation)
    assert (row.identical, row.max_ulp) == (False, 1)
    assert "no difference was seen in 4 runs" in report.verdict.sentence
    assert "cpu[batch=8] deviates from cpu" in report.verdict.sentence
