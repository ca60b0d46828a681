"""What a torch model returns, as arrays under the paths that lead to them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from detaudit.worker.failures import Failed, Misuse
from detaudit.worker.leaves import Leaf
from detaudit.worker.torch.blame import first_line
from detaudit.worker.torch.tensors import read_tensor

ALONE = "output"
"""Name of an output that has none."""

_MARKER = re.compile(r"^(?:len|present)\((.*)\)$")


def walk_outputs(value: Any, asked: Collection[str] = ()) -> Iterator[Leaf]:
    """Walk through what a model returned.

    Keys of a map and fields of a dataclass or a named tuple are names of outputs; a tensor alone
    is ``output``, the items of a tuple or list are ``output[0]``, ``output[1]`` and so on.

    Args:
        value: what the model returned
        asked: names or paths of the outputs to convert, empty for all

    Yields:
        the arrays in it

    Raises:
        Failed: if it holds something that is neither a number nor text
        Misuse: if an output that was asked for does not exist

    """
    tops = list(_name_tops(value))
    paths: list[str] = []
    for name, item in tops:
        for leaf in _walk(name, item, asked):
            paths.append(leaf.path)
            yield leaf
    for wanted in asked:
        if not any(_covers(wanted, path) for path in paths):
            known = ", ".join(name for name, _ in tops) or "none"
            raise Misuse(f"the model returns no output '{wanted}'; it returns: {known}")


def list_tensors(value: Any) -> Iterator[Any]:
    """All tensors in what a model returned."""
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    else:
        for _, item in _open(value) or ():
            yield from list_tensors(item)


def name_outputs(value: Any) -> list[str]:
    """Paths of all tensors, numbers and texts in a structure, in order."""
    return [path for name, item in _name_tops(value) for path in _name_leaves(name, item)]


def _name_leaves(path: str, value: Any) -> Iterator[str]:
    inner = _open(value)
    if inner is None:
        yield path
    else:
        for step, item in inner:
            yield from _name_leaves(path + step, item)


def _name_tops(value: Any) -> Iterator[tuple[str, Any]]:
    names = _fields(value)
    if names is None and isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        names = dict(value)
    if names:
        yield from names.items()
        return
    inner = _open(value)
    if not inner:
        yield ALONE, value
        return
    for step, item in inner:
        yield ALONE + step, item


def _open(value: Any) -> list[tuple[str, Any]] | None:
    """Items of a structure with the step that leads to each, None for anything else."""
    fields = _fields(value)
    if fields is not None:
        return [(f".{name}", item) for name, item in fields.items()]
    if isinstance(value, Mapping):
        return [(f"[{_write_key(key)}]", value[key]) for key in value]
    if isinstance(value, (list, tuple)):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    return None


def _fields(value: Any) -> dict[str, Any] | None:
    """Fields of a dataclass or a named tuple, None for anything else."""
    if isinstance(value, Mapping):
        # Models of transformers return maps that are dataclasses too, and leave out what is None.
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        if names is None and type(value).__module__ == "torch.return_types":
            names = getattr(type(value), "__match_args__", None)
        if names:
            return dict(zip(names, value, strict=True))
    return None


def _write_key(key: Any) -> str:
    return json.dumps(key) if isinstance(key, (str, int)) else repr(key)


def _walk(path: str, value: Any, asked: Collection[str]) -> Iterator[Leaf]:
    import torch

    if asked and not any(_covers(one, path) or _covers(path, one) for one in asked):
        return
    inner = _open(value)
    if inner is None and isinstance(value, torch.Tensor) and value.is_nested:
        inner = [(f"[{index}]", item) for index, item in enumerate(value.unbind())]
    if inner is None:
        yield _convert(path, value)
    elif not inner:
        # Something has to tell that there was a structure, or its loss would go unnoticed.
        yield Leaf(f"len({path})", np.array(0, np.int64))
    else:
        for step, item in inner:
            yield from _walk(path + step, item, asked)


def _covers(asked: str, path: str) -> bool:
    bare = _MARKER.sub(r"\1", path)
    return bare == asked or bare.startswith((f"{asked}[", f"{asked}."))


def _convert(path: str, value: Any) -> Leaf:
    import torch

    if value is None:
        return Leaf(f"present({path})", np.array(False))
    if isinstance(value, torch.Tensor):
        try:
            array, declared = read_tensor(value)
        except Exception as error:
            kind = f"{type(value).__name__} of {str(value.dtype).removeprefix('torch.')}"
            raise Failed(
                f"{_call_output(path)}, a {kind}, cannot be read: {first_line(error)}"
            ) from None
        return Leaf(path, array, declared=declared)
    if isinstance(value, (bool, int, float, complex, str, np.ndarray, np.generic)):
        array = np.array(value)
        if array.dtype.kind in "biufcU":
            return Leaf(path, array)
    name = type(value).__name__
    raise Failed(
        f"{_call_output(path)} is of the type {name}; what can be compared is tensors, arrays,"
        " numbers and text, and lists, tuples, dicts and dataclasses of these"
    )


def _call_output(path: str) -> str:
    return "the output" if path == ALONE else f"the output {path}"
