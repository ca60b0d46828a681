"""Arguments, and the options that several commands share."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from detaudit.errors import UsageError
from detaudit.version import __version__


class Parser(argparse.ArgumentParser):
    """Parser whose complaints are one line."""

    def __init__(self, **settings: Any) -> None:
        """Parser without abbreviations, which later options would make ambiguous."""
        super().__init__(
            allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings
        )
        self.add_argument("--version", action="version", version=f"detaudit {__version__}")

    def error(self, message: str) -> NoReturn:
        """Raise the complaint as the error of a wrong command."""
        raise UsageError(f"{message} (see {self.prog} --help)")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and name the option that an unknown one may have meant."""
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            import difflib

            known = [option for action in self._actions for option in action.option_strings]
            close = difflib.get_close_matches(unknown[0].partition("=")[0], known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            kind = "option" if unknown[0].startswith("-") else "argument"
            self.error(f"unknown {kind} {unknown[0]}{hint}")
        return parsed


def add_judge_options(parser: Parser) -> None:
    """Options that say how a record is judged."""
    group = parser.add_argument_group("judging")
    group.add_argument("--reference", metavar="TARGET", help="measure the others against this one")
    group.add_argument("--decimals", metavar="A-B", help="decimals to round to (default 0-7)")
    group.add_argument(
        "--require",
        metavar="R",
        help="exit with 1 unless met: identical, decimals=K, max_abs=X, ulp=N, no-class-flip,"
        " flip-rate=P, several with commas, OUTPUT:... for one output",
    )
    group.add_argument(
        "--labels",
        metavar="A,B,C|FILE",
        action="append",
        help="names of the output's values, OUTPUT=A,B,C for one of several outputs",
    )
    group.add_argument(
        "--classes",
        metavar="OUTPUT[:AXIS]",
        action="append",
        help="output that holds class scores, none for no output (default: found by itself)",
    )
    group.add_argument("--confidence", metavar="P", type=float, help="of bounds (default 0.95)")


def add_report_options(parser: Parser) -> None:
    """Options that say where the report of an audit goes."""
    add_table_options(parser).add_argument(
        "--junit", metavar="F", help="write what meets and misses the requirement as JUnit XML"
    )


def add_table_options(parser: Parser) -> argparse._ArgumentGroup:
    """Options that say where tables and text go, in a group that may get further ones."""
    group = parser.add_argument_group("report")
    group.add_argument(
        "--csv",
        metavar="F",
        help="write one table with a row per measurement; F/ writes a table per section",
    )
    group.add_argument("--json", metavar="F", help="write it as JSON; - for stdout")
    group.add_argument("--quiet", action="store_true", help="no report on stdout")
    return group


def read_decimals(text: str) -> tuple[int, int]:
    """First and last number of decimals in a text such as ``0-7`` or ``3``."""
    low, dash, high = text.partition("-")
    if not low.isdecimal() or (dash and not high.isdecimal()):
        raise UsageError(f"--decimals {text} is not of the form 0-7")
    return int(low), int(high or low)


def read_labels(texts: Sequence[str] | None) -> dict[str, tuple[str, ...]] | None:
    """Labels per output; the empty name stands for the only output."""
    if not texts:
        return None
    from detaudit.models.labels import read_labels as read

    labels: dict[str, tuple[str, ...]] = {}
    for text in texts:
        output, _, names = text.rpartition("=")
        found = read(names)
        for name, given in found.items() if isinstance(found, dict) else [(output, found)]:
            if name in labels:
                raise UsageError(f"--labels {text}: labels of this output are given twice")
            labels[name] = tuple(given)
            if not all(labels[name]):
                raise UsageError(f"--labels {text}: a label is empty")
    return labels


def read_classes(texts: Sequence[str] | None) -> dict[str, int] | None:
    """Axis of the classes per output, None to find the outputs, empty for none of them."""
    if not texts:
        return None
    if "none" in texts:
        if len(texts) > 1:
            raise UsageError("--classes none stands alone")
        return {}
    classes = {}
    for text in texts:
        output, colon, axis = text.rpartition(":")
        if colon and axis.lstrip("-").isdecimal():
            # The name itself may hold colons: StatefulPartitionedCall:0 names output and axis
            # only when a second number follows.
            classes[output] = int(axis)
        else:
            classes[text] = -1
    return classes


def check_required(requirement: str | None, needed_by: str | None) -> None:
    """Refuse what makes no sense without a requirement.

    Args:
        requirement: what is required, None for nothing
        needed_by: what makes no sense without, None where nothing does

    """
    if needed_by is not None and requirement is None:
        raise UsageError(
            f"{needed_by} needs a requirement: give --require, or require in [tool.detaudit] of"
            " pyproject.toml"
        )


def check_writable(needed: Iterable[str] = (), **paths: str | None) -> None:
    """Refuse files that could not be written, or must not be, before anything runs.

    Args:
        needed: files that the command reads, and folders whose files it reads
        paths: by the option that names it, None where it does not; ``csv`` may be a folder

    """
    from pathlib import Path

    from detaudit.placing import is_stream

    read: set[Path] = set()
    for name in needed:
        place = Path(name)
        with contextlib.suppress(OSError):  # what cannot be reached is told by who reads it
            found = place.iterdir() if place.is_dir() else [place]
            read.update(path.resolve() for path in found if path.is_file())
    named: dict[Path, str] = {}
    for option, path in paths.items():
        if path is None or (path == "-" and option == "json"):
            continue
        if not path or path == "-":
            raise UsageError(f"--{option} {path}".rstrip() + " names no file")
        if Path(path).resolve() in read:
            raise UsageError(f"--{option} {path} would overwrite what is read")
        if is_stream(Path(path)):
            continue
        where, is_folder = Path(path), Path(path).is_dir() or path.endswith("/")
        if is_folder and (option != "csv" or where.is_file()):
            kind = "file" if where.is_file() else "folder"
            raise UsageError(f"cannot write --{option} {path}: it is a {kind}")
        # Tables of the sections go into a folder, which is made when it is missing.
        folder = where if where.is_dir() else where.parent
        if not folder.is_dir():
            raise UsageError(f"cannot write --{option} {path}: there is no folder {folder}")
        if not os.access(folder, os.W_OK):
            raise UsageError(f"cannot write --{option} {path}: no permission to write to {folder}")
        other = named.setdefault(where.resolve(), option)
        if other != option:
            raise UsageError(f"--{other} and --{option} both name {path}")
