"""The modules behind a callable, and the tensors that they hold."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any


def find_modules(model: Any) -> dict[str, Any]:
    """Modules that a callable runs, as far as they can be seen.

    Args:
        model: a module, which is its own only one; a bound method, a partial, a function with a
            closure, or an object that keeps modules as attributes

    Returns:
        modules by the path that leads to them, empty for the module itself

    """
    import torch

    return {
        name: value for name, value in _look_inside(model) if isinstance(value, torch.nn.Module)
    }


def find_weights(model: Any) -> dict[str, Any]:
    """Parameters and buffers behind a callable by name, tied and non-persistent ones included."""
    return {
        ".".join(filter(None, (path, name))): tensor
        for path, module in find_modules(model).items()
        for source in (module.named_parameters, module.named_buffers)
        for name, tensor in source(remove_duplicate=False)
    }


def find_plain_tensors(model: Any) -> dict[str, Any]:
    """Tensors that modules keep as plain attributes, by name; example inputs are none of theirs."""
    import torch

    return {
        f"{path}.{name}" if path else name: value
        for path, module in name_modules(model).values()
        for name, value in vars(module).items()
        if isinstance(value, torch.Tensor) and not name.startswith("example_input")
    }


def name_modules(model: Any) -> dict[int, tuple[str, Any]]:
    """Path and module by the identity of the module, for all modules behind a callable."""
    return {
        id(inner): (".".join(filter(None, (path, name))), inner)
        for path, module in find_modules(model).items()
        for name, inner in module.named_modules()
    }


def _look_inside(model: Any) -> Iterator[tuple[str, Any]]:
    import torch

    if isinstance(model, torch.nn.Module):
        yield "", model
    elif isinstance(model, types.MethodType):
        yield from _look_inside(model.__self__)
    elif isinstance(model, functools.partial):
        yield from _look_inside(model.func)
        yield from ((str(at), value) for at, value in enumerate(model.args))
        yield from model.keywords.items()
    elif isinstance(model, types.FunctionType):
        for name, cell in zip(model.__code__.co_freevars, model.__closure__ or (), strict=True):
            try:
                yield name, cell.cell_contents
            except ValueError:  # a name that was never bound
                continue
    else:
        yield from getattr(model, "__dict__", {}).items()
