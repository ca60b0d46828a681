"""Why a target did not run, in one line."""

from __future__ import annotations

import re
from pathlib import Path

_MEMORY = re.compile(
    r"out of memory|bad_alloc|(?:failed|unable) to allocate|can't allocate memory|BFCArena", re.I
)
_STATUS = re.compile(r"^.*?\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : ")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_ERROR_LINE = re.compile(r"\[E:onnxruntime[^\]]*\]\s*")


class Unavailable(Exception):
    """The target cannot run here, or did not run where it was asked to."""


class Failed(Exception):
    """The target began and did not reach its end."""


class Misuse(Exception):
    """The command names something that the model's code does not have."""


def reason(error: BaseException) -> str:
    """First line of an error without the runtime's prefix; memory shortage is named first."""
    text = _ESCAPES.sub("", str(error)).strip()
    line = _STATUS.sub("", text.splitlines()[0] if text else "") or type(error).__name__
    if isinstance(error, MemoryError) or _MEMORY.search(text):
        return f"out of memory: {line}"
    return line


def logged_errors(log: Path, since: int = 0) -> list[str]:
    """Errors that the runtime wrote to the log instead of raising them.

    Args:
        log: file behind stderr
        since: bytes to pass over

    Returns:
        the message of each error line, without time stamp and source position

    """
    with log.open("rb") as file:
        file.seek(since)
        text = _ESCAPES.sub("", file.read().decode(errors="replace"))
    found = []
    for line in text.splitlines():
        start = _ERROR_LINE.search(line)
        if start:
            message = line[start.end() :]
            # The status stands between source positions and the message.
            found.append(_STATUS.sub("", message).strip())
    return found
