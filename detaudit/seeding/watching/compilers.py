"""Keeping torch's compilers from meeting a wrapper."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from .patch import Target


def is_tracing() -> bool:
    """Whether torch.compile is at work: its calls make a graph and draw nothing."""
    guards = sys.modules.get("torch._guards")
    return guards is not None and guards.TracingContext.try_get() is not None


def pause() -> Any:
    """Let torch.compile leave alone what this thread calls from now on.

    Where a compiled function cannot be compiled as a whole, every function that it calls is, and
    the wrappers and what they call would be among them.

    Returns:
        What ``resume`` needs.

    """
    frames = sys.modules.get("torch._C._dynamo.eval_frame")
    return None if frames is None else frames.set_eval_frame(None)


def resume(compiler: Any) -> None:
    """Let torch.compile go on as before ``pause``."""
    if compiler is not None:
        sys.modules["torch._C._dynamo.eval_frame"].set_eval_frame(compiler)


def skip(*functions: Callable[..., Any]) -> None:
    """Never let torch.compile touch these functions, which come before the pause."""
    frames: Any = sys.modules.get("torch._C._dynamo.eval_frame")
    for one in functions if frames is not None else ():
        if hasattr(frames, "skip_code"):  # until torch 2.6
            frames.skip_code(one.__code__)
        else:
            skipped = frames._FrameAction.SKIP
            frames.set_code_exec_strategy(
                one.__code__, frames._FrameExecStrategy(skipped, frames._FrameAction.DEFAULT)
            )


def introduce(torch: ModuleType, targets: Iterable[Target]) -> None:
    """Make TorchScript take wrappers for what they wrap.

    It knows the functions that it compiles to an operator by their address, and the source of the
    other ones by their own globals.
    """
    skip(pause, resume)
    table = torch.jit._builtins._get_builtin_table()
    for one in targets:
        if hasattr(one.wrapper, "__code__"):
            skip(one.wrapper)
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
