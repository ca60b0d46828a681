"""Errors of the user's code in one line, with the place in the user's code."""

from __future__ import annotations

import traceback
from pathlib import Path

_INSTALLED = ("site-packages", "dist-packages")


def blame(error: BaseException, code: Path | None) -> str:
    """What went wrong, and where in the user's code.

    Args:
        error: what was raised
        code: file of the user's code, whose folder counts as the user's too; None where there is
            no code

    Returns:
        such as ``net.py:12: ZeroDivisionError: division by zero``; without a place where none of
        the user's code was running

    """
    text = first_line(error)
    kind = type(error).__name__
    told = f"{kind}: {text}" if text else kind
    if code is None:
        return text or kind
    if isinstance(error, SyntaxError) and error.filename:
        place = _own_place(Path(error.filename), error.lineno or 0, code)
        return f"{place}: {kind}: {error.msg}" if place else told
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if place := _own_place(Path(frame.filename), frame.lineno or 0, code):
            return f"{place}: {told}"
    return told


def first_line(error: BaseException) -> str:
    """First line of an error that says something; TorchScript puts it last."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return "out of memory" if isinstance(error, MemoryError) else ""
    if "TorchScript interpreter" in lines[0]:
        return lines[-1].removeprefix("RuntimeError: ")
    # Some announce the reason in one line and give it in the next.
    return " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]


def _own_place(file: Path, line: int, code: Path) -> str:
    folder = code.resolve().parent
    try:
        inside = file.resolve().relative_to(folder)
    except ValueError:
        return ""
    if any(part in _INSTALLED for part in inside.parts):
        return ""
    return f"{inside.as_posix()}:{line}"
