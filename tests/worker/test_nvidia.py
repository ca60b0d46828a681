from __future__ import annotations

import ctypes
from typing import Any

import pytest

from detaudit.worker import nvidia


class Driver:
    """A driver with some devices."""

    def __init__(self, devices: list[tuple[str, int, int, int]], init: int = 0) -> None:
        self._devices = devices
        self._init = init

    def cuInit(self, flags: int) -> int:  # noqa: N802
        assert flags == 0
        return self._init

    def cuDriverGetVersion(self, version: Any) -> int:  # noqa: N802
        version._obj.value = 12_060
        return 0

    def cuDeviceGetCount(self, count: Any) -> int:  # noqa: N802
        count._obj.value = len(self._devices)
        return 0

    def cuDeviceGet(self, device: Any, index: int) -> int:  # noqa: N802
        device._obj.value = index
        return 0

    def cuDeviceGetName(self, name: Any, size: int, device: Any) -> int:  # noqa: N802
        name.value = self._devices[device.value][0].encode()[: size - 1]
        return 0

    def cuDeviceGetAttribute(self, value: Any, number: int, device: Any) -> int:  # noqa: N802
        value._obj.value = self._devices[device.value][{16: 1, 75: 2, 76: 3}[number]]
        return 0


def install(monkeypatch: pytest.MonkeyPatch, driver: Driver | None) -> None:
    def load(name: str) -> Driver:
        assert name in ("libcuda.so.1", "nvcuda.dll")
        if driver is None:
            raise OSError(name)
        return driver

    monkeypatch.setattr(ctypes, "CDLL", load)


def test_devices_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Driver([("NVIDIA A100", 108, 8, 0), ("NVIDIA H200", 132, 9, 0)]))
    assert nvidia.describe_driver() == {
        "driver": "12.6",
        "devices": [
            {"name": "NVIDIA A100", "multiprocessors": 108, "capability": "8.0"},
            {"name": "NVIDIA H200", "multiprocessors": 132, "capability": "9.0"},
        ],
    }


def test_a_long_name_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Driver([("X" * 200, 1, 7, 5)]))
    (device,) = nvidia.describe_driver()["devices"]
    assert device["name"] == "X" * 127


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, None)
    assert nvidia.describe_driver() == {
        "error": f"no NVIDIA driver is installed ({nvidia._LIBRARY} is missing)"
    }


def test_a_driver_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Driver([], init=100))
    assert nvidia.describe_driver() == {
        "error": "the NVIDIA driver found no usable GPU (cuInit returned 100)"
    }


def test_a_driver_without_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Driver([]))
    assert nvidia.describe_driver() == {"error": "there is no GPU"}
