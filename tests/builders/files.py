"""Model files that are unusual or broken (cases B18, I1 to I9, K2)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.builders.graphs import draw, value, write


def external_data(folder: Path, name: str = "external_data") -> Path:
    """Build a MatMul [n, 64] to [n, 8] whose weight lies in NAME.bin beside the model (I1, I2)."""
    path = write(
        folder / f"{name}.onnx",
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [value("x", ("n", 64))],
        [value("y", ("n", 8))],
        {"w": draw(0, 64, 8)},
    )
    model = onnx.load(path)
    onnx.save(
        model,
        path,
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=f"{name}.bin",
        size_threshold=0,
    )
    return path


def external_data_missing(folder: Path) -> Path:
    """Build `external_data`, then lose the file with the weight."""
    path = external_data(folder, "external_data_missing")
    path.with_suffix(".bin").unlink()
    return path


def external_data_escaping(folder: Path, location: str = "../secret.bin") -> Path:
    """Build a model in FOLDER/inside whose weight is said to lie outside of it (I3).

    The file ``secret.bin`` exists in FOLDER, so that only the check keeps it from being read.
    """
    weight = draw(0, 64, 8)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "secret.bin").write_bytes(weight.tobytes())
    path = external_data(folder / "inside", "external_data_escaping")
    model = onnx.load(path, load_external_data=False)
    (tensor,) = model.graph.initializer
    for entry in tensor.external_data:
        if entry.key == "location":
            entry.value = location
    path.write_bytes(model.SerializeToString())
    path.with_suffix(".bin").unlink()
    return path


def non_ascii_path(folder: Path) -> Path:
    """Build `external_data` in a folder with a space and letters beyond ASCII (I7)."""
    return external_data(folder / "ext é 模型", "größe")


def ir_version_99(folder: Path) -> Path:
    """Build a model of an IR version that no runtime knows yet (I8)."""
    return write(
        folder / "ir_version_99.onnx",
        [helper.make_node("Relu", ["x"], ["y"])],
        [value("x", ("n",))],
        [value("y", ("n",))],
        ir=99,
    )


def unknown_domain(folder: Path) -> Path:
    """Build a model with the operator my.ops:Nope, which nobody registered (I9)."""
    return write(
        folder / "unknown_domain.onnx",
        [helper.make_node("Nope", ["x"], ["y"], name="nope", domain="my.ops")],
        [value("x", ("n",))],
        [value("y", ("n",))],
        domains={"my.ops": 1},
    )


def bad_conv_bias(folder: Path) -> Path:
    """Build a Conv over [1, 4, 8, 8] with one bias for four channels (B18)."""
    return write(
        folder / "bad_conv_bias.onnx",
        [helper.make_node("Conv", ["x", "w", "b"], ["y"], name="conv")],
        [value("x", (1, 4, 8, 8))],
        [value("y", (1, 4, 8, 8))],
        {
            "w": np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1),
            "b": np.ones(1, np.float32),
        },
    )


def double_conv(folder: Path) -> Path:
    """Build a Conv in double, for which the runtime has no kernel: it does not load (K2)."""
    return write(
        folder / "double_conv.onnx",
        [helper.make_node("Conv", ["x", "w"], ["y"], name="conv")],
        [value("x", (1, 1, 8, 8), TensorProto.DOUBLE)],
        [value("y", (1, 1, 6, 6), TensorProto.DOUBLE)],
        {"w": np.ones((1, 1, 3, 3))},
    )


def double_scaler(folder: Path) -> Path:
    """Build a double scaler whose result is given as double and as float [n, 3] (K3)."""
    return write(
        folder / "double_scaler.onnx",
        [
            helper.make_node("Mul", ["x", "factor"], ["y"]),
            helper.make_node("Cast", ["y"], ["z"], to=TensorProto.FLOAT),
        ],
        [value("x", ("n", 3), TensorProto.DOUBLE)],
        [value("y", ("n", 3), TensorProto.DOUBLE), value("z", ("n", 3))],
        {"factor": np.array([1 / 3, 1 / 7, 1 / 11])},
    )


def truncated(folder: Path) -> Path:
    """Build a model file that was cut off in its middle."""
    path = folder / "truncated.onnx"
    whole = write(
        path,
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [value("x", ("n", 64))],
        [value("y", ("n", 8))],
        {"w": draw(0, 64, 8)},
    ).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def not_onnx(folder: Path) -> Path:
    """Write a text file that is called a model."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "not_onnx.onnx"
    path.write_text("this is no model\n", "utf-8")
    return path


def empty_file(folder: Path) -> Path:
    """Write a file of no bytes that is called a model."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "empty_file.onnx"
    path.write_bytes(b"")
    return path
