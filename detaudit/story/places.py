"""How a line of code is named."""

from __future__ import annotations

import os
import re

from detaudit.seeding.events import Event, Frame

_LIBRARY = re.compile(r".*/(site-packages|dist-packages|lib/python3[^/]*)/(?P<rest>.+)", re.I)
"""Files of packages, and of Python itself."""


UNSEEN = "a line that was not seen"


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
    found = _LIBRARY.match(file.replace(os.sep, "/"))
    if found is not None:
        return found["rest"]
    start = folder.rstrip("/" + os.sep) + os.sep
    return file[len(start) :] if file.startswith(start) else file


def name_line(file: str, line: int, folder: str) -> str:
    """File and line; nothing for a line that was not seen."""
    return f"{shorten(file, folder)}:{line}" if file else ""


def name_function(function: str) -> str:
    """Function that a line belongs to; nothing at top level."""
    return "" if function in ("", "<module>") else f" in {function}"


def name_place(event: Event, folder: str) -> str:
    """File, line and function of an event."""
    return name_line(event.file, event.line, folder) + name_function(event.function)


def is_import(event: Event) -> bool:
    """Whether an event happened while a library was imported, and is the library's own affair."""
    for file, _, function in ((event.file, event.line, event.function), *event.stack):
        if not is_library(file):
            return False
        if function == "<module>":
            return True
    return False


def find_caller(event: Event) -> Frame | None:
    """Line outside the libraries that led to an event in one, None if it was not seen."""
    if not is_library(event.file):
        return None
    return next((frame for frame in event.stack if not is_library(frame[0])), None)


def is_library(file: str) -> bool:
    """Whether a file belongs to a package that was installed, or to Python itself."""
    return not file or file.startswith("<") or _LIBRARY.match(file.replace(os.sep, "/")) is not None
