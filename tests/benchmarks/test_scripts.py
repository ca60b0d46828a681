"""Every script runs to its end on small sizes; what it measures is judged by people."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def run(name: str, *arguments: str) -> list[str]:
    """Run a script; a missed bound is no failure here, because the sizes mean nothing."""
    command = [sys.executable, ROOT / "benchmarks" / f"{name}.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    lines = done.stdout.splitlines()
    assert done.returncode == any(line.startswith("MISSED") for line in lines)
    assert lines[0].startswith("machine ")
    assert "numpy " in lines[1]
    return lines


def held(lines: list[str]) -> list[str]:
    """What was held against a bound."""
    return [
        line[6:].strip().partition(":")[0]
        for line in lines
        if line.startswith(("holds ", "MISSED"))
    ]


def test_startup() -> None:
    assert held(run("startup", "--rounds", "1")) == [
        "detaudit --help over python -c pass",
        "detaudit check over python -c 'import numpy, scipy.special'",
    ]


def test_memory() -> None:
    lines = run("memory", "--few", "1", "--many", "2", "--values", "1000")
    assert lines[2].lstrip().startswith("1 runs of 0 MB")
    assert held(lines) == ["peak memory of the largest process", "peak memory of all processes"]


def test_compare() -> None:
    lines = run("compare", "--megabytes", "8", "--samples", "20", "--rounds", "1")
    assert held(lines) == [
        f"0.5 GB/s over the throughput, {what}"
        for what in (
            "large outputs, equal bits",
            "large outputs, noise of 1e-6",
            "small outputs, noise of 1e-6",
        )
    ]


@pytest.mark.modern
def test_overhead() -> None:
    lines = run("overhead", "--case", "bundled", "--calls", "3", "--rounds", "1")
    assert any(line.startswith("bundled: ") for line in lines)


def test_against_polygraphy(tmp_path: Path, magika: Path) -> None:
    program = tmp_path / "polygraphy"
    program.write_text("#!/bin/sh\nexec sleep 0.2\n")
    program.chmod(0o755)
    arguments = ("--polygraphy", str(program), "--model", str(magika), "--rounds", "1")
    assert held(run("against_polygraphy", *arguments)) == [
        "wall time",
        "peak memory of the largest process",
        "peak memory of all processes",
    ]


def test_a_command_that_fails_is_told(tmp_path: Path, magika: Path) -> None:
    program = tmp_path / "polygraphy"
    program.write_text("#!/bin/sh\necho no such runner >&2\nexit 3\n")
    program.chmod(0o755)
    command = [sys.executable, ROOT / "benchmarks" / "against_polygraphy.py"]
    arguments = ["--polygraphy", program, "--model", magika, "--rounds", "1"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ended with 3:\nno such runner" in done.stderr
