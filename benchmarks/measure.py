"""What the benchmarks share: measuring whole processes in turn, and saying what came out.

Memory is read from ``/proc``, so that measuring it needs Linux.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
AUDIT = (sys.executable, "-m", "detaudit")
MIB = 1 << 20
_INTERVAL = 0.02
_T = TypeVar("_T")

# A checkout needs no installation to be measured.
sys.path.insert(0, str(ROOT))


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process and all that it started have used.

    Attributes:
        seconds: wall time from start to end
        cpu_seconds: processor time, user and system
        largest: peak resident memory of the largest process, in bytes
        tree: peak memory of all processes together at one time, in bytes; a page that several
            share counts once; 0 where it was not watched

    """

    seconds: float
    cpu_seconds: float
    largest: int
    tree: int


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    environment: Mapping[str, str] | None = None,
    watch: bool = False,
) -> Usage:
    """Run a command to its end.

    Args:
        command: program and arguments, run in the repository's root; what it prints is dropped
        environment: variables to set beside those of this process
        watch: whether to watch the memory of the whole tree, which costs processor time

    Raises:
        SystemExit: if the command fails; with what it wrote to stderr

    """
    tree = 0
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, **(environment or {})},
        )
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG if watch else 0)
            if pid:
                break
            tree = max(tree, _tree_bytes(process.pid))
            time.sleep(_INTERVAL)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            text = errors.read().decode(errors="replace")
            raise SystemExit(f"{command[0]} ended with {process.returncode}:\n{text}")
    # The system counts descendants in, as long as their parents waited for them.
    return Usage(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, tree)


def alternate(
    rounds: int, first: Callable[[], _T], second: Callable[[], _T]
) -> tuple[list[_T], list[_T]]:
    """Measure two things in turn, A B A B, so that a busy moment meets both.

    Args:
        rounds: how often
        first: measures the one
        second: measures the other

    Returns:
        what each gave, round by round

    """
    pairs = [(first(), second()) for _ in range(rounds)]
    return [one for one, _ in pairs], [other for _, other in pairs]


def divide_best(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Ratio of the best turns: whatever else the machine did only ever made a turn worse."""
    return min(ours) / min(theirs)


def describe_machine(*packages: str) -> str:
    """Machine, its load and versions, in one line each.

    Args:
        packages: distributions whose versions matter, beside detaudit

    """
    from detaudit.version import __version__

    versions = {"detaudit": __version__, **{name: _version(name) for name in packages}}
    return (
        f"machine   {_cpu_name()}, {len(os.sched_getaffinity(0))} cores,"
        f" load {os.getloadavg()[0]:.1f}\n"
        f"versions  python {platform.python_version()}, "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
    )


def hold(what: str, ratio: float, bound: float) -> bool:
    """Print a ratio beside its bound.

    Args:
        what: the ratio in words
        ratio: what was measured
        bound: what it may be at most

    """
    holds = ratio <= bound
    print(f"{'holds ' if holds else 'MISSED'}  {what}: {ratio:.3f} (at most {bound:g})")
    return holds


def _tree_bytes(root: int) -> int:
    """Memory of a process and its descendants; shared pages are split among their users."""
    total, left = 0, [root]
    while left:
        folder = Path("/proc") / str(left.pop())
        try:
            for line in (folder / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
            for task in (folder / "task").iterdir():
                left += [int(pid) for pid in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue  # It ended in the meantime.
    return total


def _cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
