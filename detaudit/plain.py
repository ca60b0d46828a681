"""Frozen dataclasses as plain JSON values and back."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Value in the types that strict JSON has.

    NaN and the infinities become the texts ``"nan"``, ``"inf"`` and ``"-inf"``, complex numbers
    texts such as ``"(1+2j)"``.

    Args:
        value: dataclass (without the fields whose metadata says ``plain: False``), mapping,
            sequence, path, number (of NumPy too), text or None

    Examples:
        >>> to_plain({"a": (1, float("nan"))})
        {'a': [1, 'nan']}

    """
    if dataclasses.is_dataclass(value):
        return {
            f.name: to_plain(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if f.metadata.get("plain", True)
        }
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return to_plain(value.tolist())
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value


def from_plain(kind: type[T], value: Any) -> T:
    """Value of a type from its plain form.

    Args:
        kind: dataclass, or a type that a dataclass field is annotated with
        value: what :func:`to_plain` returned

    Returns:
        the value; keys that the dataclass does not know are passed over

    Raises:
        TypeError: if a field without default is missing
        ValueError: if a value does not fit its type

    Examples:
        >>> from detaudit.target import Target, parse_target
        >>> from_plain(Target, to_plain(parse_target("cpu[opt=off]"))).name
        'cpu[opt=off]'

    """
    return typing.cast(T, _decode(kind, value))


def _decode(kind: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        options = [a for a in arguments if a is not type(None)]
        exact = [a for a in options if isinstance(a, type) and type(value) is a]
        return _decode((exact or options)[0], value)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return tuple(_decode(arguments[0], item) for item in value)
        return tuple(_decode(a, item) for a, item in zip(arguments, value, strict=True))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _decode(arguments[1], item) for key, item in value.items()}
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        known = {f.name for f in dataclasses.fields(kind) if f.init}
        given = {k: _decode(hints[k], v) for k, v in value.items() if k in known}
        return typing.cast(Any, kind)(**given)
    if kind is float:
        # Differences of integers are whole and may be larger than a float can tell apart.
        return value if isinstance(value, int) else float(value)
    if kind is Path:
        return Path(value)
    return value
