"""The command line: one file per command."""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from detaudit.cli.messages import describe_failure, tell
from detaudit.errors import DetauditError

_COMMANDS = ("run", "show", "check", "compare", "inputs", "demo", "seeds")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: arguments without the program's name, those of the process by default

    Returns:
        exit code: 0 audited and met, 1 requirement not met, 2 wrong command, 3 something could not
        be audited

    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments.pop(0) if arguments and arguments[0] in _COMMANDS else "run"
    command = importlib.import_module(f"detaudit.cli.{name}")
    try:
        with _ended_gently():
            code: int = command.main(arguments)
            return code
    except DetauditError as error:
        tell(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        tell("interrupted before anything was audited")
    except OSError as error:
        tell(describe_failure(error))
    return 3


@contextmanager
def _ended_gently() -> Iterator[None]:
    """Let what ends a program from outside, as a CI does, end it as Ctrl-C does."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        names = []
    before = {name: signal.getsignal(getattr(signal, name)) for name in names}
    for name in names:
        signal.signal(getattr(signal, name), signal.default_int_handler)
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
