"""Operators that a call executes, each with the module that called it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from detaudit.seeding import get_seeds_state
from detaudit.worker.torch.duplicates import leaves_open
from detaudit.worker.torch.parts import name_modules
from detaudit.worker.torch.training import name_type

Row = tuple[str, str]


class OpWatch:
    """Notes operators whose result is not settled by their arguments.

    It sees those of eager code, of TorchScript and of exported programs; which module calls them
    is known in eager code.

    Args:
        model: what is called

    Attributes:
        random: operators that drew random numbers, with the module, in the order of first use
        unordered: operators that wrote several values to one place, likewise

    """

    def __init__(self, model: Any) -> None:
        self._names = name_modules(model)
        self._stack: list[str] = []
        self.random: dict[Row, None] = {}
        self.unordered: dict[Row, None] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the calls that are made inside."""
        from torch.nn.modules import module as hooks

        enter = hooks.register_module_forward_pre_hook(lambda module, _: self._enter(module))
        leave = hooks.register_module_forward_hook(lambda *_: self._leave(), always_call=True)
        try:
            with _make_mode(self):
                yield
        finally:
            enter.remove()
            leave.remove()

    def call(self, func: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Run an operator, and note it where it counts."""
        import torch

        row = str(func.overloadpacket), self._stack[-1] if self._stack else ""
        if leaves_open(func, args, named):
            self.unordered[row] = None
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return func(*args, **named)
        # Attention is tagged as well, though it draws only where it drops something out.
        before = get_seeds_state()
        result = func(*args, **named)
        if named.get("generator") is not None or get_seeds_state() != before:
            self.random[row] = None
        return result

    def _enter(self, module: Any) -> None:
        path, _ = self._names.get(id(module), ("?", module))
        self._stack.append(f"{path} ({name_type(module)})" if path else "")

    def _leave(self) -> None:
        self._stack.pop()


def _make_mode(watch: OpWatch) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return watch.call(func, args, kwargs or {})

    return Mode()
