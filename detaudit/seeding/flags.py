"""Flags and environment variables that decide whether a seeded run repeats itself."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

VARIABLES = ("CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE", "PYTHONHASHSEED")


def read_flags(torch: ModuleType | None) -> dict[str, Any]:
    """Environment variables, and torch's flags where torch is given.

    Args:
        torch: The torch module, None where it is not imported.

    Returns:
        Strict JSON. ``cuda_matmul``, ``cudnn_conv`` and ``cudnn_rnn`` hold the arithmetic of
        float32 (``tf32``, ``ieee``, or ``none`` for the default, which is ``ieee`` in matrix
        products). ``float32_matmul_precision`` is None where torch's newer switches were
        used, since torch then refuses to tell.

    """
    flags: dict[str, Any] = {name: os.environ.get(name) for name in VARIABLES}
    if torch is not None:
        flags |= {
            "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
            "warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
            "fill_uninitialized_memory": _read_fill(torch),
            "cudnn_deterministic": torch.backends.cudnn.deterministic,
            "cudnn_benchmark": torch.backends.cudnn.benchmark,
            "default_dtype": str(torch.get_default_dtype()),
            "float32_matmul_precision": _read_matmul_precision(torch),
            **_read_fp32(torch),
        }
    return flags


def _read_fill(torch: ModuleType) -> bool | None:
    deterministic = getattr(torch.utils, "deterministic", None)  # since torch 2.2
    return getattr(deterministic, "fill_uninitialized_memory", None)


def _read_matmul_precision(torch: ModuleType) -> str | None:
    try:
        return str(torch.get_float32_matmul_precision())
    except RuntimeError:  # the newer switches were used
        return None


def _read_fp32(torch: ModuleType) -> dict[str, str]:
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    if hasattr(matmul, "fp32_precision"):  # since torch 2.9; reading the old flags too would mix
        return {
            "cuda_matmul": matmul.fp32_precision,
            "cudnn_conv": cudnn.conv.fp32_precision,
            "cudnn_rnn": cudnn.rnn.fp32_precision,
        }
    convolution = "tf32" if cudnn.allow_tf32 else "ieee"
    return {
        "cuda_matmul": "tf32" if matmul.allow_tf32 else "ieee",
        "cudnn_conv": convolution,
        "cudnn_rnn": convolution,
    }
