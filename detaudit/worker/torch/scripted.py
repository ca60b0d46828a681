"""Inputs of a TorchScript model as its schema tells them."""

from __future__ import annotations

from typing import Any

from detaudit.worker.failures import Failed
from detaudit.worker.torch.signature import ADVICE, Signature


def is_scripted(model: Any) -> bool:
    """Whether a model is a module or function of TorchScript."""
    import torch

    return isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction))


def read_schema(model: Any) -> Signature:
    """Signature by the arguments of the schema that are tensors; others keep their defaults.

    Args:
        model: for which :func:`is_scripted` holds

    Raises:
        Failed: if an argument that is no tensor has no default

    """
    import torch

    found = Signature()
    scripted = isinstance(model, torch.jit.ScriptModule)
    schema = model.forward.schema if scripted else model.schema
    for argument in schema.arguments[1:] if scripted else schema.arguments:
        kind = str(argument.type)
        required = not argument.has_default_value()
        if kind in ("Tensor", "Optional[Tensor]"):
            found.call["kwargs"][argument.name] = found.add(argument.name, required=required)
        elif required:
            raise Failed(
                f"the model's argument {argument.name} is of the type {kind} and has no default;"
                f" {ADVICE}"
            )
    return found
