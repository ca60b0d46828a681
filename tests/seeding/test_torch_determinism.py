from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from detaudit.seeding import get_seeds_state, isolated, set_seeds
from detaudit.seeding.determinism import TorchFlags
from tests.seeding.conftest import CUBLAS, FakeCuda

pytestmark = pytest.mark.torch

LATE = "came too late: CUDA was initialised already"


@pytest.fixture
def torch(contained: None) -> Iterator[Any]:
    import torch

    before = read(torch)
    yield torch
    write(torch, before)


def read(torch: Any) -> TorchFlags:
    return TorchFlags(
        torch.get_deterministic_debug_mode(),
        torch.backends.cudnn.deterministic,
        torch.backends.cudnn.benchmark,
    )


def write(torch: Any, flags: TorchFlags) -> None:
    torch.set_deterministic_debug_mode(flags.deterministic_algorithms)
    torch.backends.cudnn.deterministic = flags.cudnn_deterministic
    torch.backends.cudnn.benchmark = flags.cudnn_benchmark


ON = TorchFlags(2, cudnn_deterministic=True, cudnn_benchmark=False)


@pytest.mark.parametrize("algorithms", [0, 1, 2])
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("benchmark", [False, True])
@pytest.mark.parametrize("times", [1, 2])
def test_switching_off_brings_back_what_was(
    torch: Any, algorithms: int, deterministic: bool, benchmark: bool, times: int
) -> None:
    before = TorchFlags(algorithms, deterministic, benchmark)
    write(torch, before)
    for _ in range(times):
        record = set_seeds(1, deterministic=True)
        assert read(torch) == ON
    assert record["flags"]["deterministic_algorithms"] is True
    assert record["flags"]["warn_only"] is False
    assert record["flags"]["cudnn_deterministic"] is True
    assert record["flags"]["cudnn_benchmark"] is False
    assert set_seeds(1)["notes"] == []
    assert read(torch) == before
    assert CUBLAS not in os.environ


def test_a_flag_that_was_changed_since_stays(torch: Any) -> None:
    set_seeds(1, deterministic=True)
    torch.backends.cudnn.benchmark = True
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert set_seeds(1)["notes"] == [
        "deterministic_algorithms was changed since and stays as it is",
        "cudnn_benchmark was changed since and stays as it is",
    ]
    assert read(torch) == TorchFlags(1, cudnn_deterministic=False, cudnn_benchmark=True)


def test_a_mode_switched_on_elsewhere_stays_and_is_said(torch: Any) -> None:
    torch.use_deterministic_algorithms(True)
    record = set_seeds(1)
    assert record["notes"] == ["deterministic algorithms were switched on elsewhere and stay on"]
    assert record["flags"]["deterministic_algorithms"] is True


def test_a_torch_left_alone_stays_in_its_mode_until_it_is_not(torch: Any) -> None:
    set_seeds(1, deterministic=True)
    record = set_seeds(1, torch=False)
    assert record["notes"] == ["torch was left alone: it stays in deterministic mode"]
    assert CUBLAS not in os.environ
    assert read(torch) == ON
    assert set_seeds(1)["notes"] == []
    assert read(torch) == TorchFlags(0, cudnn_deterministic=False, cudnn_benchmark=False)


def test_too_late_is_said_and_remembered(torch: Any, fake_cuda: FakeCuda) -> None:
    fake_cuda.initialize()
    for _ in range(2):
        record = set_seeds(1, deterministic=True)
        assert record["cublas_workspace"]["too_late"] is True
        assert any(LATE in note for note in record["notes"])
    assert set_seeds(1)["notes"] == []
    assert CUBLAS not in os.environ


def test_in_time_stays_in_time(torch: Any, fake_cuda: FakeCuda) -> None:
    set_seeds(1, deterministic=True)
    fake_cuda.initialize()
    record = set_seeds(1, deterministic=True)
    assert record["cublas_workspace"]["too_late"] is False
    assert not any(LATE in note for note in record["notes"])
    assert set_seeds(1)["notes"] == [
        f"CUDA is initialised: cuBLAS may keep {CUBLAS}=:4096:8 in this process"
    ]


def test_a_variable_of_the_user_is_never_too_late(
    torch: Any, fake_cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CUBLAS, ":16:8")
    fake_cuda.initialize()
    record = set_seeds(1, deterministic=True)
    assert record["cublas_workspace"]["too_late"] is False
    assert record["notes"] == []


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("inside", [False, True, None])
@pytest.mark.parametrize("finally_", [False, True])
def test_a_block_leaves_the_mode_as_it_was(
    torch: Any, outside: bool, inside: bool | None, finally_: bool
) -> None:
    torch.backends.cudnn.benchmark = True
    before = read(torch)
    set_seeds(1, deterministic=outside)
    state = get_seeds_state()
    with pytest.raises(ZeroDivisionError), isolated(2, deterministic=inside) as record:
        assert record is not None
        assert record["deterministic"] is (outside if inside is None else inside)
        assert (read(torch) == ON) is record["deterministic"]
        set_seeds(3, deterministic=finally_)
        _ = 1 / 0
    assert get_seeds_state() == state
    set_seeds(1)
    assert read(torch) == before


def test_a_block_keeps_the_time_at_which_the_variable_was_set(
    torch: Any, fake_cuda: FakeCuda
) -> None:
    set_seeds(1, deterministic=True)
    fake_cuda.initialize()
    with isolated(2, deterministic=False):
        pass
    assert set_seeds(1, deterministic=True)["cublas_workspace"]["too_late"] is False
