"""A script, run under a watch that tells the parent what it sees."""

from __future__ import annotations

import atexit
import os
import platform
import sys
from collections.abc import Callable, Sequence

from .log import Log
from .script import NoModule, run_module, run_script

# Modules that are imported when a process is started in that way, and not before.
_STARTED = {
    "multiprocessing.popen_spawn_posix": "spawn",
    "multiprocessing.popen_spawn_win32": "spawn",
    "multiprocessing.popen_forkserver": "forkserver",
    "joblib.externals.loky.backend.popen_loky_posix": "joblib",
    "joblib.externals.loky.backend.popen_loky_win32": "joblib",
}


def main(log_path: str, mode: str, command: Sequence[str]) -> None:
    """Run a script to its end, and tell what happens.

    Args:
        log_path: file to tell it to
        mode: ``script`` or ``module``
        command: path or name, and the arguments

    """
    log = Log(log_path)
    try:
        import numpy as np

        from .watching import start_watch
    except ImportError as error:
        log.tell(refused=f"{sys.executable} cannot watch a script: {error}", wrong=False)
        sys.exit(3)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_parent=lambda: log.tell(process="fork"))
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    log.tell(versions=versions, hash_fixed=_is_hash_fixed())
    # The first that is registered is the last that is called: the script's own come before it.
    atexit.register(_conclude, log, start_watch(log), versions)
    run = run_module if mode == "module" else run_script
    try:
        run(command[0], command[1:])
    except NoModule as error:
        log.tell(refused=str(error), wrong=True)
        sys.exit(2)
    except SystemExit:
        raise
    except BaseException as error:
        log.tell(raised=_describe(error))
        raise


def _conclude(log: Log, finish: Callable[[], None], versions: dict[str, str]) -> None:
    torch = getattr(sys.modules.get("torch"), "__version__", None)
    if torch is not None:
        log.tell(versions={**versions, "torch": str(torch)})
    for module, how in _STARTED.items():
        if module in sys.modules:
            log.tell(process=how)
    try:
        finish()
    except Exception as error:  # the script may have taken modules away
        log.tell(note=f"states and flags could not be compared at the end: {_describe(error)}")
    log.tell_rest()
    log.tell(complete=True)


def _is_hash_fixed() -> bool:
    return not sys.flags.hash_randomization or os.environ.get("PYTHONHASHSEED", "").isdigit()


def _describe(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
