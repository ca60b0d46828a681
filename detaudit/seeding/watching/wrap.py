"""Wrappers that report a call and pass it on."""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from .compilers import is_tracing, pause, resume
from .desk import Call, desk

Conclude = Callable[[Any], None]
Observe = Callable[[Call], "Conclude | None"]


def wrap(original: Any, label: str, observe: Observe, *, module: str | None = None) -> Any:
    """Function that behaves as another one and reports its calls.

    Calls that are made within a wrapped call belong to it and are not reported.

    Args:
        original: The function.
        label: How reports call it.
        observe: Told of a call before it is made; what it returns is told the result, unless the
            call raises.
        module: Module to find the function in, where it is none of a class.

    """

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if desk.local.busy or not desk.watches:
            return original(*args, **kwargs)
        return make(original, observe, label, args, kwargs, sys._getframe(1))

    if module is not None:
        # Pickle finds functions by these names; those of bound methods lead elsewhere.
        wrapper.__module__, wrapper.__qualname__ = module, original.__name__
    own = getattr(original, "__self__", None)
    if isinstance(own, (random.Random, np.random.RandomState)):
        # Some ask a function of a module for the global generator that it belongs to.
        vars(wrapper)["__self__"] = own
    vars(wrapper)["_torchdynamo_inline"] = original  # what torch.compile is to see instead
    return wrapper


def make(
    original: Any,
    observe: Observe,
    label: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType,
) -> Any:
    """Make a call and report it.

    Args:
        original: The function.
        observe: As for ``wrap``.
        label: How reports call the function.
        args: Arguments by position.
        kwargs: Arguments by name.
        frame: Frame that makes the call.

    """
    compiler = pause()
    try:
        if is_tracing():
            return _pass_on(original, args, kwargs, compiler)
        with desk.attend():
            conclude = _try(observe, Call(label, args, kwargs, frame), label)
            # Without the lock: the call may wait for another thread that needs it.
            result = _pass_on(original, args, kwargs, compiler)
            if conclude is not None:
                _try(conclude, result, label)
            return result
    finally:
        resume(compiler)


def _try(step: Callable[[Any], Any], value: Any, label: str) -> Any:
    """Look at a call; whoever makes it is not to suffer from what goes wrong here."""
    with desk.lock:
        try:
            return step(value)
        except Exception as error:
            desk.note(f"{label} was not seen: {type(error).__name__}: {error}")
            return None


def _pass_on(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any], compiler: Any) -> Any:
    resume(compiler)
    try:
        return original(*args, **kwargs)
    finally:
        pause()
