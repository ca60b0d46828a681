"""The machine and the software that an audit ran on."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

_FLAGS = (
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "avx512f",
    "avx512_bf16",
    "avx512_vnni",
    "amx_bf16",
    "asimd",
)
_VARIABLES = re.compile(
    r"OMP_|MKL_|OPENBLAS_|ONEDNN_|DNNL_|ORT_|ATEN_CPU_CAPABILITY|NVIDIA_TF32_OVERRIDE|CUBLAS_|CUDA_|CUDNN_"
    r"|PYTHONHASHSEED|OPENVINO_|OV_"
)


def describe_environment() -> dict[str, Any]:
    """Machine, operating system, interpreter, versions and variables that can move a result.

    Returns:
        strict JSON: ``cpu {name, cores, flags}``, ``memory_bytes``, ``system``, ``machine``,
        ``python``, ``versions`` and ``variables``

    """
    import onnx

    return {
        "cpu": {"name": cpu_name(), "cores": _cores(), "flags": _cpu_flags()},
        "memory_bytes": _memory(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": {"numpy": np.__version__, "onnx": onnx.__version__},
        "variables": {k: v for k, v in sorted(os.environ.items()) if _VARIABLES.match(k)},
    }


def cpu_name() -> str:
    """Name of the processor, with its architecture where the system does not tell."""
    name = _cpuinfo("model name") or _cpuinfo("Processor") or platform.processor()
    return " ".join(name.split()) or platform.machine()


def _cpu_flags() -> list[str]:
    present = set((_cpuinfo("flags") or _cpuinfo("Features")).split())
    return [flag for flag in _FLAGS if flag in present]


def _cpuinfo(field: str) -> str:
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return ""
    found = re.search(rf"^{field}\s*:\s*(.*)$", path.read_text(errors="replace"), re.M)
    return found.group(1) if found else ""


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> int | None:
    if sys.platform == "win32" or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
