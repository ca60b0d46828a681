from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import detaudit
from detaudit.audit import plan_audit
from detaudit.errors import ModelError, UsageError
from detaudit.worker import nvidia
from tests.builders import audonnx_folder, noisy, not_onnx


def names(**options: Any) -> list[str]:
    return [target.name for target in plan_audit("m.onnx", **options).targets]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pretend which package is installed and what the driver says."""

    def pretend(package: str, driver: dict[str, Any]) -> None:
        def version(name: str) -> str:
            if name != package:
                raise metadata.PackageNotFoundError(name)
            return "1.0"

        monkeypatch.setattr(metadata, "version", version)
        monkeypatch.setattr(nvidia, "describe_driver", lambda: driver)

    return pretend


def test_the_default_is_the_cpu_and_every_cuda_device(machine: Any) -> None:
    machine("onnxruntime-gpu", {"driver": "13.0", "devices": [{}, {}]})
    assert names(variants="none") == ["cpu", "cuda:0", "cuda:1"]
    assert len(names()) == 7


def test_without_a_gpu_the_default_is_the_cpu(machine: Any) -> None:
    machine("onnxruntime-gpu", {"error": "no NVIDIA driver is installed"})
    assert names() == ["cpu"]
    machine("onnxruntime", {"driver": "13.0", "devices": [{}]})
    assert names() == ["cpu"]


def test_the_default_devices_of_a_torch_model(machine: Any) -> None:
    def found() -> list[str]:
        return [target.name for target in plan_audit("net.py:make").targets]

    machine("torch", {"driver": "13.0", "devices": [{}]})
    assert found() == ["cpu", "cuda:0", "cuda:0[deterministic=1]"]
    machine("onnxruntime-gpu", {"driver": "13.0", "devices": [{}]})
    assert found() == ["cpu"]


def test_a_seed_for_onnx_runtime_is_refused_where_it_runs_nothing() -> None:
    with pytest.raises(UsageError, match="--seed-runtime seeds ONNX Runtime"):
        plan_audit("net.py:make", "cpu", seed_runtime=True)
    assert plan_audit("net.py:make", "cpu,cpu[model=m.onnx]", seed_runtime=True).seed_runtime


def test_the_audited_model_has_to_be_run_somewhere() -> None:
    with pytest.raises(UsageError, match=r"no target runs net\.py:make itself"):
        plan_audit("net.py:make", "cpu[model=a.onnx],cpu[model=b.onnx]")


def test_a_build_of_torch_without_cuda_has_the_cpu_alone(
    machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine("torch", {"driver": "13.0", "devices": [{}]})
    monkeypatch.setattr(metadata, "version", lambda _: "2.13.0+cpu")
    assert [target.name for target in plan_audit("net.py:make").targets] == ["cpu"]


@pytest.mark.parametrize(
    ("options", "told"),
    [({"evaluate": True}, "--eval switches torch"), ({"seeded": False}, "--no-seed leaves torch")],
)
def test_what_only_torch_models_take_is_refused_without_one(
    options: dict[str, bool], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        plan_audit("m.onnx", "cpu", **options)
    for device, model in [("cpu", "net.py:make"), ("cpu,cpu[model=net.py:make]", "m.onnx")]:
        assert plan_audit(model, device, **options)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (None, ()),
        (["a", "b"], (("", ("a", "b")),)),
        ("a,b", (("", ("a", "b")),)),
        ({"y": ["a", "b"], "z": ("c",)}, (("y", ("a", "b")), ("z", ("c",)))),
    ],
)
def test_labels(labels: Any, expected: Any) -> None:
    assert plan_audit("m.onnx", "cpu", labels=labels).judging.labels == expected


def test_one_output_is_no_list_of_letters() -> None:
    assert plan_audit("m.onnx", "cpu", outputs="logits").outputs == ("logits",)


def test_classes() -> None:
    assert plan_audit("m.onnx", "cpu").judging.classes is None
    assert plan_audit("m.onnx", "cpu", classes={}).judging.classes == ()
    assert plan_audit("m.onnx", "cpu", classes={"y": -1}).judging.classes == (("y", -1),)


def test_paths_and_numbers_are_taken_as_they_come() -> None:
    plan = plan_audit(Path("m.onnx"), ["cpu", "cuda"], source=Path("x.npz"), shapes={"n": 3})
    assert (plan.model, plan.inputs.source) == ("m.onnx", "x.npz")
    assert plan.inputs.shapes == (("n", "3"),)


@pytest.mark.parametrize(
    "options",
    [
        {"device": "gpu"},
        {"device": []},
        {"require": "best"},
        {"runs": 0},
        {"reference": "cuda:0"},
        {"variants": "many"},
    ],
)
def test_what_cannot_be_meant_is_said_before_anything_runs(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        plan_audit("m.onnx", **{"device": "cpu", **options})


def test_an_unknown_option_is_an_error_of_the_call() -> None:
    with pytest.raises(TypeError, match="colour"):
        detaudit.audit("m.onnx", device="cpu", colour="red")


def test_a_report_comes_back(tmp_path: Path) -> None:
    report = detaudit.audit(
        audonnx_folder(tmp_path),
        device=["cpu", "cpu[opt=off]"],
        runs=2,
        sessions=1,
        processes=1,
        require="max_abs=1",
    )
    assert report.verdict.met is True
    frame = report.frame("deviation")
    assert list(frame["label"])[1:] == ["cat", "dog", "owl"]
    assert report.frame("targets")["status"].tolist() == ["ok", "ok"]


def test_a_drift_is_found(tmp_path: Path) -> None:
    report = detaudit.audit(noisy(tmp_path), device="cpu", runs=10, sessions=2, processes=2)
    rows = {row.scope: row for row in report.repeatability}
    assert (rows["run"].distinct, rows["run"].units) == (10, 10)
    assert rows["session"].identical
    assert not rows["process"].identical


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        detaudit.audit(not_onnx(tmp_path), device="cpu")
