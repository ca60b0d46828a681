"""Compiled models, and the proof that something was compiled."""

from __future__ import annotations

from typing import Any

_COMPILER = ("torch._dynamo", "torch._inductor")


def compile_model(model: Any) -> Any:
    """Model that torch compiles at its first call, with nothing left of earlier ones."""
    import torch
    from torch._dynamo.utils import counters

    # What another session has compiled is guarded against the weights of this one.
    torch.compiler.reset()
    counters.clear()
    return torch.compile(model)


def has_compiled() -> bool:
    """Whether torch has compiled any part of the last model."""
    from torch._dynamo.utils import counters

    return bool(counters["stats"]["unique_graphs"])


def is_compiler_error(error: BaseException) -> bool:
    """Whether an error comes from the compiler and not from the model."""
    return any(kind.__module__.startswith(_COMPILER) for kind in type(error).__mro__)
