"""Noticing that torch has been imported."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Arrival:
    """Finder that finds nothing itself, and says when torch's own import has come to an end.

    Args:
        tell: Called with the module.

    """

    def __init__(self, tell: Callable[[ModuleType], None]) -> None:
        self._tell = tell
        self._asked = False

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Spec of torch as the other finders give it; None for everything else."""
        if name != "torch" or self._asked:
            return None
        self._asked = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asked = False
        if spec is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            execute(module)
            self._tell(module)

        loader.exec_module = exec_module
