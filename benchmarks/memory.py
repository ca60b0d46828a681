"""Peak memory with many drifting runs of a large output, against a few.

The model is y = x + 1e-6 * RandomUniformLike(x), so that every run gives another result and none
can be forgotten as known. Bound: at most 1.2 times the memory of 10 runs with 1,000 runs of 50 MB,
for the largest process and for all processes together.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import AUDIT, MIB, Usage, describe_machine, hold, run

_BOUND = 1.2


def main() -> int:
    """Measure, print, and return 1 where the bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--few", type=int, default=10, help="runs (default 10)")
    parser.add_argument("--many", type=int, default=1000, help="runs (default 1000)")
    parser.add_argument("--values", type=int, default=12_500_000, help="of the output, float32")
    options = parser.parse_args()
    print(describe_machine("numpy", "onnxruntime"))
    with tempfile.TemporaryDirectory() as folder:
        model = _write_noisy(Path(folder) / "noisy.onnx")
        few, many = (_audit(model, n, options.values) for n in (options.few, options.many))
    held = [
        hold("peak memory of the largest process", many.largest / few.largest, _BOUND),
        hold("peak memory of all processes", many.tree / few.tree, _BOUND),
    ]
    return 0 if all(held) else 1


def _audit(model: Path, runs: int, values: int) -> Usage:
    plan = ["--device", "cpu", "--sessions", "1", "--processes", "1", "--runs", str(runs)]
    command = [*AUDIT, str(model), *plan, "--shape", f"n={values}", "--no-progress"]
    used = run(command, watch=True)
    print(
        f"        {runs} runs of {values * 4 / 1e6:.0f} MB: {used.seconds:.0f} s,"
        f" {used.largest / MIB:.0f} MiB largest process, {used.tree / MIB:.0f} MiB all processes"
    )
    return used


def _write_noisy(path: Path) -> Path:
    import onnx
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("RandomUniformLike", ["x"], ["noise"]),
        helper.make_node("Constant", [], ["scale"], value_float=1e-6),
        helper.make_node("Mul", ["noise", "scale"], ["small"]),
        helper.make_node("Add", ["x", "small"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ("n",)) for name in "xy")
    graph = helper.make_graph(nodes, "noisy", [x], [y])
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opset), path)
    return path


if __name__ == "__main__":
    sys.exit(main())
