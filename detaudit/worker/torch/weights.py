"""What the weights of a model are, told by their bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from detaudit.worker.torch.parts import find_plain_tensors, find_weights
from detaudit.worker.torch.tensors import read_tensor


def digest_weights(model: Any) -> dict[str, str]:
    """SHA-256 of every parameter, buffer and plain tensor by its name, over type, shape, bytes.

    Args:
        model: what :func:`detaudit.worker.torch.parts.find_weights` takes

    """
    held = {**find_plain_tensors(model), **find_weights(model)}
    return {name: _digest(tensor) for name, tensor in held.items()}


def join_digests(digests: Mapping[str, str]) -> str:
    """SHA-256 over all names and their digests in the order of the names."""
    return hashlib.sha256(json.dumps(sorted(digests.items())).encode()).hexdigest()


def has_open_weights(model: Any) -> bool:
    """Whether weights of lazy modules still wait for their shapes and values."""
    from torch.nn.parameter import is_lazy

    return any(map(is_lazy, find_weights(model).values()))


def _digest(tensor: Any) -> str:
    from torch.nn.parameter import is_lazy

    kind = str(tensor.dtype)
    if is_lazy(tensor) or tensor.device.type == "meta":
        # They get their values later, or never.
        return hashlib.sha256(f"{kind} without values".encode()).hexdigest()
    array, _ = read_tensor(tensor)
    sha = hashlib.sha256(json.dumps([kind, array.shape]).encode())
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
    sha.update(little.reshape(-1).view(np.uint8).data)
    return sha.hexdigest()
