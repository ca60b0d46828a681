"""Operators that torch names as having no deterministic implementation."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from detaudit.worker.torch.blame import first_line

_ALERT = re.compile(r"(\S+) does not have a deterministic implementation")


def read_alert(text: str) -> str:
    """Operator that an error or a warning of the deterministic mode names, empty for any other."""
    found = _ALERT.search(text)
    return found[1] if found else ""


def collect_alerts(call: Callable[[], Any]) -> list[str]:
    """Operators that a call uses although they have no deterministic implementation.

    Args:
        call: what is run, in a mode that warns of each; the mode is put back afterwards

    Returns:
        their names as torch tells them, in the order of their first use

    """
    import torch

    mode = torch.get_deterministic_debug_mode()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with warnings.catch_warnings(record=True) as caught, contextlib.suppress(Exception):
            warnings.simplefilter("always")
            call()
    finally:
        torch.set_deterministic_debug_mode(mode)
    named = (read_alert(first_line(Exception(warning.message))) for warning in caught)
    return list(dict.fromkeys(filter(None, named)))


def explain_alert(op: str, found: Sequence[str]) -> str:
    """Why a target with ``deterministic=1`` ends, and how to go on.

    Args:
        op: operator that raised
        found: all operators of the call

    """
    import torch

    others = ", ".join(name for name in found if name != op)
    also = f" (also: {others})" if others else ""
    return (
        f"{op} has no deterministic implementation in torch {torch.__version__}{also};"
        " deterministic=warn_only runs it all the same"
    )
