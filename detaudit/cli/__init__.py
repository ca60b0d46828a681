"""The command line: one file per command."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from detaudit.errors import DetauditError

_COMMANDS = ("run", "show", "demo")


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
        code: int = command.main(arguments)
        return code
    except DetauditError as error:
        return _tell(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _tell("interrupted before anything was audited", 3)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _tell(f"{error.strerror or error}{where}", 3)


def _tell(message: str, code: int) -> int:
    print(f"detaudit: {' '.join(message.split())}", file=sys.stderr)
    return code
