"""What the NVIDIA driver says of its devices, asked without starting CUDA on one of them."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_MULTIPROCESSORS = 16
_CAPABILITY = (75, 76)


def describe_driver() -> dict[str, Any]:
    """Driver version and devices.

    Returns:
        ``{"driver": "13.0", "devices": [{"name", "multiprocessors", "capability"}]}``, or
        ``{"error": …}`` in words when there is no driver or no device

    """
    try:
        cuda = ctypes.CDLL(_LIBRARY)
    except OSError:
        return {"error": f"no NVIDIA driver is installed ({_LIBRARY} is missing)"}
    if code := cuda.cuInit(0):
        return {"error": f"the NVIDIA driver found no usable GPU (cuInit returned {code})"}
    version, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    cuda.cuDeviceGetCount(ctypes.byref(count))
    devices = [_device(cuda, index) for index in range(count.value)]
    driver = f"{version.value // 1000}.{version.value % 1000 // 10}"
    return {"driver": driver, "devices": devices} if devices else {"error": "there is no GPU"}


def _device(cuda: ctypes.CDLL, index: int) -> dict[str, Any]:
    device = ctypes.c_int()
    name = ctypes.create_string_buffer(128)
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device)
        return value.value

    return {
        "name": name.value.decode(errors="replace"),
        "multiprocessors": attribute(_MULTIPROCESSORS),
        "capability": ".".join(str(attribute(number)) for number in _CAPABILITY),
    }
