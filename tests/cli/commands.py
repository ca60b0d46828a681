"""The command line as a user calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ONCE = ("--runs", "2", "--sessions", "1", "--processes", "1")


def start(*arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Start ``python -m detaudit`` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "detaudit", *map(str, arguments)],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **options,
    )


def call(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m detaudit`` to its end."""
    process = start(*arguments, **options)
    output, errors = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def children(pid: int) -> set[int]:
    """Processes that a process started and that still run."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return {int(child) for child in path.read_text().split()} if path.exists() else set()


def is_running(pid: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
