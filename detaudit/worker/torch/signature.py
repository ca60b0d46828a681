"""Inputs of a model as the parameters of its code tell them."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import Any

from detaudit.worker.failures import Failed

_TYPES = {
    "LongTensor": "int64",
    "IntTensor": "int32",
    "BoolTensor": "bool",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "FloatTensor": "float32",
}
_TENSOR = re.compile(r"Tensor|ndarray|\bAny\b")
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(slots=True)
class Signature:
    """How a model is called, in the form of the message ``described``.

    Attributes:
        inputs: rows of ``name``, ``dtype``, ``shape``, ``required``, ``low`` and ``high``
        call: call tree, see :class:`detaudit.worker.torch.calling.Call`
        limits: rows of a symbol, its largest size or None, and its smallest size
        outputs: names of the outputs, empty where they are not known

    """

    inputs: list[dict[str, Any]] = field(default_factory=list)
    call: dict[str, Any] = field(default_factory=lambda: {"args": [], "kwargs": {}})
    limits: list[list[Any]] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def add(
        self,
        name: str,
        dtype: str = "",
        shape: list[int | str | None] | None = None,
        *,
        required: bool = True,
        limits: tuple[int | None, int | None] = (None, None),
    ) -> dict[str, Any]:
        """Add an input.

        Args:
            name: such as ``x`` or ``batch["ids"]``
            dtype: name of the type, empty where it is not known
            shape: sizes of the axes, None where they are not known
            required: whether the model has to be given it
            limits: smallest and largest value, None where any will do

        Returns:
            its node in the call tree

        """
        # What NumPy has no type for is fed in a wider one, and cast before the call.
        fed = "float32" if dtype == "bfloat16" or dtype.startswith("float8") else dtype
        low, high = limits
        self.inputs.append(
            {
                "name": name,
                "dtype": fed,
                "shape": shape,
                "required": required,
                "low": low,
                "high": high,
            }
        )
        return {"input": name} if fed == dtype else {"input": name, "dtype": dtype}


def list_parameters(model: Any) -> list[inspect.Parameter]:
    """Parameters of a model's call, without ``self``.

    Raises:
        Failed: if nothing tells them

    """
    import torch

    called = model.forward if isinstance(model, torch.nn.Module) else model
    try:
        return list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        raise Failed(f"nothing tells what a {type(model).__name__} takes; {ADVICE}") from None


ADVICE = "let the model, its factory or its file have an attribute example_inputs"


def read_parameters(model: Any) -> Signature:
    """Signature by the names of the parameters, all of which are passed by keyword.

    Parameters that have a default other than a tensor or None keep it.

    Raises:
        Failed: if nothing tells the parameters, or there is no way to name them

    """
    found = Signature()
    parameters = list_parameters(model)
    for one in parameters:
        if one.kind is one.POSITIONAL_ONLY and _may_be_tensor(one):
            found.call["args"].append(_add(found, one))
        elif one.kind in _NAMED and _may_be_tensor(one):
            found.call["kwargs"][one.name] = _add(found, one)
    open_ = [str(one) for one in parameters if one.kind is one.VAR_POSITIONAL]
    if open_ and not found.inputs:
        raise Failed(f"the model takes {open_[0]}, which does not tell how many inputs; {ADVICE}")
    return found


def _add(found: Signature, parameter: inspect.Parameter) -> dict[str, Any]:
    text = str(parameter.annotation)
    dtype = next((dtype for name, dtype in _TYPES.items() if name in text), "")
    return found.add(parameter.name, dtype, required=parameter.default is parameter.empty)


def _may_be_tensor(parameter: inspect.Parameter) -> bool:
    import torch

    if parameter.default is parameter.empty or isinstance(parameter.default, torch.Tensor):
        return True
    if parameter.default is not None:
        return False
    annotation = parameter.annotation
    return annotation is parameter.empty or bool(_TENSOR.search(str(annotation)))
