"""Short fingerprints of generator states."""

from __future__ import annotations

import hashlib
import sys
from typing import Any

import numpy as np

from .flags import read_flags
from .generators import DEVICE_KINDS, Pending, find_generators


def get_seeds_state() -> dict[str, Any]:
    """Fingerprint of every global generator, and the flags that decide on repeatability.

    A fingerprint moves with every draw and every reseed and is the same in two processes whose
    generators are in the same state, values cached for the next normal draw included. Reading it
    draws nothing, imports nothing and initialises no device. ONNX Runtime's default seed cannot
    be read and is missing here.

    Returns:
        Strict JSON: ``python``, ``numpy`` and ``torch`` hold 16 hexadecimal digits (``torch`` is
        None while torch is not imported); ``cuda``, ``mps`` and ``xpu`` list one fingerprint per
        device, with the prefix ``pending-`` while the device is not initialised and only has a
        seed waiting; ``flags`` holds torch's flags and the environment variables that matter,
        None where a variable is not set or torch cannot tell.

    Examples:
        >>> import random
        >>> before = get_seeds_state()
        >>> _ = random.random()
        >>> after = get_seeds_state()
        >>> after["python"] != before["python"], after["numpy"] == before["numpy"]
        (True, True)

    """
    torch = sys.modules.get("torch")
    state: dict[str, Any] = {"torch": None, **{kind: [] for kind in DEVICE_KINDS}}
    for generator in find_generators(torch):
        prints = [_fingerprint(one) for one in generator.read()]
        state[generator.name] = prints if generator.name in DEVICE_KINDS else prints[0]
    return {**state, "flags": read_flags(torch)}


def _fingerprint(state: object) -> str:
    if isinstance(state, Pending):
        return f"pending-{_digest(state.seed)}"
    return _digest(state)


def _digest(state: object) -> str:
    return hashlib.sha256(repr(_normalize(state)).encode()).hexdigest()[:16]


def _normalize(value: Any) -> Any:
    """Nested builtins, since the text of arrays and scalars varies with NumPy's version."""
    if isinstance(value, dict):
        return [(key, _normalize(value[key])) for key in sorted(value)]
    if isinstance(value, (tuple, list)):
        return [_normalize(one) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if hasattr(value, "tolist") else value
