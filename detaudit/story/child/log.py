"""The file through which a script's process tells what happens."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from typing import Any

LONGEST = 1_000_000
"""Draws that are written one by one."""
_SUM = 10_000
"""Draws that are written as one line after that."""


class Log:
    """Lines of JSON, each with the system as soon as it is told, so that no crash can take it.

    Args:
        path: file that exists

    """

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
        self._identity = self._identify()
        self._process = os.getpid()
        # A signal's handler may draw while its thread is writing.
        self._lock = threading.RLock()
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._draws = 0
        self._more: Counter[int] = Counter()

    def tell(self, **line: Any) -> None:
        """Write a line, unless this is another process or the file is no longer the log."""
        if not self.is_open:
            return
        text = json.dumps(line, separators=(",", ":"), default=str)
        os.write(self._file, f"{text}\n".encode("ascii"))

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
        """Whether it is this process's; not if it was forked, or the script closed all files."""
        return os.getpid() == self._process and self._identify() == self._identity

    def _identify(self) -> tuple[int, int] | None:
        """What the descriptor refers to: a script may close it, and open another file with it."""
        try:
            found = os.fstat(self._file)
        except OSError:
            return None
        return found.st_dev, found.st_ino
