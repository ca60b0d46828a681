"""Reads the commands that the README promises, so that nothing else repeats them.

usage: python3 tests/readme.py NAME
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
FENCE = r"<!-- command: {name} -->\n```sh\n(.+?)\n```"


def read_command(name: str, readme: Path = README) -> str:
    """Return the shell command in the fenced block marked ``<!-- command: NAME -->``."""
    found = re.findall(FENCE.format(name=re.escape(name)), readme.read_text("utf-8"), re.DOTALL)
    if len(found) != 1:
        raise LookupError(f"{readme.name} has {len(found)} commands named {name!r}, not one")
    return str(found[0])


if __name__ == "__main__":
    print(read_command(*sys.argv[1:]))
