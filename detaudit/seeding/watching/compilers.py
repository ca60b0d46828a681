"""Keeping torch's compilers from meeting a wrapper."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType

from .patch import Target


def is_tracing() -> bool:
    """Whether torch.compile is at work: its calls make a graph and draw nothing."""
    guards = sys.modules.get("torch._guards")
    return guards is not None and guards.TracingContext.try_get() is not None


def introduce(torch: ModuleType, targets: Iterable[Target]) -> None:
    """Make TorchScript take wrappers for what they wrap.

    It knows the functions that it compiles to an operator by their address, and the source of the
    other ones by their own globals.
    """
    table = torch.jit._builtins._get_builtin_table()
    for one in targets:
        operator = table.get(id(one.original))
        if operator is not None:
            table[id(one.wrapper)] = operator
        elif hasattr(one.original, "__globals__"):
            vars(one.wrapper)["__script_if_tracing_wrapper"] = True
            vars(one.wrapper)["__original_fn"] = one.original


def forget(torch: ModuleType, targets: Iterable[Target]) -> None:
    """Make TorchScript forget the wrappers: their addresses may come to be another function's."""
    table = torch.jit._builtins._get_builtin_table()
    for one in targets:
        table.pop(id(one.wrapper), None)
