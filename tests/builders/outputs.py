"""Models with every kind of output that a runtime can give (cases C10, G1 to G12, facts 5, 8)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from tests.builders.graphs import FLOAT, draw, value, write

DTYPES = (
    "float16",
    "float",
    "double",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "string",
)
NARROW_DTYPES = ("float8e4m3fn", "float8e5m2", "int4", "uint4")


def identity(folder: Path, dtype: str = "float", shape: tuple[int | str, ...] = ("n", 3)) -> Path:
    """Build ``y = x`` for one of `DTYPES` (H4, H9)."""
    kind = TensorProto.DataType.Value(dtype.upper())
    return write(
        folder / f"identity_{dtype}.onnx",
        [helper.make_node("Identity", ["x"], ["y"])],
        [value("x", shape, kind)],
        [value("y", shape, kind)],
    )


def bf16_output(folder: Path) -> Path:
    """Build a bfloat16 output, for which NumPy has no type: plain ``run`` raises (G12)."""
    return write(
        folder / "bf16_output.onnx",
        [
            helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16),
            helper.make_node("Relu", ["x"], ["z"]),
        ],
        [value("x", ("n", 3))],
        [value("y", ("n", 3), TensorProto.BFLOAT16), value("z", ("n", 3))],
    )


def narrow_output(folder: Path, dtype: str) -> Path:
    """Build an output of one of `NARROW_DTYPES`, of which NumPy knows none; the input is [n, 4].

    ONNX Runtime raises, but for float8e4m3fn, whose codes it gives as if they were uint8. The
    4-bit types need a runtime that knows operator set 21.
    """
    kind = TensorProto.DataType.Value(dtype.upper())
    opset, ir = (19, 9) if dtype.startswith("float8") else (21, 10)
    return write(
        folder / f"narrow_{dtype}.onnx",
        [helper.make_node("Cast", ["x"], ["y"], to=kind)],
        [value("x", ("n", 4))],
        [value("y", ("n", 4), kind)],
        opset=opset,
        ir=ir,
    )


def fp16_matmul(folder: Path) -> Path:
    """Build a float16 model: MatMul over [n, 64] (C6, C7)."""
    return write(
        folder / "fp16_matmul.onnx",
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [value("x", ("n", 64), TensorProto.FLOAT16)],
        [value("y", ("n", 8), TensorProto.FLOAT16)],
        {"w": draw(5, 64, 8).astype(np.float16)},
    )


def log_specials(folder: Path) -> Path:
    """Build Log; fed [-1, 0, 1, inf] it gives [nan, -inf, 0, inf] (G1)."""
    return write(
        folder / "log_specials.onnx",
        [helper.make_node("Log", ["x"], ["y"])],
        [value("x", (4,))],
        [value("y", (4,))],
    )


def fp16_overflow(folder: Path) -> Path:
    """Build a float16 sum of 256 products; values of 6e4 overflow to infinity (G3)."""
    return write(
        folder / "fp16_overflow.onnx",
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [value("x", ("n", 256), TensorProto.FLOAT16)],
        [value("y", ("n", 2), TensorProto.FLOAT16)],
        {"w": np.ones((256, 2), np.float16)},
    )


def zipmap(folder: Path, labels: str = "ints") -> Path:
    """Build a linear classifier with ZipMap: a label and a list of dictionaries (G7, G8).

    Args:
        folder: where to write
        labels: "ints" for the classes 0, 1, 2 or "strings" for cat, dog, owl

    """
    kind, classes, keys = {
        "ints": (TensorProto.INT64, [0, 1, 2], "classlabels_int64s"),
        "strings": (TensorProto.STRING, ["cat", "dog", "owl"], "classlabels_strings"),
    }[labels]
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "scores"],
            domain="ai.onnx.ml",
            coefficients=draw(6, 3, 4).ravel().tolist(),
            intercepts=[0.0, 0.1, -0.1],
            post_transform="SOFTMAX",
            **{f"classlabels_{labels}": classes},
        ),
        helper.make_node("ZipMap", ["scores"], ["z"], domain="ai.onnx.ml", **{keys: classes}),
    ]
    mapping = helper.make_map_type_proto(kind, helper.make_tensor_type_proto(FLOAT, ()))
    zipped = helper.make_value_info("z", helper.make_sequence_type_proto(mapping))
    return write(
        folder / f"zipmap_{labels}.onnx",
        nodes,
        [value("x", ("n", 4))],
        [value("label", ("n",), kind), zipped],
        domains={"ai.onnx.ml": 3},
    )


def string_output(folder: Path) -> Path:
    """Build class names from int64 indices [n] (G8)."""
    node = helper.make_node(
        "LabelEncoder",
        ["index"],
        ["name"],
        domain="ai.onnx.ml",
        keys_int64s=[0, 1, 2],
        values_strings=["cat", "dog", "owl"],
        default_string="none",
    )
    return write(
        folder / "string_output.onnx",
        [node],
        [value("index", ("n",), TensorProto.INT64)],
        [value("name", ("n",), TensorProto.STRING)],
        domains={"ai.onnx.ml": 3},
    )


def split_to_sequence(folder: Path) -> Path:
    """Build a sequence of the rows of x [n, 2], empty for no rows (G9)."""
    row = helper.make_tensor_type_proto(FLOAT, (2,))
    return write(
        folder / "split_to_sequence.onnx",
        [helper.make_node("SplitToSequence", ["x"], ["y"], axis=0, keepdims=0)],
        [value("x", ("n", 2))],
        [helper.make_value_info("y", helper.make_sequence_type_proto(row))],
    )


def nonzero(folder: Path) -> Path:
    """Build NonZero over [4]: zeros give int64 [1, 0], a shape that depends on the data (G10)."""
    return write(
        folder / "nonzero.onnx",
        [helper.make_node("NonZero", ["x"], ["y"])],
        [value("x", (4,))],
        [value("y", (1, "k"), TensorProto.INT64)],
    )


def optional_output(folder: Path) -> Path:
    """Build an optional tensor that holds x [n, 3]."""
    tensor = helper.make_tensor_type_proto(FLOAT, ("n", 3))
    return write(
        folder / "optional_output.onnx",
        [helper.make_node("Optional", ["x"], ["y"])],
        [value("x", ("n", 3))],
        [helper.make_value_info("y", helper.make_optional_type_proto(tensor))],
        opset=18,
    )


def empty_optional_output(folder: Path) -> Path:
    """Build an optional tensor that holds nothing, beside a plain output."""
    tensor = helper.make_tensor_type_proto(FLOAT, (3,))
    return write(
        folder / "empty_optional_output.onnx",
        [
            helper.make_node("Optional", [], ["y"], type=tensor),
            helper.make_node("Relu", ["x"], ["z"]),
        ],
        [value("x", (3,))],
        [helper.make_value_info("y", helper.make_optional_type_proto(tensor)), value("z", (3,))],
        opset=18,
    )


def scalar_output(folder: Path) -> Path:
    """Build the sum of x [n] as a tensor of rank 0."""
    return write(
        folder / "scalar_output.onnx",
        [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)],
        [value("x", ("n",))],
        [value("y", ())],
    )


def wrong_declared_shape(folder: Path) -> Path:
    """Build an output declared as [n, 5] that is [n, 3] in truth: the declaration is no proof."""
    return write(
        folder / "wrong_declared_shape.onnx",
        [
            helper.make_node("Shape", ["x"], ["shape"]),
            helper.make_node("Reshape", ["x", "shape"], ["y"]),
        ],
        [value("x", ("n", None))],
        [value("y", ("n", 5))],
    )


def same_pass_twice(folder: Path) -> Path:
    """Build ``y = x + x``: 2 for ones, 4 for twos, never one run's buffer in another (L1)."""
    return write(
        folder / "same_pass_twice.onnx",
        [helper.make_node("Add", ["x", "x"], ["y"])],
        [value("x", ("n",))],
        [value("y", ("n",))],
    )


def argmax(folder: Path) -> Path:
    """Build ArgMax over the rows of [n, 3]; ONNX Runtime skips NaN, NumPy does not (fact 8)."""
    return write(
        folder / "argmax.onnx",
        [helper.make_node("ArgMax", ["x"], ["y"], axis=-1, keepdims=0)],
        [value("x", ("n", 3))],
        [value("y", ("n",), TensorProto.INT64)],
    )


def topk(folder: Path) -> Path:
    """Build the two largest of each row of [n, 6] with indices; ties go to the lower one (C10)."""
    return write(
        folder / "topk.onnx",
        [helper.make_node("TopK", ["x", "k"], ["values", "indices"], axis=-1)],
        [value("x", ("n", 6))],
        [value("values", ("n", 2)), value("indices", ("n", 2), TensorProto.INT64)],
        {"k": np.array([2], np.int64)},
    )


def classifier(folder: Path, outputs: int = 3) -> Path:
    """Build two dense layers with random weights: float [n, 16] to logits [n, outputs]."""
    weights = {
        "w1": draw(7, 16, 32),
        "b1": draw(8, 32),
        "w2": draw(9, 32, outputs),
        "b2": draw(10, outputs),
    }
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["hidden"], name="dense1"),
        helper.make_node("Relu", ["hidden"], ["active"]),
        helper.make_node("Gemm", ["active", "w2", "b2"], ["logits"], name="dense2"),
    ]
    return write(
        folder / "classifier.onnx",
        nodes,
        [value("x", ("n", 16))],
        [value("logits", ("n", outputs))],
        weights,
    )
