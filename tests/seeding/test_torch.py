from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from detaudit.seeding import get_seeds_state, isolated, set_seeds
from detaudit.seeding.generators import Pending, TorchDeviceGenerators, TorchMpsGenerator
from tests.seeding.conftest import CUBLAS, FakeCuda

pytestmark = pytest.mark.torch


@pytest.fixture
def torch(contained: None) -> Iterator[Any]:
    import torch

    with isolated():
        yield torch


def test_torch_draws_what_its_own_seed_gives(torch: Any) -> None:
    record = set_seeds(5)
    assert record["seeded"] == {
        "python": 5,
        "numpy": 5,
        "torch": 5,
        "cuda": [5] * torch.cuda.device_count(),
        "mps": [5] * torch.backends.mps.is_available(),
        "xpu": [5] * torch.xpu.device_count(),
    }
    assert record["versions"]["torch"] == torch.__version__
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert torch.equal(torch.rand(4), torch.rand(4, generator=torch.Generator().manual_seed(5)))


def test_torch_can_be_left_alone(torch: Any) -> None:
    set_seeds(5)
    before = get_seeds_state()
    record = set_seeds(6, deterministic=True, torch=False)
    assert get_seeds_state()["torch"] == before["torch"]
    assert "torch" not in record["seeded"]
    assert {"what": "torch", "why": "left alone; see torch=True"} in record["not_seeded"]
    assert not torch.are_deterministic_algorithms_enabled()


def test_fingerprint_moves_with_every_draw_and_reseed(torch: Any) -> None:
    seen, first = set(), None
    draws: list[Callable[[], object]] = [
        lambda: torch.rand(1),
        lambda: torch.randn(1),
        lambda: torch.randperm(3),
        lambda: torch.nn.Linear(2, 2),
        lambda: torch.manual_seed(6),
    ]
    set_seeds(5)
    first = get_seeds_state()
    seen.add(first["torch"])
    for draw in draws:
        draw()
        state = get_seeds_state()
        assert state["torch"] not in seen
        seen.add(state["torch"])
        assert {**state, "torch": 0} == {**first, "torch": 0}
    torch.manual_seed(5)
    assert get_seeds_state() == first


def test_a_block_leaves_no_trace_in_torch(torch: Any) -> None:
    set_seeds(5)
    torch.randn(3)
    before = get_seeds_state()
    with pytest.raises(ZeroDivisionError), isolated(6):
        assert get_seeds_state()["torch"] != before["torch"]
        torch.randn(3)
        with isolated():
            torch.manual_seed(7)
        _ = 1 / 0
    assert get_seeds_state() == before


def test_torch_is_imported_only_when_asked(run_python: Callable[..., Any]) -> None:
    code = """
from detaudit.seeding import get_seeds_state, isolated, set_seeds
set_seeds(1, deterministic=True)
get_seeds_state()
with isolated(2):
    pass
imported = ["torch" in sys.modules]
with isolated(2, torch=True):
    inside = get_seeds_state()["torch"]
imported.append("torch" in sys.modules)
left = get_seeds_state()["torch"]
record = set_seeds(3, torch=True)
print(json.dumps([imported, inside, left, record, get_seeds_state()]))
"""
    imported, inside, left, record, state = run_python(code)
    assert imported == [False, True]
    assert left != inside
    assert record["seeded"]["torch"] == 3
    import torch

    set_seeds(3)
    torch.manual_seed(3)
    assert get_seeds_state()["torch"] == state["torch"]


def test_flags_name_the_arithmetic(torch: Any) -> None:
    flags = get_seeds_state()["flags"]
    assert flags["float32_matmul_precision"] == "highest"
    assert flags["cuda_matmul"] in ("none", "ieee")
    assert flags["cudnn_conv"] == flags["cudnn_rnn"] == "tf32"
    assert flags["default_dtype"] == "torch.float32"
    assert flags["fill_uninitialized_memory"] is True


@pytest.mark.modern
def test_flags_are_read_by_one_api_without_a_warning(run_python: Callable[..., Any]) -> None:
    code = """
import torch
from detaudit.seeding import get_seeds_state
def read():
    return {k: v for k, v in get_seeds_state()["flags"].items() if "cud" in k or "float" in k}
states = [read()]
torch.set_float32_matmul_precision("high")
states.append(read())
torch.set_float32_matmul_precision("highest")
torch.backends.cuda.matmul.fp32_precision = "tf32"
torch.backends.cudnn.conv.fp32_precision = "ieee"
states.append(read())
print(json.dumps(states))
"""
    default, high, new = run_python(code, "-W", "error")
    assert high == {**default, "float32_matmul_precision": "high", "cuda_matmul": "tf32"}
    assert new == {
        **default,
        "float32_matmul_precision": None,
        "cuda_matmul": "tf32",
        "cudnn_conv": "ieee",
    }


def test_flags_of_a_torch_before_the_newer_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    from detaudit.seeding.flags import read_flags

    old = SimpleNamespace(
        are_deterministic_algorithms_enabled=lambda: False,
        is_deterministic_algorithms_warn_only_enabled=lambda: False,
        get_default_dtype=lambda: "torch.float32",
        get_float32_matmul_precision=lambda: "highest",
        utils=SimpleNamespace(),
        backends=SimpleNamespace(
            cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=False)),
            cudnn=SimpleNamespace(deterministic=False, benchmark=True, allow_tf32=True),
        ),
    )
    flags = read_flags(old)  # type: ignore[arg-type]
    assert flags["cuda_matmul"] == "ieee"
    assert flags["cudnn_conv"] == flags["cudnn_rnn"] == "tf32"
    assert flags["fill_uninitialized_memory"] is None
    assert flags["cudnn_benchmark"] is True


def test_devices_are_listed_before_and_after_they_are_initialised(
    torch: Any, fake_cuda: FakeCuda
) -> None:
    record = set_seeds(5)
    assert record["seeded"]["cuda"] == [5, 5]
    assert "cuda is not initialised: it takes the seed when it is" in record["notes"]
    waiting = get_seeds_state()["cuda"]
    assert [one[:8] for one in waiting] == ["pending-"] * 2
    set_seeds(6)
    assert get_seeds_state()["cuda"] != waiting
    assert not fake_cuda.initialized

    fake_cuda.initialize()
    assert fake_cuda.states == [(6, 0)] * 2
    fresh = get_seeds_state()["cuda"]
    assert not any(one.startswith("pending") for one in fresh)
    fake_cuda.draw(1)
    drawn = get_seeds_state()["cuda"]
    assert (drawn[0], drawn[1]) == (fresh[0], drawn[1])
    assert drawn[1] != fresh[1]
    record = set_seeds(6)
    assert not any("not initialised" in note for note in record["notes"])
    assert get_seeds_state()["cuda"] == fresh


def test_a_block_leaves_no_trace_on_devices(torch: Any, fake_cuda: FakeCuda) -> None:
    set_seeds(5)
    fake_cuda.initialize()
    fake_cuda.draw(0)
    before = list(fake_cuda.states)
    with isolated(6):
        fake_cuda.draw(1)
        assert fake_cuda.states == [(6, 0), (6, 4)]
    assert fake_cuda.states == before


@pytest.mark.parametrize("initialize", [False, True])
def test_a_block_leaves_the_seed_that_was_waiting(
    torch: Any, fake_cuda: FakeCuda, initialize: bool
) -> None:
    torch.manual_seed(5)
    with isolated(6):
        if initialize:
            fake_cuda.initialize()
            fake_cuda.draw(0)
    assert fake_cuda.waiting == 5
    assert fake_cuda.initialized is initialize
    assert fake_cuda.states == [(5, 0)] * 2 * initialize


def test_xpu_is_handled_as_cuda_is(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeCuda()
    module: Any = type("module", (), {"xpu": fake, "initial_seed": staticmethod(lambda: 7)})
    generators = TorchDeviceGenerators(module, "xpu")
    states = generators.read()
    assert states == (Pending(7), Pending(7))
    fake.initialize()
    fake.draw(0)
    drawn = generators.read()
    assert drawn == ((7, 4), (7, 0))
    generators.restore(states)
    assert generators.read() == ((7, 0), (7, 0))
    generators.restore(drawn)
    assert generators.read() == drawn


def test_mps_is_read_where_it_is_there(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [torch.tensor([1], dtype=torch.uint8)]
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "get_rng_state", lambda: kept[-1])
    monkeypatch.setattr(torch.mps, "set_rng_state", kept.append)
    generator = TorchMpsGenerator(torch)
    states = generator.read()
    kept.append(torch.tensor([2], dtype=torch.uint8))
    assert len(get_seeds_state()["mps"]) == 1
    generator.restore(states)
    assert kept[-1] is kept[0]


def test_a_torch_without_other_devices_is_read_too(torch: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(torch, "xpu")
        patch.delattr(torch, "mps")
        state = get_seeds_state()
    assert state["xpu"] == state["mps"] == []


def test_all_generators_together(torch: Any) -> None:
    assert "torch" in sys.modules
    with isolated(5):
        first = random.random(), np.random.random(), torch.rand(1).item()
    with isolated(5, deterministic=True):
        assert first == (random.random(), np.random.random(), torch.rand(1).item())
    assert get_seeds_state()["flags"][CUBLAS] is None
