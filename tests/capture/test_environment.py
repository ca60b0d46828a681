from __future__ import annotations

import json
import platform
from pathlib import Path

import numpy as np
import pytest

from detaudit.capture import environment
from detaudit.capture.environment import cpu_name, describe_environment


def test_it_is_strict_json() -> None:
    described = describe_environment()
    assert json.loads(json.dumps(described, allow_nan=False)) == described
    assert described["versions"]["numpy"] == np.__version__
    assert described["python"] == platform.python_version()
    assert described["cpu"]["cores"] >= 1
    assert described["cpu"]["name"]
    assert described["memory_bytes"] > 1 << 28


@pytest.mark.parametrize(
    "name",
    [
        *("OMP_NUM_THREADS", "MKL_CBWR", "ATEN_CPU_CAPABILITY", "NVIDIA_TF32_OVERRIDE"),
        *("CUBLAS_WORKSPACE_CONFIG", "CUDA_VISIBLE_DEVICES", "PYTHONHASHSEED"),
    ],
)
def test_variables_that_can_move_a_result_are_written_down(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "7")
    assert describe_environment()["variables"][name] == "7"


@pytest.mark.parametrize("name", ["SECRET_TOKEN", "HOME", "MY_OMP_NUM_THREADS", "AWS_KEY"])
def test_no_other_variable_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "7")
    assert name not in describe_environment()["variables"]


CPUINFO = {
    "x86": "processor\t: 0\nmodel name\t: Abacus  9000 @ 1 GHz\nflags\t\t: fpu avx sse4_2 avx2\n",
    "arm": "processor\t: 0\nFeatures\t: fp asimd\n",
}


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """File that stands for the system's description of the processor."""
    path = tmp_path / "cpuinfo"
    monkeypatch.setattr(environment, "Path", lambda name: path)
    return path


@pytest.mark.parametrize(
    ("kind", "name", "flags"),
    [("x86", "Abacus 9000 @ 1 GHz", ["sse4_2", "avx", "avx2"]), ("arm", None, ["asimd"])],
)
def test_the_processor_is_read_from_the_system(
    pretend: Path, kind: str, name: str | None, flags: list[str]
) -> None:
    pretend.write_text(CPUINFO[kind], encoding="utf-8")
    assert cpu_name() == name or (name is None and cpu_name())
    assert describe_environment()["cpu"]["flags"] == flags


def test_a_system_that_tells_nothing_still_has_a_name(
    pretend: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert cpu_name() == platform.machine()
    assert describe_environment()["cpu"]["flags"] == []
