"""Calls that seed a global generator or set its state."""

from __future__ import annotations

import operator
import random
from types import ModuleType
from typing import Any

import numpy as np

from .. import seeds
from ..generators import DEVICE_KINDS
from ..known import DEVICES_TOO, forget_known, list_known
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
    return [
        *targets,
        _make_reader(random, "getstate", "python"),
        _make_reader(numpy, "get_state", "numpy"),
    ]


def list_torch_seeds(torch: ModuleType) -> list[Target]:
    """Seeding functions of torch and of its devices."""
    targets = [
        _make_target(module, name, f"torch.{name}", "torch", index)
        # The functions of both are the same, until torch's compiler wraps one of them.
        for module in (torch, torch.random)
        for name, index in (("manual_seed", 0), ("seed", None), ("set_rng_state", None))
    ]
    targets += [_make_reader(module, "get_rng_state", "torch") for module in (torch, torch.random)]
    for kind in DEVICE_KINDS:
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
        for name in ("get_rng_state", "get_rng_state_all"):
            if hasattr(devices, name):
                targets.append(_make_reader(devices, name, kind))
    return targets


def _make_target(module: Any, name: str, label: str, generator: str, index: int | None) -> Target:
    original = getattr(module, name)
    wrapper = wrap(original, label, _observe(generator, index), module=module.__name__)
    return Target(_GROUP, original, wrapper)


def _make_reader(module: Any, name: str, generator: str) -> Target:
    """Function that reads a state, which somebody may put back later."""
    original = getattr(module, name)

    def observe(call: Call) -> None:
        if not call.is_own:
            _save(frozenset({generator}))

    wrapper = wrap(original, f"{module.__name__}.{name}", observe, module=module.__name__)
    return Target(_GROUP, original, wrapper)


def _save(names: frozenset[str]) -> None:
    """Remember the states of those generators that nobody has seeded."""
    unseeded = names - list_known()
    if unseeded:
        desk.saved.add(read_bytes(find_all(unseeded)))


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
        sets_state = call.label.rpartition(".")[2].startswith("set") and index is None
        reached = frozenset({generator}) if sets_state else _list_reached(generator)
        _save(reached)

        def conclude(_: object) -> None:
            after = read_bytes(generators)
            if (index is not None or after != before) and not call.is_own:
                desk.report_seed(generator, reached, known, what, seed, place)
                if sets_state:
                    forget_known(desk.saved.find(after))
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
