"""The same job in Polygraphy and in detaudit: magika, batch of 4, two sessions of 10 calls.

Whole processes in turn, on the same input. Bounds: at most 0.7 of Polygraphy's wall time and 0.6
of its peak memory, although detaudit answers more (sessions, bounds, rounding, classes).

Polygraphy loads torch where it finds it, which triples its memory, so the environments to compare
with can be given: each is the program ``polygraphy`` of an environment with onnxruntime and onnx.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from measure import AUDIT, MIB, Usage, alternate, describe_machine, divide_best, hold, run

from tests.fetch import fetch_model

_WALL, _MEMORY = 0.7, 0.6
_LOADER = """\
import numpy as np

def load_data():
    for _ in range(10):
        yield {{"bytes": np.load({path!r})}}
"""


def main() -> int:
    """Measure, print, and return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--polygraphy",
        metavar="PROGRAM",
        action="append",
        help="program to compare with, several times for several (default: the one on PATH)",
    )
    parser.add_argument(
        "--model", metavar="FILE", type=Path, help="magika.onnx, fetched by default"
    )
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    programs = options.polygraphy or [shutil.which("polygraphy")]
    if None in programs:
        parser.error("there is no polygraphy on PATH; name the program with --polygraphy")
    model = (options.model or fetch_model("magika.onnx")).resolve()
    print(describe_machine("numpy", "onnxruntime"))
    with tempfile.TemporaryDirectory() as folder:
        ours, loader = _prepare(model, Path(folder))
        peers = [_peer(program, model, loader) for program in programs]
        held = [_compare(ours, peer, options.rounds) for peer in peers]
    return 0 if all(held) else 1


def _prepare(model: Path, folder: Path) -> tuple[list[str], Path]:
    """Input that both read, detaudit's command, and Polygraphy's data loader."""
    array = np.random.default_rng(0).integers(0, 257, (4, 2048), dtype=np.int32)
    path = folder / "bytes.npy"
    np.save(path, array)
    loader = folder / "same.py"
    loader.write_text(_LOADER.format(path=str(path)))
    plan = ["--device", "cpu", "--runs", "10", "--sessions", "2", "--processes", "1"]
    return [*AUDIT, str(model), *plan, "--input", f"bytes=@{path}"], loader


def _peer(program: str, model: Path, loader: Path) -> list[str]:
    same = ["--data-loader-script", str(loader), "--atol", "0", "--rtol", "0"]
    return [program, "run", str(model), "--onnxrt", "--onnxrt", *same]


def _compare(ours: list[str], theirs: list[str], rounds: int) -> bool:
    print(f"\ndetaudit against {theirs[0]}")
    # What is watched is slowed down, so memory over time is taken from other runs than time.
    watched = run(ours, watch=True), run(theirs, watch=True)
    mine, other = alternate(rounds, lambda: run(ours), lambda: run(theirs))
    _tell("detaudit", mine, watched[0])
    _tell("Polygraphy", other, watched[1])
    held = [
        hold(
            "wall time", divide_best([u.seconds for u in mine], [u.seconds for u in other]), _WALL
        ),
        hold("peak memory of the largest process", mine[0].largest / other[0].largest, _MEMORY),
        hold("peak memory of all processes", watched[0].tree / watched[1].tree, _MEMORY),
    ]
    return all(held)


def _tell(name: str, usages: Sequence[Usage], watched: Usage) -> None:
    print(
        f"        {name}: {min(u.seconds for u in usages):.2f} s wall at best,"
        f" {min(u.cpu_seconds for u in usages):.2f} s of processors,"
        f" {usages[0].largest / MIB:.0f} MiB largest process,"
        f" {watched.tree / MIB:.0f} MiB all processes"
    )


if __name__ == "__main__":
    sys.exit(main())
