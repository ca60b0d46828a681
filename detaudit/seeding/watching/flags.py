"""Calls and assignments that change a flag."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from ..flags import VARIABLES
from .desk import Call, desk
from .patch import Target
from .wrap import Conclude, make, wrap

_GROUP = "flags"
_FUNCTIONS = (
    "use_deterministic_algorithms",
    "set_deterministic_debug_mode",
    "set_default_dtype",
    "set_float32_matmul_precision",
)


def list_environment() -> list[Target]:
    """Methods that change ``os.environ``."""
    environ = type(os.environ)
    return [
        _make_method(environ, "__setitem__", "os.environ"),
        _make_method(environ, "__delitem__", "os.environ"),
    ]


def list_torch_flags(torch: ModuleType) -> list[Target]:
    """Functions, properties and methods that change flags of torch."""
    targets = []
    for name in _FUNCTIONS:
        original = getattr(torch, name)
        wrapper = wrap(original, f"torch.{name}", _observe, module="torch")
        targets.append(Target(_GROUP, original, wrapper))
    cudnn, matmul = type(torch.backends.cudnn), type(torch.backends.cuda.matmul)
    for name, original in vars(cudnn).items():
        if isinstance(original, torch.backends.ContextProp):
            targets.append(Target(_GROUP, original, _Property(original, name), cudnn, name))
    targets.append(_make_method(matmul, "__setattr__", "torch.backends.cuda.matmul"))
    precision = getattr(torch.backends, "_FP32Precision", None)  # since torch 2.9
    if precision is not None:
        targets.append(_make_method(precision, "__setattr__", "torch.backends"))
    return targets


class _Property:
    """A property of torch's backends whose changes are reported."""

    def __init__(self, original: Any, name: str) -> None:
        self._original = original
        self._name = name

    def __get__(self, owner: object, kind: type | None = None) -> Any:
        return self._original.__get__(owner, kind)

    def __set__(self, owner: object, value: object) -> None:
        if desk.local.busy or not desk.watches:
            self._original.__set__(owner, value)
        else:
            setter, frame = self._original.__set__, sys._getframe(1)
            make(setter, _observe, self._name, (owner, value), {}, frame)


def _make_method(owner: type, name: str, label: str) -> Target:
    original = getattr(owner, name)
    return Target(_GROUP, original, wrap(original, label, _observe), owner, name)


def _observe(call: Call) -> Conclude | None:
    if call.label == "os.environ" and call.args[1] not in VARIABLES:
        return None
    desk.compare_flags(None)
    place = call.locate()

    def conclude(_: object) -> None:
        desk.compare_flags(place, silent=call.is_own)

    return conclude
