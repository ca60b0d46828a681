"""Calls that seed a global generator or set its state."""

from __future__ import annotations

import operator
import random
from types import ModuleType
from typing import Any

import numpy as np

from .. import seeds
from ..known import DEVICES_TOO, list_known
from .desk import Call, desk
from .patch import Target
from .states import find_all, read_bytes
from .wrap import Conclude, Observe, wrap

_GROUP = "seeds"
_BLOCKS = 16  # how far generators are followed at every call: a fraction of a millisecond


def list_python_seeds() -> list[Target]:
    """Seeding functions of this package, of ``random`` and of NumPy."""
    numpy = np.random
    targets = [
        _make_target(seeds, "set_seeds", "set_seeds", "all", 0),
        _make_target(random, "seed", "random.seed", "python", 0),
        _make_target(random, "setstate", "random.setstate", "python", None),
        _make_target(numpy, "seed", "numpy.random.seed", "numpy", 0),
        _make_target(numpy, "set_state", "numpy.random.set_state", "numpy", None),
    ]
    if hasattr(numpy, "set_bit_generator"):
        name = "set_bit_generator"
        targets.append(_make_target(numpy, name, f"numpy.random.{name}", "numpy", None))
    return targets


def list_torch_seeds(torch: ModuleType) -> list[Target]:
    """Seeding functions of torch and of its devices."""
    targets = [
        _make_target(module, name, f"torch.{name}", "torch", index)
        # The functions of both are the same, until torch's compiler wraps one of them.
        for module in (torch, torch.random)
        for name, index in (("manual_seed", 0), ("seed", None), ("set_rng_state", None))
    ]
    for kind in ("cuda", "mps", "xpu"):
        devices = getattr(torch, kind, None)
        for name, index in (
            ("manual_seed", 0),
            ("manual_seed_all", 0),
            ("seed", None),
            ("seed_all", None),
            ("set_rng_state", None),
            ("set_rng_state_all", None),
        ):
            if hasattr(devices, name):
                targets.append(_make_target(devices, name, f"torch.{kind}.{name}", kind, index))
    return targets


def _make_target(module: Any, name: str, label: str, generator: str, index: int | None) -> Target:
    original = getattr(module, name)
    wrapper = wrap(original, label, _observe(generator, index), module=module.__name__)
    return Target(_GROUP, original, wrapper)


def _observe(generator: str, index: int | None) -> Observe:
    """Observer of calls with a seed at a position, or of calls that have none."""

    def observe(call: Call) -> Conclude:
        desk.sweep(_BLOCKS)
        known = list_known()
        place = call.locate()
        keyword = "a" if call.label == "random.seed" else "seed"
        seed = None if index is None else _read_seed(call.get(index, keyword))
        what = f"{call.label}({_write_arguments(call, index, seed)})"
        # Compilers put states back again and again, also where nothing has moved them.
        generators = find_all(frozenset({generator})) if index is None else ()
        before = read_bytes(generators)

        def conclude(_: object) -> None:
            moved = index is not None or read_bytes(generators) != before
            if moved and not call.is_own:
                desk.report_seed(generator, _list_reached(generator), known, what, seed, place)
                desk.refresh()
            desk.settle(place)

        return conclude

    return observe


def _write_arguments(call: Call, index: int | None, seed: int | str | None) -> str:
    if not call.args and not call.kwargs:
        return ""
    return "..." if index is None else str(seed)


def _list_reached(generator: str) -> frozenset[str]:
    if generator == "torch":
        return DEVICES_TOO
    # What set_seeds reaches beside these two, it tells itself.
    return frozenset({"python", "numpy"} if generator == "all" else {generator})


def _read_seed(value: Any) -> int | str | None:
    if value is None:
        return None
    try:
        return operator.index(value)
    except TypeError:
        text = repr(value)
        return text if len(text) <= 40 else f"{text[:37]}..."
