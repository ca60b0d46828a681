"""How the user words an input, ``--input NAME=SPEC``; light enough for the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from detaudit.errors import UsageError

KNOWN = "zeros, ones, normal, normal:MEAN:STD, uniform:LOW:HIGH, int:LOW:HIGH, value:V, @FILE.npy"

_SPEC = re.compile(r"@|(zeros|ones|normal)$|(normal|uniform|int|value):")


def split_value(text: str, names: Iterable[str] = ()) -> tuple[str, str]:
    """Split ``NAME=SPEC`` although names and files may hold equals signs.

    Args:
        text: what the user wrote
        names: inputs of the model, when they are known

    Returns:
        name and specification

    Raises:
        UsageError: if there is no equals sign

    Examples:
        >>> split_value("serving_default_input_2:0=uniform:-1:1")
        ('serving_default_input_2:0', 'uniform:-1:1')
        >>> split_value("a=b=@x=y.npy", ["a", "a=b"])
        ('a=b', '@x=y.npy')

    """
    for name in sorted(names, key=len, reverse=True):
        if text.startswith(f"{name}="):
            return name, text[len(name) + 1 :]
    cuts = [match.start() for match in re.finditer("=", text) if match.start() > 0]
    if not cuts:
        raise UsageError(f"--input {text}: write NAME=SPEC, where SPEC is one of {KNOWN}")
    cut = next((cut for cut in cuts if _SPEC.match(text, cut + 1)), cuts[0])
    return text[:cut], text[cut + 1 :]
