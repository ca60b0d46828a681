"""Seeding of every global generator in one call."""

from __future__ import annotations

import importlib
import platform
import sys
from types import ModuleType
from typing import Any

import numpy as np

from . import determinism
from .check import check_seed
from .flags import read_flags
from .generators import (
    DEVICE_KINDS,
    NumpyGenerator,
    OnnxruntimeGenerator,
    Pending,
    PythonGenerator,
    TorchGenerator,
    find_generators,
)
from .known import add_known
from .unseeded import list_unseeded


def set_seeds(
    seed: int,
    deterministic: bool = False,
    *,
    runtimes: bool = False,
    torch: bool | None = None,
) -> dict[str, Any]:
    """Seed every global generator, and say what was seeded with what.

    Seeds Python's ``random``, NumPy's global generator, and torch's generators on the CPU and on
    every device; devices that are not initialised take the seed as soon as they are. Call it
    before a model is built, since building draws the weights. A seed repeats draws; it does not
    make an operation repeat itself whose result depends on the order of its threads.

    Args:
        seed: Python or NumPy integer in 0..2^32-1.
        deterministic: Also ask torch for deterministic algorithms (slower; operations without
            one raise), switch cuDNN's benchmark off, and set ``CUBLAS_WORKSPACE_CONFIG`` if it
            is unset. False puts back what an earlier True changed.
        runtimes: Also set ONNX Runtime's default seed, importing it if it is installed. It acts
            on sessions created later, and yields to a node's own seed.
        torch: None seeds torch if it is already imported, True imports it, False leaves it alone.

    Returns:
        Strict JSON: ``seed``, ``deterministic``, ``seeded`` (seed by generator, a list by device
        for ``cuda``, ``mps`` and ``xpu``), ``not_seeded`` (rows of ``what`` and ``why``),
        ``cublas_workspace`` (``value``, ``set_by``, ``usual``, ``too_late``), ``flags`` and
        ``versions`` as they are now, and ``notes``. Keep it with the results of the run.

    Raises:
        SeedError: If the seed is no integer in that range; nothing has been touched then.
        ImportError: If ``torch=True`` and torch cannot be imported; nothing has been touched.

    Examples:
        >>> import random
        >>> record = set_seeds(1)
        >>> first = random.random()
        >>> record["seeded"]["python"]
        1
        >>> _ = set_seeds(1)
        >>> random.random() == first
        True
        >>> set_seeds(-1)
        Traceback (most recent call last):
        ...
        detaudit.seeding.check.SeedError: seed: expected an integer in 0..4294967295, got -1

    """
    value = check_seed(seed)
    torch_module = _find_torch(torch)
    onnxruntime = _find_onnxruntime() if runtimes else None

    # The mode comes first: switching it imports parts of torch, which might draw.
    notes = _switch(deterministic, torch_module)
    PythonGenerator().seed(value)
    NumpyGenerator().seed(value)
    if torch_module is not None:
        TorchGenerator(torch_module).seed(value)
    if onnxruntime is not None:
        OnnxruntimeGenerator(onnxruntime).seed(value)

    seeded: dict[str, Any] = {}
    for generator in find_generators(torch_module):
        states = generator.read()
        seeded[generator.name] = [value] * len(states) if generator.name in DEVICE_KINDS else value
        if any(isinstance(state, Pending) for state in states):
            notes.append(f"{generator.name} is not initialised: it takes the seed when it is")
    if onnxruntime is not None:
        seeded["onnxruntime"] = value
        notes.append("ONNX Runtime's seed acts on sessions created from now on")
    add_known(frozenset(seeded))
    return {
        "seed": value,
        "deterministic": bool(deterministic),
        "seeded": seeded,
        "not_seeded": list_unseeded(set(seeded), runtimes=runtimes),
        "cublas_workspace": determinism.describe_cublas(),
        "flags": read_flags(sys.modules.get("torch")),
        "versions": _read_versions(),
        "notes": notes,
    }


def _find_torch(wanted: bool | None) -> ModuleType | None:
    if wanted is None:
        return sys.modules.get("torch")
    return importlib.import_module("torch") if wanted else None


def _find_onnxruntime() -> ModuleType | None:
    try:
        return importlib.import_module("onnxruntime")
    except ImportError:
        return None


def _switch(deterministic: bool, torch: ModuleType | None) -> list[str]:
    if not deterministic:
        return determinism.switch_off(torch)
    determinism.switch_on(torch)
    notes = []
    if torch is None:
        notes.append(
            "torch was not switched to deterministic algorithms: it is not imported, or was left "
            "alone"
        )
    cublas = determinism.describe_cublas()
    variable = f"{determinism.CUBLAS}={cublas['value']}"
    if not cublas["usual"]:
        usual = " or ".join(determinism.CUBLAS_USUAL)
        notes.append(f"{variable} is unusual and was kept: cuBLAS repeats itself with {usual}")
    if cublas["too_late"]:
        notes.append(
            f"{variable} came too late: CUDA was initialised already; set it before the process "
            "starts"
        )
    return notes


def _read_versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    for name in ("torch", "onnxruntime"):
        module = sys.modules.get(name)
        if module is not None:
            versions[name] = str(module.__version__)
    return versions
