"""Sizes that the user or a file settles, checked against what the model declares."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from detaudit.capture.signature import Entry
from detaudit.errors import UsageError

_SIZES = re.compile(r"[0-9]+(x[0-9]+)*")


@dataclass(frozen=True, slots=True)
class Pin:
    """A settled size of an open axis.

    Attributes:
        size: number of elements
        source: who settled it, such as ``--shape frames=160``

    """

    size: int
    source: str


def parse_shapes(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[int, ...]]:
    """Sizes that the user asks for.

    Args:
        pairs: name of an axis or an input, and its size or sizes, such as ``160`` or
            ``1x160x40``; empty for an input without axes

    Returns:
        sizes per name

    Raises:
        UsageError: if a size is no number, is negative, or a name is given twice

    Examples:
        >>> parse_shapes([("frames", "160"), ("mels", "1x160x40")])
        {'frames': (160,), 'mels': (1, 160, 40)}

    """
    found: dict[str, tuple[int, ...]] = {}
    for name, text in pairs:
        plain = re.sub(r"\s", "", text).lower()
        if plain and not (_SIZES.fullmatch(plain) and plain.isascii()):
            problem = "a size cannot be negative" if "-" in plain else "that is no size"
            raise UsageError(
                f"--shape {name}={text}: {problem}; write {name}=160 for an axis or"
                f" {name}=1x160x40 for an input"
            )
        if name in found:
            raise UsageError(f"--shape {name} is given twice")
        found[name] = tuple(map(int, plain.split("x"))) if plain else ()
    return found


def pin_options(
    shapes: Mapping[str, tuple[int, ...]], entries: tuple[Entry, ...]
) -> dict[str, Pin]:
    """Open axes that the user settles.

    Args:
        shapes: sizes per name of an axis or an input
        entries: inputs

    Returns:
        settled axes

    Raises:
        UsageError: if a name is neither an axis nor an input, or a size contradicts the model

    """
    axes = list(dict.fromkeys(a for e in entries for a in e.axes if isinstance(a, str)))
    inputs = {entry.name: entry for entry in entries}
    pins: dict[str, Pin] = {}
    for name, sizes in shapes.items():
        source = f"--shape {name}={'x'.join(map(str, sizes))}"
        if name in axes and (len(sizes) == 1 or name not in inputs):
            if len(sizes) != 1:
                raise UsageError(f"{source}: '{name}' is one axis and takes one size")
            _pin(pins, name, sizes[0], source)
        elif name in inputs:
            pin_shape(pins, inputs[name], sizes, source)
        else:
            close = difflib.get_close_matches(name, [*axes, *inputs], n=1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            raise UsageError(
                f"{source}: no axis or input is called '{name}'{hint}; open axes:"
                f" {', '.join(axes) or 'none'}; inputs: {', '.join(e.text for e in entries)}"
            )
    return pins


def pin_shape(pins: dict[str, Pin], entry: Entry, shape: tuple[int, ...], source: str) -> None:
    """Settle the open axes of an input.

    Args:
        pins: settled axes, added to
        entry: the input
        shape: its sizes
        source: who settles them

    Raises:
        UsageError: if the shape contradicts the model or what is settled already

    """
    if len(shape) != len(entry.axes):
        raise UsageError(
            f"{source}: shape {_text(shape)} has {len(shape)} axes, {entry.text} has"
            f" {len(entry.axes)}"
        )
    for position, (axis, size) in enumerate(zip(entry.axes, shape, strict=True)):
        if isinstance(axis, str):
            _pin(pins, axis, size, source)
        elif axis != size:
            raise UsageError(
                f"{source}: axis {position} of {entry.text} is fixed to {axis}, not {size}"
            )


def _pin(pins: dict[str, Pin], axis: str, size: int, source: str) -> None:
    known = pins.setdefault(axis, Pin(size, source))
    if known.size != size:
        raise UsageError(
            f"{source} makes axis '{axis}' {size} long, but {known.source} makes it {known.size}"
        )


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "()"
