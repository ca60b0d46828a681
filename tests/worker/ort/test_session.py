from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest

from detaudit.worker.failures import Unavailable
from detaudit.worker.ort import session as module
from detaudit.worker.ort.session import Runtime
from tests.builders import classifier
from tests.jobs import make_job

CUDA = "CUDAExecutionProvider"
CPU = "CPUExecutionProvider"
X = {"x": np.zeros((1, 16), np.float32)}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., tuple[Runtime, str]]:
    """Runtime of a target, with the graph of a small model."""

    def make_runtime(target: str = "cpu", **changes: Any) -> tuple[Runtime, str]:
        graph = classifier(tmp_path)
        job = make_job(graph, [X], target=target, outputs=["logits"], **changes)
        log = tmp_path / "stderr.txt"
        log.touch()
        return Runtime(job, log), str(graph)

    return make_runtime


def test_options_reach_the_session(make: Callable[..., tuple[Runtime, str]]) -> None:
    runtime, graph = make(
        "cpu[threads=2,inter_threads=3,opt=basic,execution=parallel,deterministic=1,mem_pattern=0]"
    )
    assert runtime.effective(runtime.open(graph)) == {
        "threads": 2,
        "inter_threads": 3,
        "opt": "basic",
        "execution": "parallel",
        "mem_pattern": False,
        "deterministic": True,
        "providers": [CPU],
        "provider_options": {CPU: {}},
    }


@pytest.mark.parametrize("level", ["off", "basic", "extended", "all"])
def test_every_level_of_optimisation(make: Callable[..., tuple[Runtime, str]], level: str) -> None:
    runtime, graph = make(f"cpu[opt={level}]")
    assert runtime.effective(runtime.open(graph))["opt"] == level


def test_without_options_everything_is_as_the_runtime_has_it(
    make: Callable[..., tuple[Runtime, str]],
) -> None:
    runtime, graph = make()
    plain = onnxruntime.InferenceSession(graph, providers=[CPU]).get_session_options()
    asked = runtime.open(graph).get_session_options()
    for name in (
        *("intra_op_num_threads", "inter_op_num_threads", "graph_optimization_level"),
        *("execution_mode", "enable_mem_pattern", "enable_mem_reuse", "enable_cpu_mem_arena"),
        "use_deterministic_compute",
    ):
        assert getattr(asked, name) == getattr(plain, name), name
    assert "runtime's choice" in runtime.effective(runtime.open(graph))["threads"]


def test_the_threads_of_the_format_hold_until_the_user_says_otherwise(
    make: Callable[..., tuple[Runtime, str]],
) -> None:
    runtime, graph = make(threads=1)
    effective = runtime.effective(runtime.open(graph))
    assert (effective["threads"], effective["inter_threads"]) == (1, 1)
    runtime, graph = make("cpu[threads=2]", threads=1)
    assert runtime.effective(runtime.open(graph))["threads"] == 2


def test_entries_of_the_session_config_are_passed_on(
    make: Callable[..., tuple[Runtime, str]],
) -> None:
    runtime, _ = make("cpu[config.session.intra_op.allow_spinning=0]")
    entry = runtime.options().get_session_config_entry("session.intra_op.allow_spinning")
    assert entry == "0"


@pytest.mark.modern
def test_nodes_per_provider_are_read_back(make: Callable[..., tuple[Runtime, str]]) -> None:
    runtime, graph = make("cpu[opt=off]")
    assert runtime.placement(runtime.open(graph)) == {CPU: 3}


def test_an_old_runtime_tells_its_placement_by_a_profile(
    make: Callable[..., tuple[Runtime, str]], tmp_path: Path
) -> None:
    runtime, graph = make("cpu[opt=off]")
    assert runtime.profile(graph, X, tmp_path) == {CPU: 3}
    assert not list(tmp_path.glob("profile*"))


def test_an_old_runtime_cannot_tell_its_placement(
    make: Callable[..., tuple[Runtime, str]],
) -> None:
    runtime, _ = make()
    runtime.module = SimpleNamespace(InferenceSession=object)
    assert not runtime.reads_assignment
    assert runtime.placement(object()) is None


def test_a_build_without_the_provider(make: Callable[..., tuple[Runtime, str]]) -> None:
    with pytest.raises(Unavailable, match="does not contain XnnpackExecutionProvider"):
        make("ep:XnnpackExecutionProvider")


class Session(SimpleNamespace):
    """A session that fell back."""

    def get_providers(self) -> list[str]:
        return [CPU]


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend that the build has CUDA, and that the driver says this."""

    def pretend_cuda(driver: dict[str, Any]) -> None:
        described = {"onnxruntime": "1.32.0", "packages": {}, "providers": [CUDA, CPU]}
        monkeypatch.setattr(module, "describe_runtime", lambda _: dict(described))
        monkeypatch.setattr(module, "describe_driver", lambda: driver)

    return pretend_cuda


GPU = {"driver": "13.0", "devices": [{"name": "NVIDIA X", "capability": "9.0"}]}


def test_a_device_that_this_machine_lacks(
    make: Callable[..., tuple[Runtime, str]], pretend: Callable[..., None]
) -> None:
    pretend(GPU)
    with pytest.raises(Unavailable, match=r"there is no cuda:99; this machine has cuda:0$"):
        make("cuda:99")


def test_a_device_that_is_there_is_named(
    make: Callable[..., tuple[Runtime, str]], pretend: Callable[..., None]
) -> None:
    pretend(GPU)
    runtime, _ = make("cuda:0[use_tf32=0]")
    assert runtime.hardware == "NVIDIA X"
    assert runtime.described["nvidia"] == GPU
    assert runtime.providers() == [(CUDA, {"use_tf32": "0", "device_id": "0"}), CPU]


def test_a_session_that_fell_back_did_not_run_there(
    make: Callable[..., tuple[Runtime, str]], pretend: Callable[..., None]
) -> None:
    pretend({"error": "no NVIDIA driver is installed"})
    runtime, _ = make("cuda:0")
    runtime.log.write_text(
        "2026 [E:onnxruntime:Default, x.cc:1 f] Failed to load libcublas.so\n", encoding="utf-8"
    )
    with pytest.raises(
        Unavailable,
        match=r"^CUDAExecutionProvider could not be loaded, the session ran on"
        r" CPUExecutionProvider: no NVIDIA driver is installed; Failed to load libcublas.so$",
    ):
        runtime.check_ran(Session(), {CPU: 3})


def test_a_session_that_fell_back_although_the_driver_is_fine(
    make: Callable[..., tuple[Runtime, str]], pretend: Callable[..., None]
) -> None:
    pretend(GPU)
    runtime, _ = make("cuda:0")
    with pytest.raises(Unavailable, match=r"the session ran on CPUExecutionProvider$"):
        runtime.check_ran(Session(), None)


def test_a_provider_without_a_single_node_did_not_run(
    make: Callable[..., tuple[Runtime, str]], pretend: Callable[..., None]
) -> None:
    pretend(GPU)
    runtime, _ = make("cuda:0")
    both = SimpleNamespace(get_providers=lambda: [CUDA, CPU])
    with pytest.raises(Unavailable, match="was created but took none of the 3 nodes"):
        runtime.check_ran(both, {CPU: 3})
    runtime.check_ran(both, {CUDA: 1, CPU: 2})
    runtime.check_ran(both, None)
    # Nodes that nothing tells of must not be taken for nodes of the device.
    with pytest.raises(Unavailable, match=r"does not tell which nodes ran on CUDA"):
        runtime.check_known(None)
    runtime.check_known({CUDA: 1})


def test_a_build_without_cuda_needs_no_look_at_the_driver(
    make: Callable[..., tuple[Runtime, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    described = {
        "onnxruntime": "1.32.0",
        "package": "onnxruntime",
        "packages": {"onnxruntime": "1.32.0"},
        "providers": [CPU],
    }
    monkeypatch.setattr(module, "describe_runtime", lambda _: described)
    monkeypatch.setattr(module, "describe_driver", lambda: pytest.fail("CUDA was touched"))
    with pytest.raises(Unavailable, match="is a build without CUDA"):
        make("cuda:0")


def test_cores_are_those_that_this_process_may_use() -> None:
    assert module._cores() == len(os.sched_getaffinity(0))
