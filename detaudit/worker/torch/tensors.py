"""Tensors of every kind as plain NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

_WIDER = {"bfloat16": "float32", "complex32": "complex64"}


def read_tensor(tensor: Any) -> tuple[np.ndarray, str]:
    """Values of a tensor, in memory of their own.

    What NumPy has no type for is widened without a loss: bfloat16 and the kinds of float8 become
    float32, quantised values what they stand for. Sparse tensors become dense.

    Args:
        tensor: any tensor but a nested one, on any device

    Returns:
        the values, and the type before they were widened, empty where they were not

    Raises:
        ValueError: if the tensor holds no values

    """
    import torch

    if tensor.device.type == "meta":
        raise ValueError("it is on the device meta and holds no values")
    values, declared = tensor.detach(), ""
    name = str(values.dtype).removeprefix("torch.")
    if values.is_quantized:
        values, declared = values.dequantize(), name
    if values.layout != torch.strided:
        values = values.to_dense()
    wider = "float32" if name.startswith("float8") else _WIDER.get(name)
    if wider:
        values, declared = values.to(getattr(torch, wider)), name
    # A copy, since the next call may write where this one has written.
    return values.resolve_conj().resolve_neg().cpu().numpy().copy(), declared
