from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnxruntime
import pytest

from detaudit.worker.ort.install import describe_runtime, runtime_packages, why_no_provider

CUDA = "CUDAExecutionProvider"


def describe(**packages: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): version for name, version in packages.items()}
    return {
        "onnxruntime": "1.32.0",
        "package": "onnxruntime",
        "packages": named,
        "providers": ["AzureExecutionProvider", "CPUExecutionProvider"],
    }


def install(folder: Path, name: str, version: str) -> None:
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
    )


def test_every_package_that_claims_the_runtime_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "onnxruntime-gpu",
        "onnxruntime_openvino",
        "ort-nightly",
        "ort-nightly-gpu",
        "OnnxRuntime.DirectML",
        "onnxruntime-extensions",
        "onnxruntime-genai",
        "onnxruntime-ep-openvino-extra",
        "skl2onnxruntime",
    ):
        install(tmp_path, name, "9.9")
    monkeypatch.syspath_prepend(tmp_path)
    found = {name for name, version in runtime_packages().items() if version == "9.9"}
    assert found == {
        "onnxruntime-gpu",
        "onnxruntime-openvino",
        "ort-nightly",
        "ort-nightly-gpu",
        "onnxruntime-directml",
    }


def test_the_installed_runtime_is_described() -> None:
    described = describe_runtime(onnxruntime)
    assert described["onnxruntime"] == onnxruntime.__version__
    assert described["packages"][described["package"]] == onnxruntime.__version__
    assert "CPUExecutionProvider" in described["providers"]


def test_a_runtime_of_any_age_is_described() -> None:
    old = SimpleNamespace(
        __version__="1.17.3", get_available_providers=lambda: ["CPUExecutionProvider"]
    )
    described = describe_runtime(old)
    assert described["onnxruntime"] == "1.17.3"
    assert "build" not in described


def test_a_build_without_cuda() -> None:
    assert why_no_provider(CUDA, describe(onnxruntime="1.32.0")) == (
        "the installed onnxruntime 1.32.0 is a build without CUDA;"
        " use an environment with onnxruntime-gpu[cuda,cudnn] instead"
    )


def test_the_cpu_package_lies_over_the_gpu_package() -> None:
    why = why_no_provider(CUDA, describe(onnxruntime="1.32.0", onnxruntime_gpu="1.32.0"))
    assert why == (
        "the files of the CPU package onnxruntime 1.32.0 lie over onnxruntime-gpu 1.32.0; repair"
        " with: python -m pip install --no-deps --force-reinstall onnxruntime-gpu==1.32.0"
    )


def test_leftovers_of_another_version_are_replaced_first() -> None:
    why = why_no_provider(CUDA, describe(onnxruntime="1.32.0", onnxruntime_gpu="1.31.1"))
    repair = "python -m pip install --no-deps --force-reinstall "
    assert why.endswith(
        f"lie over onnxruntime-gpu 1.31.1; repair with: {repair}onnxruntime==1.31.1 &&"
        f" {repair}onnxruntime-gpu==1.31.1"
    )


def test_any_other_provider_that_is_missing() -> None:
    why = why_no_provider("XnnpackExecutionProvider", describe(onnxruntime="1.32.0"))
    assert why == (
        "the installed onnxruntime 1.32.0 does not contain XnnpackExecutionProvider;"
        " it contains: AzureExecutionProvider, CPUExecutionProvider"
    )
