"""The options that say what a model is fed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from detaudit.errors import UsageError


def add_input_options(group: argparse._ArgumentGroup) -> None:
    """Options for the inputs of an audit."""
    group.add_argument(
        "--input",
        metavar="PATH|NAME=SPEC",
        action="append",
        help="npz, folder of npy or wav; or zeros, ones, normal, uniform:a:b, int:a:b, value:v,"
        " @file.npy for one input",
    )
    group.add_argument(
        "--shape",
        metavar="NAME=DIM",
        action="append",
        help="size of a named axis, or 1x160x40 for a whole input",
    )
    group.add_argument("--seed", metavar="N", type=int, help="of all inputs (default 1)")
    group.add_argument(
        "--samples", metavar="N", type=int, default=1, help="number of inputs (default 1)"
    )
    group.add_argument(
        "--duration",
        metavar="S",
        type=float,
        default=1.0,
        help="length of generated audio in seconds (default 1)",
    )
    group.add_argument("--sampling-rate", metavar="HZ", type=int, help="of audio")


def read_inputs(texts: Sequence[str] | None) -> tuple[str | None, tuple[tuple[str, str], ...]]:
    """File that holds the inputs, and how to fill single ones."""
    from pathlib import Path

    from detaudit.capture.wording import split_value

    source, values = None, []
    for text in texts or ():
        if "=" in text and not Path(text).exists():
            values.append(split_value(text))
        elif source is not None:
            raise UsageError(f"--input {text}: inputs are already taken from {source}")
        else:
            source = text
    _refuse_twice("--input", [name for name, _ in values])
    return source, tuple(values)


def read_shapes(texts: Sequence[str] | None) -> dict[str, str]:
    """Sizes by the name of an axis or an input."""
    found = []
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals or not name or not value:
            raise UsageError(f"--shape {text} is not of the form NAME=DIM")
        found.append((name, value))
    _refuse_twice("--shape", [name for name, _ in found])
    return dict(found)


def _refuse_twice(option: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{option} {name}=… is given twice")
