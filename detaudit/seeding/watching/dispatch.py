"""Draws that torch makes below Python, as dropout in an LSTM does."""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import Any

from .desk import Call, desk
from .draws import observe_draw
from .states import TORCH_KINDS, find_all
from .wrap import make


class Listener:
    """Ear on the operators that torch executes for this thread.

    Args:
        torch: The torch module.

    """

    def __init__(self, torch: ModuleType) -> None:
        self._thread = threading.get_ident()
        self._mode = _make_mode(torch)
        self._mode.__enter__()

    def close(self) -> bool:
        """Stop listening; False where this is not the thread or not the order to do so."""
        from torch.utils._python_dispatch import _get_current_dispatch_mode

        if threading.get_ident() != self._thread or _get_current_dispatch_mode() is not self._mode:
            return False
        self._mode.__exit__(None, None, None)
        return True


def _make_mode(torch: Any) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    generators = find_all(TORCH_KINDS)

    class Mode(TorchDispatchMode):  # type: ignore[misc,unused-ignore]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # to skip it, torch would import its compiler first, which takes seconds

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            draws = torch.Tag.nondeterministic_seeded in func.tags
            if not draws or desk.local.busy or not desk.watches:
                return func(*args, **kwargs)
            call = Call(f"torch.ops.{func}", args, kwargs, sys._getframe(1))
            return make(func, call, lambda one: observe_draw(one, generators))

    return Mode()
