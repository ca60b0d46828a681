"""What a project asks of its audits: ``[tool.detaudit]`` in its ``pyproject.toml``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from detaudit.errors import UsageError

_FILE = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Project:
    """Defaults of a project.

    Attributes:
        file: path of the file that they were read from, relative to where it was looked for; None
            where there is none, or it says nothing
        options: keyword arguments of :func:`detaudit.audit.plan_audit`

    """

    file: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def read_project(folder: str | os.PathLike[str]) -> Project:
    """Defaults of the project that a folder belongs to.

    That is the nearest ``pyproject.toml`` in the folder or above it.

    Args:
        folder: where to begin

    Raises:
        UsageError: if the file cannot be read, or a key is unknown or has a value that it cannot
            have

    """
    folder = Path(folder).absolute()
    path = next((p for p in (f / _FILE for f in (folder, *folder.parents)) if p.is_file()), None)
    if path is None:
        return Project()
    name = os.path.relpath(path, folder)
    table = _read_table(path, name)
    options = {key: _read_option(name, key, value) for key, value in table.items()}
    return Project(name, options) if options else Project()


def _read_table(path: Path, name: str) -> Mapping[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        tool = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is no valid TOML: {error}") from None
    table = tool.get("detaudit", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise UsageError(f"{name}: tool.detaudit is no table")
    return table


def _read_option(name: str, key: str, value: Any) -> Any:
    if key not in PROJECT_OPTIONS:
        import difflib

        close = difflib.get_close_matches(key, PROJECT_OPTIONS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known keys: {', '.join(PROJECT_OPTIONS)}"
        raise UsageError(f"{name}: [tool.detaudit] has an unknown key '{key}'; {hint}")
    read, form = PROJECT_OPTIONS[key]
    try:
        return read(value)
    except UsageError as error:
        raise UsageError(f"{name}: [tool.detaudit] {key}: {error}") from None
    except (TypeError, ValueError):
        raise UsageError(f"{name}: [tool.detaudit] {key} = {value!r} is not {form}") from None


def _read_texts(value: Any) -> str:
    """Text, or the texts of a list with commas between them."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise TypeError
    return ",".join(texts)


def _read_requirement(value: Any) -> str:
    from detaudit.requirement import parse_requirement

    text = _read_texts(value)
    parse_requirement(text)
    return text


def _read_choice(*known: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in known:
            raise ValueError
        return str(value)

    return read


def _read_number(kind: type[float], low: float, high: float) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        # To Python a truth value is a whole number.
        known = isinstance(value, (int, kind)) and not isinstance(value, bool)
        if not known or not low <= value <= high:
            raise ValueError
        return value

    return read


def _read_decimals(value: Any) -> tuple[int, int]:
    ends = [value, value] if isinstance(value, int) else value
    low, high = (_read_number(int, 0, 12)(end) for end in ends)
    if low > high:
        raise ValueError
    return low, high


_COUNT = (_read_number(int, 1, sys.maxsize), "a whole number of at least 1")
PROJECT_OPTIONS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "require": (_read_requirement, "a text or a list of texts"),
    "device": (_read_texts, "a text or a list of texts"),
    "variants": (_read_choice("standard", "none"), "'standard' or 'none'"),
    "runs": _COUNT,
    "sessions": _COUNT,
    "processes": _COUNT,
    "seed": (_read_number(int, 0, 2**32 - 1), "a whole number within 0 to 4294967295"),
    "decimals": (_read_decimals, "a number or a pair of numbers such as [0, 7], within 0 to 12"),
    "confidence": (_read_number(float, 0.01, 0.9999), "a number within 0.01 to 0.9999"),
    "timeout": (_read_number(float, 1e-3, 1e9), "a number of seconds within 0.001 to 1e9"),
}
"""Keys that a project may set: how the value is read, and the form that it has to have."""
