"""Models that draw random numbers, or only seem to (cases B9, B10, B12, B14, facts 1, 2, 10)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import NodeProto, TensorProto, helper

from tests.builders.graphs import make_graph, value, write

EPSILON = {"epsilon": np.float32(1e-6)}

RANDOM_OPS = (
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Multinomial",
    "Bernoulli",
    "Dropout",
)


def make_noise(source: str = "x", result: str = "y", **attributes: float) -> list[NodeProto]:
    """Return the nodes of ``result = source + epsilon * RandomUniformLike(source)``."""
    return [
        helper.make_node("RandomUniformLike", [source], ["noise"], name="draw", **attributes),
        helper.make_node("Mul", ["noise", "epsilon"], ["small"], name="shrink"),
        helper.make_node("Add", [source, "small"], [result], name="add"),
    ]


def noisy(folder: Path) -> Path:
    """Build ``y = x + 1e-6 * RandomUniformLike(x)`` over float [n, 4] (B9)."""
    return write(
        folder / "noisy.onnx",
        make_noise(),
        [value("x", ("n", 4))],
        [value("y", ("n", 4))],
        EPSILON,
    )


def noisy_with_seed(folder: Path) -> Path:
    """Build `noisy` with a seed in the node: processes agree, runs in a session do not (B9)."""
    return write(
        folder / "noisy_with_seed.onnx",
        make_noise(seed=7.0),
        [value("x", ("n", 4))],
        [value("y", ("n", 4))],
        EPSILON,
    )


def noisy_in_if(folder: Path) -> Path:
    """Build `noisy` inside the branch of an If that is always taken (fact 10)."""
    result = [value("inner", ("n", 4))]
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["top"], keepdims=0),
        helper.make_node("IsNaN", ["top"], ["is_nan"]),
        helper.make_node("Not", ["is_nan"], ["always"]),
        helper.make_node(
            "If",
            ["always"],
            ["y"],
            name="choose",
            then_branch=make_graph(make_noise(result="inner"), [], result, name="then"),
            else_branch=make_graph(
                [helper.make_node("Identity", ["x"], ["inner"])], [], result, name="else"
            ),
        ),
    ]
    return write(
        folder / "noisy_in_if.onnx",
        nodes,
        [value("x", ("n", 4))],
        [value("y", ("n", 4))],
        EPSILON,
    )


def noisy_in_loop(folder: Path) -> Path:
    """Build three passes of a Loop, each of which adds noise (fact 10)."""
    body = make_graph(
        [*make_noise("before", "after"), helper.make_node("Identity", ["go"], ["on"])],
        [
            value("pass", (), TensorProto.INT64),
            value("go", (), TensorProto.BOOL),
            value("before", ("n", 4)),
        ],
        [value("on", (), TensorProto.BOOL), value("after", ("n", 4))],
        name="body",
    )
    nodes = [helper.make_node("Loop", ["passes", "", "x"], ["y"], name="repeat", body=body)]
    weights = {**EPSILON, "passes": np.int64(3)}
    return write(
        folder / "noisy_in_loop.onnx",
        nodes,
        [value("x", ("n", 4))],
        [value("y", ("n", 4))],
        weights,
    )


def noisy_in_function(folder: Path) -> Path:
    """Build `noisy` inside a local function that the model brings along (fact 10)."""
    function = helper.make_function(
        "detaudit.tests",
        "Disturb",
        ["source", "epsilon"],
        ["result"],
        make_noise("source", "result"),
        [helper.make_opsetid("", 17)],
    )
    call = helper.make_node(
        "Disturb", ["x", "epsilon"], ["y"], name="call", domain="detaudit.tests"
    )
    return write(
        folder / "noisy_in_function.onnx",
        [call],
        [value("x", ("n", 4))],
        [value("y", ("n", 4))],
        EPSILON,
        domains={"detaudit.tests": 1},
        functions=[function],
    )


def random_times_zero(folder: Path) -> Path:
    """Build ``y = x + 0 * RandomUniformLike(x)``: a random op that changes nothing."""
    return write(
        folder / "random_times_zero.onnx",
        make_noise(),
        [value("x", ("n", 4))],
        [value("y", ("n", 4))],
        {"epsilon": np.float32(0)},
    )


def random_unused(folder: Path) -> Path:
    """Build a random op whose result nobody reads: it changes nothing either."""
    nodes = [
        helper.make_node("RandomUniformLike", ["x"], ["noise"], name="draw"),
        helper.make_node("Relu", ["x"], ["y"]),
    ]
    return write(
        folder / "random_unused.onnx", nodes, [value("x", ("n", 4))], [value("y", ("n", 4))]
    )


def random_op(folder: Path, op: str) -> Path:
    """Build a model whose output is what one of `RANDOM_OPS` draws (B12, B14).

    The input is float [3, 4], of positive values below 1 for Bernoulli and Multinomial.
    """
    dtype, inputs, attributes = TensorProto.FLOAT, ["x"], {}
    weights: dict[str, np.ndarray] = {}
    if op in ("RandomNormal", "RandomUniform"):
        inputs, attributes = [], {"shape": [3, 4]}
    elif op == "Multinomial":
        dtype, attributes = TensorProto.INT32, {"sample_size": 8}
    elif op == "Dropout":
        inputs = ["x", "ratio", "training"]
        weights = {"ratio": np.float32(0.5), "training": np.bool_(True)}
    nodes = [
        helper.make_node(op, inputs, ["drawn"], name="draw", **attributes),
        helper.make_node("Relu", ["x"], ["same"]),
        helper.make_node("Identity", ["drawn"], ["y"]),
    ]
    outputs = [value("same", (3, 4)), value("y", (3, None), dtype)]
    return write(folder / f"{op}.onnx", nodes, [value("x", (3, 4))], outputs, weights)


def dropout_training(folder: Path) -> Path:
    """Build a Dropout that was left in training mode (B12)."""
    return random_op(folder, "Dropout")


def dropout_inference(folder: Path) -> Path:
    """Build a Dropout as it should be: the identity, nothing random."""
    return write(
        folder / "dropout_inference.onnx",
        [helper.make_node("Dropout", ["x"], ["y"])],
        [value("x", ("n", 4))],
        [value("y", ("n", 4))],
    )


def bernoulli(folder: Path) -> Path:
    """Build a Bernoulli draw with the input as probabilities (B14)."""
    return random_op(folder, "Bernoulli")


def random_length(folder: Path) -> Path:
    """Build an output int64 [1, k] whose length k is drawn anew in each run."""
    nodes = [
        helper.make_node("RandomUniformLike", ["x"], ["noise"], name="draw"),
        helper.make_node("Greater", ["noise", "half"], ["chosen"]),
        helper.make_node("Cast", ["chosen"], ["ones"], to=TensorProto.FLOAT),
        helper.make_node("NonZero", ["ones"], ["y"]),
    ]
    return write(
        folder / "random_length.onnx",
        nodes,
        [value("x", (64,))],
        [value("y", (1, "k"), TensorProto.INT64)],
        {"half": np.float32(0.5)},
    )
