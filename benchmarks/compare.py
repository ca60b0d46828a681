"""How fast ``detaudit compare`` goes through two records.

    python benchmarks/compare.py

Measures the comparison of two records, made for it in a temporary folder: large outputs with equal
bits, large outputs that differ by noise, and many samples with small outputs. All bytes of both
records count. Beside each stands how long it takes only to read and hash all arrays of both.

Bound: 0.5 GB/s, as the share of it that is reached: 0.5 over the throughput is at most 1.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from measure import describe_machine, hold

from detaudit.archive import open_record, save_record
from detaudit.judge.comparing import compare_records
from detaudit.judge.merging import Named
from detaudit.models.model import Model, TensorInfo
from detaudit.record import RUN_COLUMNS, Outcomes, OutputFacts, ProcessFacts, Record, TargetRecord
from detaudit.spec import AuditSpec, InputSpec
from detaudit.target import parse_target

_BOUND = 0.5
"""GB/s."""


def main() -> int:
    """Measure, print, and return 1 where the bound is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=200, help="size of each large record")
    parser.add_argument("--samples", type=int, default=10_000, help="samples with small outputs")
    parser.add_argument("--rounds", type=int, default=3, help="turns of which the best counts")
    options = parser.parse_args()
    print(describe_machine("numpy"))
    large = (max(1, options.megabytes // 4), 1_000_000)
    cases = (
        ("large outputs, equal bits", large, 0.0),
        ("large outputs, noise of 1e-6", large, 1e-6),
        ("small outputs, noise of 1e-6", (options.samples, 214), 1e-6),
    )
    # Every case, whatever became of those before.
    held = [measure(*case, options.rounds) for case in cases]
    return 0 if all(held) else 1


def measure(what: str, sizes: tuple[int, int], noise: float, rounds: int) -> bool:
    """Measure one case; sizes are samples and values of each.

    Returns:
        whether the bound holds

    """
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("a.audit", "b.audit")]
        for path, added in zip(paths, (0.0, noise), strict=True):
            save_record(make_record(*sizes, added), path)
        size = sum(path.stat().st_size for path in paths) / 1e9
        seconds = time_best(rounds, lambda: compare(paths))
        bare = time_best(rounds, lambda: read(paths))
    print(
        f"        {what}: {size:.3f} GB in {seconds:.2f} s, {size / seconds:.3f} GB/s;"
        f" reading and hashing alone {size / bare:.3f} GB/s"
    )
    return hold(f"0.5 GB/s over the throughput, {what}", _BOUND * seconds / size, 1.0)


def compare(paths: list[Path]) -> None:
    """What the command does, without rendering."""
    with open_record(paths[0]) as one, open_record(paths[1]) as other:
        compare_records([Named("a", "a", one), Named("b", "b", other)], {})


def read(paths: list[Path]) -> None:
    """Read the files and hash them, as whoever checks them has to."""
    for path in paths:
        sha = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                sha.update(block)


def time_best(rounds: int, function: Callable[[], None]) -> float:
    """Wall time of the best turn, in seconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


class Made(Mapping[str, np.ndarray]):
    """Arrays of a record, made when they are asked for.

    Args:
        samples: number of samples
        values: float32 values of the only output
        noise: relative size of what is added

    """

    def __init__(self, samples: int, values: int, noise: float) -> None:
        self._samples, self._values, self._noise = samples, values, noise

    def __getitem__(self, key: str) -> np.ndarray:
        if key == "0/runs":
            rows = [(0, 0, n, run, 0.001) for n in range(self._samples) for run in (0, 1)]
            return np.array(rows, RUN_COLUMNS)
        if key == "0/outcome":
            return np.zeros((2 * self._samples, 1), np.int32)
        rng = np.random.default_rng(int(key.split("/")[1]))
        array = rng.standard_normal(self._values, np.float32)
        added = rng.standard_normal(self._values, np.float32) * np.float32(self._noise)
        return np.asarray(array * (1 + added), np.float32)

    def __iter__(self) -> Iterator[str]:
        yield from ("0/runs", "0/outcome")
        yield from (f"0/{sample}/0/0" for sample in range(self._samples))

    def __len__(self) -> int:
        return self._samples + 2


def make_record(samples: int, values: int, noise: float) -> Record:
    """Record of one target that ran twice on every sample."""
    arrays = Made(samples, values, noise)
    target = parse_target("cpu")
    outcomes = (
        Outcomes(0, n, (hashlib.sha256(arrays[f"0/{n}/0/0"].data).hexdigest(),), (2,), (0,), False)
        for n in range(samples)
    )
    path = Path("made.onnx")
    outputs = (TensorInfo("y", "float32", (values,)),)
    return Record(
        created="2026-01-01T00:00:00+00:00",
        detaudit="0.0.0",
        spec=AuditSpec("made.onnx", (target,), InputSpec(samples=samples), 2, 1, 1),
        model=Model(path, "onnx", "0" * 64, 1, path, None, inputs=(), outputs=outputs),
        input_source="made",
        inputs=(),
        inputs_sha256="1" * 64,
        environment={},
        seeding={},
        targets=(
            TargetRecord(
                target,
                processes=(ProcessFacts(0, (0.1,), {}, {}),),
                outputs=(OutputFacts("y", "float32", (values,)),),
                outcomes=tuple(outcomes),
            ),
        ),
        arrays=arrays,
    )


if __name__ == "__main__":
    sys.exit(main())
