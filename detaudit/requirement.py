"""What a model has to meet on every target."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from detaudit.errors import UsageError

_KINDS = ("identical", "decimals", "max_abs", "ulp", "no-class-flip", "flip-rate")
_FORMS = "identical, decimals=K, max_abs=X, ulp=N, no-class-flip, flip-rate=P"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition.

    Attributes:
        kind: ``identical``, ``decimals``, ``max_abs``, ``ulp``, ``no-class-flip``, ``flip-rate``
        limit: the number behind the equals sign, 0 where the kind has none
        output: name of the output that it is about, None for all
        text: the condition as it was written

    """

    kind: str
    limit: float
    output: str | None
    text: str


def parse_requirement(text: str) -> tuple[Requirement, ...]:
    """Conditions in a text.

    Args:
        text: such as ``identical`` or ``decimals=3,scores:no-class-flip``

    Returns:
        all conditions, in their order

    Raises:
        UsageError: if one of them is not known or its number cannot be read

    Examples:
        >>> parse_requirement("decimals=3")
        (Requirement(kind='decimals', limit=3.0, output=None, text='decimals=3'),)

    """
    return tuple(_parse_one(item.strip()) for item in text.split(","))


def _parse_one(item: str) -> Requirement:
    output, colon, condition = item.rpartition(":")
    if colon and not output:
        raise UsageError(f"requirement '{item}' names no output before its colon")
    kind, equals, number = condition.partition("=")
    if kind not in _KINDS:
        raise UsageError(f"unknown requirement '{item}'; known requirements: {_FORMS}")
    counted = kind in ("identical", "no-class-flip")
    if counted == bool(equals):
        form = "takes no number" if counted else f"needs a number, such as {kind}=3"
        raise UsageError(f"requirement '{item}': {kind} {form}")
    pattern = r"\d+" if kind in ("decimals", "ulp") else r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
    limit = 0.0
    if not counted:
        limit = float(number) if re.fullmatch(pattern, number, re.I) else math.inf
        if limit == math.inf or (kind == "flip-rate" and limit > 1):
            raise UsageError(f"requirement '{item}': '{number}' is no number that {kind} can have")
    if kind == "decimals" and limit > 12:
        raise UsageError(f"requirement '{item}': at most 12 decimals can be required")
    return Requirement(kind, limit, output or None, item)
