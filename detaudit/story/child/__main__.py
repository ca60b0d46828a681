"""Start of a watched script, by path and without detaudit being installed."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path


def _expose_package() -> None:
    """Make this very detaudit importable, for the script too.

    A second copy would not know of the watch, and its ``set_seeds`` would read like a stranger's.
    Putting the folder above detaudit on the search path would offer what is installed beside it.
    """
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    package = here.parent.parent
    spec = importlib.util.spec_from_file_location(
        "detaudit", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["detaudit"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    # The interpreter of a script is not the one that detaudit was installed for.
    if sys.version_info < (3, 10):  # noqa: UP036
        reason = f"{sys.executable} cannot watch a script: it is older than Python 3.10"
        line = json.dumps({"refused": reason, "wrong": False})
        Path(sys.argv[1]).write_text(f"{line}\n", encoding="ascii")
        sys.exit(3)
    _expose_package()
    from detaudit.story.child.main import main

    main(sys.argv[1], sys.argv[2], sys.argv[3:])
