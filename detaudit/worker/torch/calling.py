"""Arguments of a model's call, from the arrays of a sample."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from detaudit.worker.failures import Failed

_LEFT_OUT = object()


@dataclass(frozen=True, slots=True)
class Call:
    """How the inputs become the arguments of a call.

    Attributes:
        tree: ``{"args": [node…], "kwargs": {name: node}}``; a node is ``{"input": name}``,
            ``{"constant": JSON}``, ``{"list": […]}``, ``{"tuple": […]}`` or ``{"dict": {…}}``; an
            input may carry the ``dtype`` that it is cast to, where NumPy lacks it
        device: ``torch.device`` that the tensors are moved to
        dtype: ``torch.dtype`` that floating-point tensors are cast to, None for their own

    """

    tree: Mapping[str, Any]
    device: Any
    dtype: Any = None

    def build(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments.

        On the CPU tensors share the memory of the arrays, so that a model that changes its input
        in place is found out. What has no array is left out.

        Args:
            values: arrays by the names of the inputs

        Raises:
            Failed: if an input is text, or one that others follow has no array

        """
        args = [self._build(node, values) for node in self.tree["args"]]
        while args and args[-1] is _LEFT_OUT:
            args.pop()
        if any(value is _LEFT_OUT for value in args):
            raise Failed("an argument that others follow has no array")
        named = {key: self._build(node, values) for key, node in self.tree["kwargs"].items()}
        return args, {key: value for key, value in named.items() if value is not _LEFT_OUT}

    def _build(self, node: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
        if "input" in node:
            name = node["input"]
            return self._place(name, values[name], node) if name in values else _LEFT_OUT
        if "constant" in node:
            return node["constant"]
        if "dict" in node:
            built = {key: self._build(item, values) for key, item in node["dict"].items()}
            return {key: value for key, value in built.items() if value is not _LEFT_OUT}
        items = [self._build(item, values) for item in node.get("list", node.get("tuple"))]
        items = [item for item in items if item is not _LEFT_OUT]
        return tuple(items) if "tuple" in node else items

    def _place(self, name: str, array: np.ndarray, node: Mapping[str, Any]) -> Any:
        import torch

        if array.dtype.kind not in "biufc":
            raise Failed(f"input '{name}' is text, which torch has no tensors for")
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        with warnings.catch_warnings():
            # That it must not be written is the point, and a breach is found after the run.
            warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
            tensor = torch.from_numpy(native)
        dtype = getattr(torch, node["dtype"]) if "dtype" in node else None
        if self.dtype is not None and tensor.is_floating_point():
            dtype = self.dtype
        return tensor.to(self.device, dtype)
