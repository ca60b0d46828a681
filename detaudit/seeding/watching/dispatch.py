"""Draws that torch makes below Python, as dropout in an LSTM does."""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import Any

from .compilers import skip
from .desk import Call, desk
from .draws import observe_draw
from .states import TORCH_KINDS, find_all
from .wrap import Conclude, make


class Listener:
    """Ear on the operators that torch executes for this thread.

    Args:
        torch: The torch module.

    """

    def __init__(self, torch: ModuleType) -> None:
        self._thread = threading.get_ident()
        self._mode = _make_mode(torch)
        self._admitted = _admit(torch, type(self._mode))
        self._mode.__enter__()

    def close(self) -> bool:
        """Stop listening; False where this is not the thread or not the order to do so."""
        from torch.utils._python_dispatch import _get_current_dispatch_mode

        if threading.get_ident() != self._thread or _get_current_dispatch_mode() is not self._mode:
            return False
        self._mode.__exit__(None, None, None)
        for operator in self._admitted:
            del operator.python_key_table[type(self._mode)]
        return True


def _make_mode(torch: Any) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    generators = find_all(TORCH_KINDS)

    def observe(call: Call) -> Conclude | None:
        return observe_draw(call, generators)

    class Mode(TorchDispatchMode):  # type: ignore[misc,unused-ignore]
        supports_higher_order_operators = True

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # under any other mode nothing is compiled, or only an error raised

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # to skip it, torch would import its compiler first, which takes seconds

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            # Higher-order operators, such as torch.cond, have no tags.
            draws = torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())
            if not draws or desk.local.busy or not desk.watches:
                return func(*args, **kwargs)
            return make(func, observe, f"torch.ops.{func}", args, kwargs, sys._getframe(1))

    skip(Mode.__torch_dispatch__, make)
    return Mode()


def _admit(torch: Any, mode: type) -> list[Any]:
    """Let higher-order operators, such as ``torch.cond``, run under a mode.

    Those of newer versions of torch ask for ``supports_higher_order_operators``.
    """
    operators = list(torch._ops._higher_order_ops.values())
    for one in operators:
        one.py_impl(mode)(lambda _, *args, _run=one, **kwargs: _run(*args, **kwargs))
    return operators
