"""The file through which a script's process tells what happens."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from contextlib import suppress
from types import ModuleType
from typing import Any

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

LONGEST = 1_000_000
"""Draws that are written one by one."""
_SUM = 10_000
"""Draws that are written as one line after that."""
_LOWEST = 64
"""Number of the file, at least."""
_ROOM = 512
"""Bytes that the last line may need."""


class Log:
    """Lines of JSON, each with the system as soon as it is told, so that no crash can take it.

    Args:
        path: file that exists

    """

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)  # noqa: PTH100 - the script may change the folder
        self._file = self._open()
        self._identity = self._identify()
        self._is_cut = False
        self._process = os.getpid()
        # A signal's handler may draw while its thread is writing.
        self._lock = threading.RLock()
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._draws = 0
        self._more: Counter[int] = Counter()

    def tell(self, **line: Any) -> None:
        """Write a line, unless this is another process or the log cannot be written."""
        if not self.is_open:
            return
        text = json.dumps(line, separators=(",", ":"), default=str)
        data = f"{text}\n".encode("ascii")
        try:
            reason = "" if os.write(self._file, data) == len(data) else "no space is left"
        except OSError as error:
            reason = error.strerror or str(error)
        if reason:
            self._cut(reason)

    def tell_event(self, event: dict[str, Any], state: str | None = None, *, known: bool) -> None:
        """Write an event, in full where it happens for the first time.

        Args:
            event: fields of an ``Event``
            state: for a draw, digits of the generator's state before it
            known: for a draw, whether the generator is known to be seeded

        """
        if not self.is_open:
            return  # a forked process may have inherited the lock while it was held
        key = (*event.values(), known)
        with self._lock:
            number = self._numbers.get(key)
            if number is None:
                number = self._numbers[key] = len(self._numbers)
                self.tell(event=event, early=state is not None and not known)
            if state is None:
                self.tell(again=number)
                return
            self._draws += 1
            if self._draws <= LONGEST:
                self.tell(draw=(number, state))
                return
            if self._draws == LONGEST + 1:
                self.tell(note=f"the first {LONGEST:,} draws are compared, all are counted")
            self._more[number] += 1
            if self._draws % _SUM == 0:
                self.tell_rest()

    def tell_rest(self) -> None:
        """Write how many draws there were that have not been written one by one."""
        if self._more:
            self.tell(more=self._more)
            self._more.clear()

    @property
    def is_open(self) -> bool:
        """Whether it is this process's, and neither lost nor cut off."""
        if os.getpid() != self._process or self._is_cut:
            return False
        if self._identify() == self._identity:
            return True
        try:  # the script closed all files, as daemons do
            self._file = self._open()
        except OSError:
            return False
        return self._identify() == self._identity

    def _open(self) -> int:
        file = os.open(self._path, os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
        if fcntl is None:
            return file
        # A script that closes files expects the lowest numbers for those that it opens next.
        try:
            return int(fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _LOWEST))
        finally:
            os.close(file)

    def _identify(self) -> tuple[int, int] | None:
        """What the descriptor refers to: a script may close it, and open another file with it."""
        try:
            found = os.fstat(self._file)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _cut(self, reason: str) -> None:
        """Give the last lines for one that says why nothing follows, in the room that they had."""
        self._is_cut = True
        with suppress(OSError):
            with open(self._path, "rb") as lines:  # noqa: PTH123
                told = lines.read()
            os.ftruncate(self._file, told.rfind(b"\n", 0, max(0, len(told) - _ROOM)) + 1)
            os.write(self._file, f"{json.dumps({'cut': reason})}\n".encode("ascii"))
