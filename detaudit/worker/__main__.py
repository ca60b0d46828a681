"""Start of a worker process, by path and without detaudit being installed."""

from __future__ import annotations

import sys
import types
from pathlib import Path


def _expose_package() -> None:
    """Make ``detaudit.worker`` and ``detaudit.seeding`` importable, and nothing else.

    Putting the folder above detaudit on the search path would offer the packages that are
    installed beside it to an interpreter that they were not built for.
    """
    here = Path(__file__).resolve().parent
    package = types.ModuleType("detaudit")
    package.__path__ = [str(here.parent)]
    sys.modules["detaudit"] = package
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here]


if __name__ == "__main__":
    # The interpreter of a target is not the one that detaudit was installed for.
    if sys.version_info < (3, 10):  # noqa: UP036
        sys.exit("detaudit's workers need Python 3.10 or newer")
    _expose_package()
    from detaudit.worker.main import main

    sys.exit(main(sys.argv[1]))
