"""Speed and memory of the metrics against their peers, as ratios measured in one run.

    python benchmarks/metrics.py

Compares one full `Distance` pass over two float32 arrays with Polygraphy's comparison and with
`torch.testing.assert_close`, and `same_bits` with a copy of the memory. All sides run on one thread
and are timed in turns, in processor time; the best turn of each counts, so that whatever else the
machine does weighs little on the ratios.

Exit code: 0 when all limits hold, 1 when one is missed, 2 when something cannot be measured.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np

from detaudit.metrics.bits import same_bits
from detaudit.metrics.distance import Distance
from detaudit.metrics.rounding import Rounding
from detaudit.metrics.spread import Spread

POLYGRAPHY_FACTOR = 8.0
COPY_FACTOR = 0.7
INSTALL = "pip install polygraphy==0.53.6; torch as the README says"

Timed = dict[str, Callable[[], object]]


def main() -> int:
    """Measure everything; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=100, help="size of each array")
    parser.add_argument("--turns", type=int, default=5, help="turns of which the best counts")
    arguments = parser.parse_args()
    print_machine()
    rng = np.random.default_rng(1)
    size = arguments.megabytes * 1_000_000 // 4
    reference = rng.standard_normal(size, dtype=np.float32)
    noise = rng.standard_normal(size, dtype=np.float32)
    noisy = reference + np.float32(1e-6) * noise
    equal = reference.copy()
    missed = [
        *compare("noise of 1e-6", reference, noisy, arguments.turns),
        *compare("equal bits", reference, equal, arguments.turns),
        *check_bits(reference, equal, arguments.turns),
        *check_memory(reference, noisy),
    ]
    for line in missed:
        print(f"MISSED  {line}")
    if any("cannot be measured" in line for line in missed):
        return 2
    return 1 if missed else 0


def compare(what: str, reference: np.ndarray, other: np.ndarray, turns: int) -> list[str]:
    """Time one pass of each tool over a pair of arrays."""
    tools: Timed = {"detaudit": lambda: measure(reference, other)}
    missing = []
    for name, prepare in (("polygraphy", prepare_polygraphy), ("torch", prepare_torch)):
        try:
            tools[name] = prepare(reference, other)
        except ImportError:
            missing.append(f"{what}: {name} cannot be measured; to install it: {INSTALL}")
    seconds = time_in_turns(tools, turns)
    own = seconds["detaudit"]
    for name, value in seconds.items():
        print(f"{what:14} {name:12} {value:8.3f} s  {value / own:6.1f} times detaudit's")
    if "polygraphy" in seconds and seconds["polygraphy"] < POLYGRAPHY_FACTOR * own:
        missing.append(f"{what}: less than {POLYGRAPHY_FACTOR} times as fast as Polygraphy")
    if "torch" in seconds and seconds["torch"] < own:
        missing.append(f"{what}: slower than torch.testing.assert_close")
    return missing


def measure(reference: np.ndarray, other: np.ndarray) -> object:
    """One full pass of detaudit."""
    distance = Distance()
    distance.update(reference, other)
    return distance.read()


def prepare_polygraphy(reference: np.ndarray, other: np.ndarray) -> Callable[[], object]:
    """Comparison by Polygraphy, without its log."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from polygraphy.comparator import CompareFunc, IterationResult
        from polygraphy.logger import G_LOGGER

        G_LOGGER.module_severity = G_LOGGER.CRITICAL
        function = CompareFunc.simple()
    results = [IterationResult({"output": array}) for array in (reference, other)]
    return lambda: function(*results)


def prepare_torch(reference: np.ndarray, other: np.ndarray) -> Callable[[], object]:
    """Comparison by torch, within tolerances that all values meet."""
    import torch

    torch.set_num_threads(1)
    tensors = [torch.from_numpy(array) for array in (reference, other)]
    return lambda: torch.testing.assert_close(*tensors, rtol=1e-4, atol=1e-4)


def check_bits(reference: np.ndarray, equal: np.ndarray, turns: int) -> list[str]:
    """Time the comparison of equal bits against a copy of the memory."""
    target = np.empty_like(reference)
    seconds = time_in_turns(
        {
            "copy": lambda: np.copyto(target, reference),
            "same_bits": lambda: same_bits(reference, equal),
        },
        3 * turns,
    )
    ratio = seconds["copy"] / seconds["same_bits"]
    print(f"same_bits      {seconds['same_bits']:.4f} s, {ratio:.2f} of the speed of a memory copy")
    return [] if ratio >= COPY_FACTOR else [f"same_bits: {ratio:.2f} of {COPY_FACTOR}"]


def check_memory(reference: np.ndarray, other: np.ndarray) -> list[str]:
    """Peak of what each metric allocates beside the arrays that it is given or holds."""
    limit = reference.nbytes // 10
    spread = Spread()
    spread.update(reference)
    spread.update(other)
    quarter = slice(0, reference.size // 4)
    metrics: dict[str, Callable[[], object]] = {
        "Distance": lambda: measure(reference, other),
        "Distance, rows reversed": lambda: measure(reference[::-1], other[::-1]),
        "same_bits": lambda: same_bits(reference, reference),
        "Spread, another member": lambda: spread.update(other),
        "Rounding": lambda: Rounding().update(reference[quarter], other[quarter]),
    }
    missed = []
    for name, function in metrics.items():
        tracemalloc.start()
        function()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"memory         {name}: {peak / 1e6:.1f} MB beside the arrays")
        if peak > limit:
            missed.append(f"{name}: a temporary of the arrays' size")
    return missed


def time_in_turns(functions: Timed, turns: int) -> dict[str, float]:
    """Best processor time of each function, measured in turns."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(turns):
        for name, function in functions.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - start)
    return best


def print_machine() -> None:
    """Say what the figures were measured on."""
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    for name in ("numpy", "torch", "polygraphy"):
        try:
            print(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            print(f"{name} not installed")


if __name__ == "__main__":
    sys.exit(main())
