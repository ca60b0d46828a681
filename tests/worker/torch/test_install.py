from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from detaudit.worker.failures import Unavailable
from detaudit.worker.torch import install
from detaudit.worker.torch.install import (
    check_version,
    describe_install,
    find_device,
    list_versions,
)

pytestmark = pytest.mark.torch


def test_the_build_is_told() -> None:
    import torch

    described = describe_install(torch)
    assert described["torch"] == list_versions(torch)["torch"] == torch.__version__
    assert "C++ Version" in described["build"]


@pytest.mark.parametrize("version", ["2.5.1", "2.0.0+cpu", "1.13"])
def test_a_torch_that_cannot_load_safely_is_refused(version: str) -> None:
    with pytest.raises(Unavailable, match=re.escape(f"torch {version} is too old")):
        check_version(SimpleNamespace(__version__=version))


@pytest.mark.parametrize("version", ["2.6.0", "2.13.0+cpu", "3.0", "2.6.0a0+git1"])
def test_a_supported_torch_is_taken(version: str) -> None:
    check_version(SimpleNamespace(__version__=version))


@pytest.mark.parametrize(
    ("number", "text"), [(91900, "9.19.0"), (90100, "9.1.0"), (8902, "8.9.2"), (92201, "9.22.1")]
)
def test_the_version_of_cudnn_is_written_out(number: int, text: str) -> None:
    torch = SimpleNamespace(
        __version__="2.13.0",
        version=SimpleNamespace(cuda="13.0"),
        backends=SimpleNamespace(cudnn=SimpleNamespace(version=lambda: number)),
    )
    assert list_versions(torch) == {"torch": "2.13.0", "cuda": "13.0", "cudnn": text}


class Cuda:
    """Stands for ``torch`` with devices, a driver or neither."""

    __version__ = "2.13.0+cu130"

    def __init__(self, count: int, *, build: str | None = "13.0", works: bool = True) -> None:
        self.version = SimpleNamespace(cuda=build, hip=None)
        self.cuda = SimpleNamespace(
            is_available=lambda: count > 0,
            init=self._init,
            device_count=lambda: count,
            get_device_name=lambda index: f"GPU {index}",
        )
        self._works = works

    def device(self, name: str) -> Any:
        kind, _, index = name.partition(":")
        return SimpleNamespace(type=kind, index=int(index))

    def zeros(self, _: int, device: Any) -> Any:
        if not self._works:
            raise RuntimeError("CUDA error: busy\nCUDA kernel errors might be reported later")
        return SimpleNamespace(device=device)

    def _init(self) -> None:
        raise RuntimeError("The NVIDIA driver on your system is too old (found version 11040).")


@pytest.mark.parametrize(
    ("torch", "name", "reason"),
    [
        (Cuda(0, build=None), "cuda:0", "the installed torch 2.13.0+cu130 is a build without CUDA"),
        (
            Cuda(2),
            "cuda:2",
            "there is no cuda:2; torch 2.13.0+cu130 sees: cuda:0 (GPU 0), cuda:1 (",
        ),
        (Cuda(1, works=False), "cuda:0", "cuda:0 does not work: CUDA error: busy"),
    ],
)
def test_a_device_that_cannot_be_had_is_told(torch: Cuda, name: str, reason: str) -> None:
    with pytest.raises(Unavailable, match=re.escape(reason)):
        find_device(torch, name)


def test_a_driver_that_is_missing_or_old_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "describe_driver", lambda: {"error": "no driver is there"})
    with pytest.raises(Unavailable, match="cannot use CUDA: no driver is there"):
        find_device(Cuda(0), "cuda:0")
    monkeypatch.setattr(install, "describe_driver", lambda: {"driver": "11.4", "devices": [{}]})
    with pytest.raises(Unavailable, match="cannot use CUDA: The NVIDIA driver on your system is"):
        find_device(Cuda(0), "cuda:0")


def test_a_device_that_works_is_given() -> None:
    import torch

    assert find_device(Cuda(2), "cuda:1").index == 1
    assert find_device(torch, "cpu") == torch.device("cpu")


def test_a_device_is_called_as_its_tensors_call_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a model on mps would be found on mps:0, and not where it was asked to run."""
    import torch

    there = torch.device("mps:0")
    assert torch.device("mps") != there
    for name in ("is_built", "is_available"):
        monkeypatch.setattr(torch.backends.mps, name, lambda: True)
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: SimpleNamespace(device=there))
    assert find_device(torch, "mps") == there


def test_a_machine_without_mps_says_so() -> None:
    import torch

    if torch.backends.mps.is_available():
        assert find_device(torch, "mps").type == "mps"
        return
    with pytest.raises(Unavailable, match="MPS"):
        find_device(torch, "mps")
