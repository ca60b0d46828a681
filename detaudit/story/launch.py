"""Running the script, in a fresh process that is the script's alone."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from detaudit.errors import DetauditError, UsageError

from .reading import read_run
from .told import Run

_ENTRY = Path(__file__).resolve().parent / "child" / "__main__.py"
_GRACE = 0.5
"""Seconds after which a signal is passed on that the script may have got itself."""


@dataclass(frozen=True, slots=True)
class Command:
    """A script as one would call it with Python.

    Attributes:
        name: path of the script, or name of the module
        arguments: what follows it
        module: whether it is a module, as with ``python -m``
        python: interpreter to run it with, None for this one

    """

    name: str
    arguments: tuple[str, ...] = ()
    module: bool = False
    python: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The command as it is typed, without the interpreter."""
        return ("-m",) * self.module + (self.name, *self.arguments)


def check_command(command: Command) -> None:
    """Refuse what cannot be run.

    Raises:
        UsageError: if there is no such script or interpreter, or it is none

    """
    if command.python is not None:
        import shutil

        if shutil.which(command.python) is None:
            raise UsageError(f"--python {command.python} is no Python interpreter")
    if command.module:
        return
    path = Path(command.name)
    if path.is_dir():
        raise UsageError(f"{path} is a folder, not a script: name the script in it")
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the script {path}: {error.strerror}") from None
    try:
        from importlib.util import decode_source

        text = decode_source(source)
    except (SyntaxError, UnicodeDecodeError):
        text = "\0"
    if "\0" in text:
        raise UsageError(f"{path} is no Python script: it is not text")


def run_script(command: Command, *, own_output: bool = True) -> tuple[Run, bool]:
    """Run a script to its end, and read what its process told.

    Args:
        command: what to run
        own_output: whether what the script prints goes to stdout; else it goes to stderr

    Returns:
        what happened, and whether the run was ended from outside

    Raises:
        UsageError: if there is no such module
        DetauditError: if the interpreter cannot be started or cannot watch

    """
    python = command.python or sys.executable
    mode = "module" if command.module else "script"
    with tempfile.TemporaryDirectory(prefix="detaudit-story-") as folder:
        log = Path(folder) / "log"
        log.touch()
        child = [python, str(_ENTRY), str(log), mode, command.name, *command.arguments]
        with _Signals() as signals:
            try:
                process = subprocess.Popen(child, stdout=None if own_output else _find_stderr())
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                raise DetauditError(f"{python} cannot be started: {why}") from None
            signals.pass_on_to(process)
            code = process.wait()
        run = read_run(log, code)
    if not run.versions:
        raise DetauditError(f"{python} ended with {code} before the script began")
    return run, signals.seen


def _find_stderr() -> int:
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return subprocess.DEVNULL


class _Signals:
    """Signals that end a program end the script and not its parent, which tells the story."""

    def __init__(self) -> None:
        self.seen = False
        self._process: subprocess.Popen[bytes] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        """Take the signals, where Python lets them be taken."""
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)
                if number is not None:
                    self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        """Put the handlers back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def pass_on_to(self, process: subprocess.Popen[bytes]) -> None:
        """Name the script's process; a signal that has come already is passed on."""
        self._process = process
        if self.seen:
            self._send(signal.SIGINT)

    def _take(self, number: int, _: FrameType | None) -> None:
        self.seen = True
        if number != signal.SIGINT:
            self._send(number)
        elif not _owns_terminal():
            # Sent to this process alone, perhaps; what the keyboard sends reaches the script too.
            timer = threading.Timer(_GRACE, self._send, (number,))
            timer.daemon = True
            timer.start()

    def _send(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)


def _owns_terminal() -> bool:
    """Whether Ctrl-C on the keyboard reaches every process of this group."""
    if not hasattr(os, "tcgetpgrp"):
        return True
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
