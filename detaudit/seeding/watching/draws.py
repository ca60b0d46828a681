"""Calls that draw from a global generator."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import numpy as np

from ..generators import Generator, NumpyGenerator, PythonGenerator
from .desk import Call, desk
from .patch import Target
from .states import TORCH_KINDS, find_all, read_bytes
from .wrap import Conclude, Observe, wrap

GROUPS = ("draws/python", "draws/numpy", "draws/torch")

_UNSEEDED_GENERATOR = 67280421310721  # seed of every torch.Generator() that nobody seeded
_NO_DRAWS = frozenset({"seed", "setstate", "getstate", "set_state", "get_state"})
_TORCH = (
    *("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like"),
    *("normal", "bernoulli", "multinomial", "poisson", "binomial", "rrelu", "rrelu_"),
    *("dropout", "dropout_", "alpha_dropout", "alpha_dropout_", "native_dropout"),
    *("feature_dropout", "feature_dropout_", "feature_alpha_dropout", "feature_alpha_dropout_"),
)
_TENSOR = (
    *("uniform_", "normal_", "random_", "bernoulli_", "cauchy_", "exponential_", "geometric_"),
    *("log_normal_", "bernoulli", "multinomial"),
)
_FUNCTIONAL = (
    *("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"),
    *("rrelu", "rrelu_", "scaled_dot_product_attention"),
)


def list_python_draws() -> list[Target]:
    """Drawing functions of the modules ``random`` and ``numpy.random``."""
    return [
        *(
            _make_target("draws/python", random, name, "random", (PythonGenerator(),))
            for name in _list_functions(random, random)
        ),
        *(
            _make_target("draws/numpy", np.random, name, "numpy.random", (NumpyGenerator(),))
            for name in _list_functions(np.random, np.random.mtrand)
        ),
    ]


def list_torch_draws(torch: ModuleType) -> list[Target]:
    """Drawing functions of torch and drawing methods of its tensors."""
    functional, generators = torch.nn.functional, find_all(TORCH_KINDS)
    loose = [(torch, name, "torch") for name in _TORCH]
    loose += [(functional, name, "torch.nn.functional") for name in _FUNCTIONAL]
    targets = [
        _make_target("draws/torch", module, name, path, generators)
        for module, name, path in loose
        if hasattr(module, name)
    ]
    for name in _TENSOR:
        original = getattr(torch.Tensor, name)
        wrapper = wrap(original, f"torch.Tensor.{name}", _observe(generators))
        targets.append(Target("draws/torch", original, wrapper, torch.Tensor, name))
    return targets


def observe_draw(call: Call, generators: tuple[Generator, ...]) -> Conclude | None:
    """Report a call as a draw from every generator that it moves.

    Args:
        call: The call.
        generators: Those that it can move.

    """
    if call.is_own:
        return None
    if not desk.wants_draws(generators[0].name):
        desk.refresh()
        return None
    desk.notice_seeds()
    _report_unseeded(call)
    before = read_bytes(generators)

    def conclude(_: object) -> None:
        after = read_bytes(generators)
        place = call.locate()
        for kind, state in before.items():
            if after.get(kind) != state:
                desk.report_draw(kind, call.label, place, state)

    return conclude


def _observe(generators: tuple[Generator, ...]) -> Observe:
    return lambda call: observe_draw(call, generators)


def _report_unseeded(call: Call) -> None:
    """A generator of torch that nobody seeded: it draws the same numbers wherever it is made."""
    generator = call.kwargs.get("generator")
    if generator is None or generator.initial_seed() != _UNSEEDED_GENERATOR:
        return
    import torch

    if generator is not torch.default_generator:
        what = f"{call.label}(generator=...) with a torch.Generator() that has torch's default seed"
        desk.report("unseeded-generator", "torch", what, call.locate())


def _make_target(
    group: str, module: Any, name: str, path: str, generators: tuple[Generator, ...]
) -> Target:
    original = getattr(module, name)
    wrapper = wrap(original, f"{path}.{name}", _observe(generators), module=module.__name__)
    return Target(group, original, wrapper)


def _list_functions(public: Any, source: Any) -> list[str]:
    """Public functions that are bound to a module's global generator, or drawing aliases of it."""
    return [
        name
        for name in public.__all__
        if name not in _NO_DRAWS
        and not isinstance(getattr(public, name), type)
        and hasattr(source, name)
    ]
