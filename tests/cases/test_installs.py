"""F: what is asked for, what is installed, and what ran."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from detaudit.audit import plan_audit
from detaudit.cli import main
from detaudit.errors import UsageError
from tests import builders
from tests.cases.audits import audit_quickly, kinds, message
from tests.cases.runtimes import STAND_IN, stand_in


def pretend_installed(folder: Path, **versions: str) -> Path:
    """Write the metadata of distributions, without any of their files."""
    for name, version in versions.items():
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
        (info / "METADATA").write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("gpu", ["1.99.0", "1.98.1"])
def test_the_cpu_package_over_the_gpu_package(tmp_path: Path, gpu: str) -> None:
    """F1: both are named, and so is the command that repairs it."""
    both = pretend_installed(tmp_path / "site", onnxruntime="1.99.0", onnxruntime_gpu=gpu)
    device = f"cuda:0[env.PYTHONPATH={STAND_IN}:{both},env.STAND_IN_PROVIDERS=CPUExecutionProvider]"
    (row,) = audit_quickly(builders.identity(tmp_path), device, variants="none").targets
    assert row.status == "unavailable"
    assert "onnxruntime 1.99.0" in row.reason
    assert f"onnxruntime-gpu {gpu}" in row.reason
    repair = f"python -m pip install --no-deps --force-reinstall onnxruntime-gpu=={gpu}"
    assert row.reason.endswith(repair)
    assert "\n" not in row.reason


@pytest.mark.parametrize(
    "stolen", [{"CREATED": "CPUExecutionProvider"}, {"PLACED": "CPUExecutionProvider:3"}]
)
def test_a_session_that_ran_elsewhere_is_no_result(tmp_path: Path, stolen: dict[str, str]) -> None:
    """F2, F5: created or placed elsewhere, CUDA is never certified with the CPU's bits."""
    devices = f"{stand_in('cpu')},{stand_in('cuda:0', **stolen)}"
    report = audit_quickly(
        builders.identity(tmp_path), devices, variants="none", require="identical"
    )
    asked, other = report.targets
    assert (asked.status, other.status) == ("ok", "unavailable")
    assert "CUDAExecutionProvider" in other.reason
    assert {row.target for row in report.repeatability} == {asked.name}
    assert not report.deviation
    assert report.verdict.met is False
    assert f"Not audited: {other.name}" in report.verdict.sentence


def test_a_missing_device_ends_with_its_exit_code(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """F2: 3, whether or not the rest was clean."""
    once = ["--runs", "2", "--sessions", "1", "--processes", "1"]
    model = str(builders.classifier(tmp_path))
    assert main([model, "--device", "cpu,cuda:0", *once, "--json", "-"]) == 3
    told = json.loads(capfd.readouterr().out)
    assert [target["status"] for target in told["targets"]] == ["ok"] + ["unavailable"] * 3
    assert told["deviation"] == []


@pytest.mark.modern
def test_an_audonnx_model_is_checked_in_the_same_way(audonnx_gender: Path) -> None:
    """F3: the session inside audonnx counts."""
    report = audit_quickly(
        audonnx_gender,
        "cpu,cuda:0",
        variants="none",
        trust=True,
        source=str(audonnx_gender / "test.wav"),
    )
    assert [row.status for row in report.targets] == ["ok", "unavailable"]
    assert not report.deviation


def test_some_nodes_elsewhere_are_a_note(tmp_path: Path) -> None:
    """F6: shape operators stay on the CPU; nothing is wrong with that."""
    placed = "CUDAExecutionProvider:398+CPUExecutionProvider:14"
    report = audit_quickly(
        builders.identity(tmp_path), stand_in("cuda:0", PLACED=placed), variants="none"
    )
    (row,) = report.targets
    assert row.status == "ok"
    assert row.placement == {"CUDAExecutionProvider": 398, "CPUExecutionProvider": 14}
    assert kinds(report) == {"mixed-placement"}
    assert "14 on CPUExecutionProvider" in message(report, "mixed-placement")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("cpu", ["cpu"]),
        ("cuda", ["cuda:0"]),
        ("cuda:2", ["cuda:2"]),
        ("cpu,cuda:0", ["cpu", "cuda:0"]),
        ("cuda:0[use_tf32=0,prefer_nhwc=1]", ["cuda:0[prefer_nhwc=1,use_tf32=0]"]),
        ("ep:CUDAExecutionProvider", ["cuda:0"]),
        ("ep:CPUExecutionProvider", ["cpu"]),
        ("ep:XnnpackExecutionProvider", ["ep:XnnpackExecutionProvider"]),
    ],
)
def test_device_strings(text: str, names: list[str]) -> None:
    """F8: what people write, in its canonical form."""
    plan = plan_audit("model.onnx", text, variants="none")
    assert [target.name for target in plan.targets] == names


@pytest.mark.parametrize("text", ["CUDA:0", "gpu", "GPU:0", "", " ", "cuda:", "cuda:-1", "cuda:x"])
def test_device_strings_that_mean_nothing(text: str) -> None:
    """F8: refused before anything runs, with what is known."""
    with pytest.raises(UsageError, match="known devices: cpu, cuda, cuda:<number>"):
        plan_audit("model.onnx", text)


def test_a_device_that_does_not_exist(tmp_path: Path) -> None:
    """F8: cuda:99 is a device that may be elsewhere; here it is not."""
    report = audit_quickly(builders.classifier(tmp_path), "cpu,cuda:99", variants="none")
    assert [row.status for row in report.targets] == ["ok", "unavailable"]
    assert report.targets[1].reason
