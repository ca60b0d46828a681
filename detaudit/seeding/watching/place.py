"""The line of code that led to a call."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ..events import Frame

_OWN = str(Path(__file__).parent.parent) + os.sep
# A call is the doing of whoever called these, whatever they call in between.
_INTERNAL = frozenset({"torch", "numpy", "random", "contextlib", "functools", "importlib"})
_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Place:
    """Innermost line outside the libraries, the ones above it, and the thread."""

    file: str
    line: int
    function: str
    stack: tuple[Frame, ...]
    thread: str

    def __str__(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"


def locate(frame: FrameType | None) -> Place:
    """Place of a call.

    Args:
        frame: Frame that made the call.

    """
    frames: list[Frame] = []
    while frame is not None and len(frames) <= _DEPTH:
        if not _is_internal(frame):
            frames.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    file, line, function = frames[0] if frames else ("", 0, "")
    return Place(file, line, function, tuple(frames[1:]), threading.current_thread().name)


def name_module(frame: FrameType) -> str:
    """Name of the module that a frame runs in; empty where code was given none."""
    return str(frame.f_globals.get("__name__") or "")


def is_own(frame: FrameType) -> bool:
    """Whether a frame runs in this package."""
    return frame.f_code.co_filename.startswith(_OWN)


def _is_internal(frame: FrameType) -> bool:
    if frame.f_code.co_filename.startswith("<frozen "):
        return True
    return name_module(frame).partition(".")[0] in _INTERNAL or is_own(frame)
