"""Models that are particular about what they are fed (cases H1 to H11)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from tests.builders.graphs import draw, value, write

STEPS = ("Cast", "Unsqueeze", "Identity", "Add", "Reshape")


def gather_ids(folder: Path, rows: int = 5, steps: Sequence[str] = ()) -> Path:
    """Build a look-up of int64 ids [n] in a table of some rows, behind any of `STEPS` (H1, H2)."""
    dtype = TensorProto.INT32 if "Cast" in steps else TensorProto.INT64
    weights = {
        "table": draw(0, rows, 4),
        "axis": np.array([0], np.int64),
        "nothing": np.int64(0),
        "flat": np.array([-1], np.int64),
    }
    more = {"Unsqueeze": ["axis"], "Add": ["nothing"], "Reshape": ["flat"]}
    nodes, source, used = [], "ids", {"table"}
    for i, step in enumerate(steps):
        attributes = {"to": TensorProto.INT64} if step == "Cast" else {}
        extra = more.get(step, [])
        nodes.append(helper.make_node(step, [source, *extra], [f"ids{i}"], **attributes))
        source = f"ids{i}"
        used.update(extra)
    nodes.append(helper.make_node("Gather", ["table", source], ["y"], name="look_up"))
    return write(
        folder / "gather_ids.onnx",
        nodes,
        [value("ids", ("n",), dtype)],
        [value("y", None)],
        {name: weights[name] for name in weights if name in used},
    )


def gather_two_tables(folder: Path) -> Path:
    """Build a sum of embeddings: ids [n, t] of 5 rows, kinds [n, t] of 2, a mask [n, t] (H2)."""
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["w"], name="words_look_up"),
        helper.make_node("Gather", ["kinds", "token_type_ids"], ["k"], name="kinds_look_up"),
        helper.make_node("Add", ["w", "k"], ["sum"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
        helper.make_node("Mul", ["sum", "wide"], ["y"]),
    ]
    weights = {
        "words": draw(0, 5, 4),
        "kinds": draw(1, 2, 4),
        "last": np.array([-1], np.int64),
    }
    names = ("input_ids", "token_type_ids", "attention_mask")
    return write(
        folder / "gather_two_tables.onnx",
        nodes,
        [value(name, ("batch", "time"), TensorProto.INT64) for name in names],
        [value("y", ("batch", "time", 4))],
        weights,
    )


def gather_positions(folder: Path, positions: int = 6) -> Path:
    """Build embeddings with a table of positions, which bounds the length t of ids [1, t]."""
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["w"], name="words_look_up"),
        helper.make_node("Shape", ["input_ids"], ["length"], start=1, end=2),
        helper.make_node("Squeeze", ["length"], ["t"]),
        helper.make_node("Range", ["zero", "t", "one"], ["places"]),
        helper.make_node("Gather", ["positions", "places"], ["p"], name="positions_look_up"),
        helper.make_node("Add", ["w", "p"], ["y"]),
    ]
    weights = {
        "words": draw(0, 50, 4),
        "positions": draw(1, positions, 4),
        "zero": np.int64(0),
        "one": np.int64(1),
    }
    return write(
        folder / "gather_positions.onnx",
        nodes,
        [value("input_ids", (1, "time"), TensorProto.INT64)],
        [value("y", (1, "time", 4))],
        weights,
    )


def weights_among_inputs(folder: Path, ir: int = 3) -> Path:
    """Build a model of old habit: the weight W is listed as an input as well (H8)."""
    return write(
        folder / f"weights_among_inputs_{ir}.onnx",
        [helper.make_node("MatMul", ["x", "W"], ["y"])],
        [value("x", ("n", 4)), value("W", (4, 2))],
        [value("y", ("n", 2))],
        {"W": draw(2, 4, 2)},
        opset=8,
        ir=ir,
    )


def scalar_input(folder: Path) -> Path:
    """Build a model that wants a float of rank 0 beside x [n] (H11)."""
    return write(
        folder / "scalar_input.onnx",
        [helper.make_node("Mul", ["x", "keep"], ["y"])],
        [value("x", ("n",)), value("keep", ())],
        [value("y", ("n",))],
    )


def equal_names(folder: Path) -> Path:
    """Build a sum of x [N, 3] and z [N, 3], whose first sizes bear one name (H5)."""
    return write(
        folder / "equal_names.onnx",
        [helper.make_node("Add", ["x", "z"], ["y"])],
        [value("x", ("N", 3)), value("z", ("N", 3))],
        [value("y", ("N", 3))],
    )


def unequal_names(folder: Path) -> Path:
    """Build a sum of x [N] and z [M]: two names for what must be one size (H5)."""
    return write(
        folder / "unequal_names.onnx",
        [helper.make_node("Add", ["x", "z"], ["y"])],
        [value("x", ("N",)), value("z", ("M",))],
        [value("y", ("N",))],
    )


def mixed_axes(folder: Path) -> Path:
    """Build an input of a named, an unnamed and a fixed axis, and one of unknown rank (H5)."""
    return write(
        folder / "mixed_axes.onnx",
        [
            helper.make_node("Relu", ["x"], ["y"]),
            helper.make_node("Abs", ["any"], ["z"]),
        ],
        [value("x", ("batch", None, 3)), value("any", None)],
        [value("y", ("batch", None, 3)), value("z", None)],
    )


def string_input(folder: Path) -> Path:
    """Build an encoder of strings [n] to int64: cat 0, dog 1, others -1 (H9)."""
    node = helper.make_node(
        "LabelEncoder",
        ["name"],
        ["index"],
        domain="ai.onnx.ml",
        keys_strings=["cat", "dog"],
        values_int64s=[0, 1],
        default_int64=-1,
    )
    return write(
        folder / "string_input.onnx",
        [node],
        [value("name", ("n",), TensorProto.STRING)],
        [value("index", ("n",), TensorProto.INT64)],
        domains={"ai.onnx.ml": 3},
    )


def masked(folder: Path) -> Path:
    """Build a choice by a bool mask: where(mask, x, 0) over [n, 3] (H4)."""
    return write(
        folder / "masked.onnx",
        [helper.make_node("Where", ["mask", "x", "zero"], ["y"])],
        [value("mask", ("n", 3), TensorProto.BOOL), value("x", ("n", 3))],
        [value("y", ("n", 3))],
        {"zero": np.float32(0)},
    )


def no_input(folder: Path) -> Path:
    """Build a model that takes nothing and gives a constant [3]."""
    return write(
        folder / "no_input.onnx",
        [helper.make_node("Relu", ["constant"], ["y"])],
        [],
        [value("y", (3,))],
        {"constant": np.array([-1, 0, 1], np.float32)},
    )
