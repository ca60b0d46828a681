"""What the audit costs beside the calls of the model.

The time from the end of the first call to the end of the last one, as the parent of a worker sees
it: calls, hashing of inputs and outputs, messages, folding. Held against a bare loop over the same
session in a process of its own. Bound for calls of 5 ms and more: at most 10 % on top.

What happens once, before the first call and after the last one, is told beside it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measure import alternate, describe_machine, divide_best, hold

from detaudit.audit import plan_audit
from detaudit.capture.capture import capture
from detaudit.record import table_key
from tests.fetch import fetch_model

_BOUND = 1.10
_SLOW_SECONDS = 0.005
_BARE = """\
import sys, time
import numpy as np, onnxruntime
model, inputs, calls = sys.argv[1:]
feeds = dict(np.load(inputs))
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
session.run(None, feeds)
begin = time.perf_counter()
for _ in range(int(calls) - 1):
    session.run(None, feeds)
print(time.perf_counter() - begin)
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A model and its inputs.

    Attributes:
        name: what it is
        model: ONNX file
        inputs: npz file

    """

    name: str
    model: Path
    inputs: Path


@dataclass(frozen=True, slots=True)
class Audited:
    """Times of one audit in seconds.

    Attributes:
        before: from the start to the end of the first call
        loop: from the end of the first call to the end of the last one
        calls: what the worker's clock says of the calls in the loop
        after: from the end of the last call to the record

    """

    before: float
    loop: float
    calls: float
    after: float


def main() -> int:
    """Measure, print, and return 1 where the bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=100, help="in each loop")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", action="append", help="only these, such as matmul")
    options = parser.parse_args()
    print(describe_machine("numpy", "onnxruntime"))
    with tempfile.TemporaryDirectory() as folder:
        cases = [c for c in _cases(Path(folder)) if c.name in (options.case or [c.name])]
        held = [_measure(case, options.calls, options.rounds) for case in cases]
    return 0 if all(held) else 1


def _measure(case: Case, calls: int, rounds: int) -> bool:
    audits, bare = alternate(rounds, lambda: _audit(case, calls), lambda: _run_bare(case, calls))
    call = min(bare) / (calls - 1)
    inside = min(a.loop / a.calls for a in audits) - 1
    print(
        f"\n{case.name}: {call * 1e3:.2f} ms a call;"
        f" {min(a.before for a in audits) * 1e3:.0f} ms until the first call ended,"
        f" {min(a.after for a in audits) * 1e3:.0f} ms after the last one;"
        f" {inside:.1%} on top of the calls by the worker's own clock"
    )
    ratio = divide_best([a.loop for a in audits], bare)
    if call < _SLOW_SECONDS:
        print(f"        loop over bare loop: {ratio:.3f} (calls too fast to be held)")
        return True
    return hold("loop over bare loop", ratio, _BOUND)


def _audit(case: Case, calls: int) -> Audited:
    spec = plan_audit(case.model, "cpu", source=case.inputs, runs=calls, sessions=1, processes=1)
    ends: list[float] = []
    start = time.perf_counter()
    record = capture(spec, lambda *_: ends.append(time.perf_counter()))
    stop = time.perf_counter()
    (target,) = record.targets
    if target.status != "ok":
        raise SystemExit(f"{case.name}: {target.status}: {target.reason}")
    # The first end is told before any call.
    first, last = ends[1], ends[-1]
    seconds = record.arrays[table_key(0, "runs")]["seconds"][1:].sum()
    return Audited(first - start, last - first, float(seconds), stop - last)


def _run_bare(case: Case, calls: int) -> float:
    command = [sys.executable, "-c", _BARE, str(case.model), str(case.inputs), str(calls)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _cases(folder: Path) -> Iterator[Case]:
    rng = np.random.default_rng(0)

    def case(name: str, model: Path, **inputs: np.ndarray) -> Case:
        path = folder / f"{name}.npz"
        np.savez(path, **inputs)
        return Case(name, model, path)

    signal = rng.standard_normal((1, 16000), np.float32)
    yield case("bundled", _unpack_bundled(folder), signal=signal)
    files = rng.integers(0, 257, (4, 2048), dtype=np.int32)
    yield case("magika", fetch_model("magika.onnx"), bytes=files)
    speech = rng.standard_normal((1, 144160), np.float32)
    yield case("dnsmos", fetch_model("dnsmos_sig_bak_ovr.onnx"), input_1=speech)
    # 1 MB out of each call: what hashing and sending cost shows most.
    rows = rng.standard_normal((256, 1024), np.float32)
    yield case("matmul", _write_matmul(folder / "matmul.onnx", rng), x=rows)


def _unpack_bundled(folder: Path) -> Path:
    import zipfile

    from detaudit.demo import model_path

    with zipfile.ZipFile(model_path()) as archive:
        return Path(archive.extract("model.onnx", folder))


def _write_matmul(path: Path, rng: np.random.Generator) -> Path:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weight = rng.standard_normal((1024, 1024), np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "matmul",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("n", 1024))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n", 1024))],
        [numpy_helper.from_array(weight, "w")],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opset), path)
    return path


if __name__ == "__main__":
    sys.exit(main())
