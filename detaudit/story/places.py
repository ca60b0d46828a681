"""How a line of code is named."""

from __future__ import annotations

import os
from collections.abc import Sequence

from detaudit.seeding.events import Event, Frame

_LIBRARIES = ("site-packages", "dist-packages")


def shorten(file: str, folder: str) -> str:
    """File as one would name it from a folder: by the package for files of libraries.

    Args:
        file: absolute path, or what code that was not read from a file calls itself
        folder: absolute path

    Examples:
        >>> shorten("/home/me/train.py", "/home/me"), shorten("/tmp/x.py", "/home/me")
        ('train.py', '/tmp/x.py')
        >>> shorten("/home/me/.venv/lib/python3.12/site-packages/tgmm/gmm.py", "/home/me")
        'tgmm/gmm.py'

    """
    parts = file.replace(os.sep, "/").split("/")
    for library in _LIBRARIES:
        if library in parts[:-1]:
            last = len(parts) - 1 - parts[::-1].index(library)
            return "/".join(parts[last + 1 :])
    start = folder.rstrip("/" + os.sep) + os.sep
    return file[len(start) :] if file.startswith(start) else file


def name_place(event: Event, folder: str) -> str:
    """File, line and function of an event."""
    if not event.file:
        return ""
    place = f"{shorten(event.file, folder)}:{event.line}"
    return place if event.function in ("", "<module>") else f"{place} in {event.function}"


def is_import(event: Event) -> bool:
    """Whether an event happened while a library was imported, and is the library's own affair."""
    for file, _, function in ((event.file, event.line, event.function), *event.stack):
        if not _is_library(file):
            return False
        if function == "<module>":
            return True
    return False


def find_caller(event: Event) -> Frame | None:
    """Line of the user's code that led to an event in a library, None if it is in it itself."""
    if not _is_library(event.file):
        return None
    return _find_outside(event.stack) or (event.stack[-1] if event.stack else None)


def _find_outside(stack: Sequence[Frame]) -> Frame | None:
    return next((frame for frame in stack if not _is_library(frame[0])), None)


def _is_library(file: str) -> bool:
    parts = file.replace(os.sep, "/").split("/")
    return not file or file.startswith("<") or any(name in parts for name in _LIBRARIES)
