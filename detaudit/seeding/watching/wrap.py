"""Wrappers that report a call and pass it on."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from .compilers import is_tracing
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
        return make(original, Call(label, args, kwargs, sys._getframe(1)), observe)

    if module is not None:
        # Pickle finds functions by these names; those of bound methods lead elsewhere.
        wrapper.__module__, wrapper.__qualname__ = module, original.__name__
    vars(wrapper)["_torchdynamo_inline"] = original  # what torch.compile is to see instead
    return wrapper


def make(original: Any, call: Call, observe: Observe) -> Any:
    """Make a call and report it."""
    if is_tracing():
        return original(*call.args, **call.kwargs)
    with desk.attend():
        with desk.lock:
            conclude = observe(call)
        # Without the lock: the call may wait for another thread that needs it.
        result = original(*call.args, **call.kwargs)
        if conclude is not None:
            with desk.lock:
                conclude(result)
        return result
