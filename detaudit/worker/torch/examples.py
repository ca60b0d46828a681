"""Inputs of a model as its own example inputs tell them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from detaudit.worker.failures import Failed
from detaudit.worker.torch.blame import blame
from detaudit.worker.torch.signature import Signature, list_parameters

_NAMES = ("example_inputs", "example_input_array")


def find_examples(owners: Iterable[Any], code: Path | None) -> Any:
    """Example inputs of the first owner that has some.

    Args:
        owners: the model, its factory, its file
        code: file of the user's code

    Returns:
        the attribute ``example_inputs`` or ``example_input_array``, or what it returns where it
        is a function; None where nobody has one

    Raises:
        Failed: if that function, or the property of this name, raises

    """
    import torch

    for owner in owners:
        for name in _NAMES:
            try:
                found = getattr(owner, name, None)
                if callable(found) and not isinstance(found, torch.nn.Module):
                    found = found()
            except Exception as error:
                raise Failed(f"{name} raised {blame(error, code)}") from None
            if found is not None:
                return found
    return None


def read_examples(examples: Any, model: Any) -> Signature:
    """Signature of a call with example inputs.

    A tensor is the first argument, the items of a tuple or list are arguments by position, those
    of a dict by keyword; a dict whose keys are no parameters is the first argument itself. Tensors
    and arrays become inputs of their type and shape, and integers stay within the values of the
    example; numbers, text and None stay as they are.

    Args:
        examples: what :func:`find_examples` returned
        model: what is called

    Raises:
        Failed: if they hold something else, or what the model does not take

    """
    found = Signature()
    names = _Names(model)
    if isinstance(examples, Mapping) and names.know(examples):
        args, named = [], dict(examples)
    elif isinstance(examples, (tuple, list)):
        args, named = list(examples), {}
    else:
        args, named = [examples], {}
    found.call = {
        "args": [build_node(found, names.position(i), item) for i, item in enumerate(args)],
        "kwargs": {str(name): build_node(found, str(name), item) for name, item in named.items()},
    }
    return found


def build_node(found: Signature, path: str, value: Any) -> dict[str, Any]:
    """Node of the call tree for an example value; its tensors are added to the inputs.

    Args:
        found: what the inputs are added to
        path: name of an input at this place
        value: tensor, array, number, text, None, or lists, tuples and dicts of these

    Raises:
        Failed: if it is something else

    """
    import torch

    if isinstance(value, torch.Tensor):
        return _add_tensor(found, path, value)
    if isinstance(value, np.ndarray):
        return _add_tensor(found, path, torch.as_tensor(value))
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"constant": value}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {
            "dict": {
                key: build_node(found, f"{path}[{json.dumps(key)}]", item)
                for key, item in value.items()
            }
        }
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        nodes = [build_node(found, f"{path}[{i}]", item) for i, item in enumerate(value)]
        return {"tuple" if isinstance(value, tuple) else "list": nodes}
    raise Failed(
        f"the example input {path} is of the type {type(value).__name__}; it may be a tensor, an"
        " array, a number, text or None, or a list, tuple or dict of these"
    )


def _add_tensor(found: Signature, path: str, tensor: Any) -> dict[str, Any]:
    import torch

    if tensor.is_nested or tensor.layout != torch.strided:
        kind = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
        raise Failed(
            f"the example input {path} is a tensor of the kind {kind}, and inputs are dense; let"
            " the model take a dense one"
        )
    dtype = str(tensor.dtype).removeprefix("torch.")
    return found.add(path, dtype, list(map(int, tensor.shape)), limits=_limits(tensor, dtype))


def _limits(tensor: Any, dtype: str) -> tuple[int | None, int | None]:
    """Smallest and largest value of integers, as far as there are any."""
    whole = dtype.startswith(("int", "uint")) and hasattr(np, dtype)
    if not whole or not tensor.numel() or tensor.device.type == "meta":
        return None, None
    # NumPy knows the order of all unsigned types, which torch does not.
    values = tensor.detach().cpu().numpy()
    return int(values.min()), int(values.max())


class _Names:
    """Names that the parameters of a model give to its arguments."""

    def __init__(self, model: Any) -> None:
        try:
            parameters = list_parameters(model)
        except Failed:
            parameters = []
        empty = inspect.Parameter
        self._any_keyword = any(one.kind is empty.VAR_KEYWORD for one in parameters)
        self._rest = next((o.name for o in parameters if o.kind is empty.VAR_POSITIONAL), None)
        self._named = [
            one.name
            for one in parameters
            if one.kind not in (empty.VAR_KEYWORD, empty.VAR_POSITIONAL)
        ]
        self._known = bool(parameters)
        self._positional = [
            one.name
            for one in parameters
            if one.kind in (empty.POSITIONAL_ONLY, empty.POSITIONAL_OR_KEYWORD)
        ]

    def know(self, keys: Collection[Any]) -> bool:
        """Whether the keys are names of arguments: all of them, and none otherwise."""
        unknown = [key for key in keys if key not in self._named]
        if self._any_keyword or not unknown:
            return True
        if len(unknown) < len(list(keys)):
            raise Failed(
                f"the example inputs name {', '.join(map(str, unknown))}, which the model does"
                f" not take; it takes {', '.join(self._named)}"
            )
        return False

    def position(self, index: int) -> str:
        """Name of an argument by position."""
        if index < len(self._positional):
            return self._positional[index]
        if self._rest is not None:
            return f"{self._rest}[{index - len(self._positional)}]"
        if not self._known:
            return f"input[{index}]"
        count = len(self._positional)
        raise Failed(f"there are more example inputs than the {count} that the model takes")
