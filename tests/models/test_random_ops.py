"""Nodes that draw random numbers are found wherever they hide."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, parser

from detaudit.models.model import RandomOp
from detaudit.models.opening import open_model
from detaudit.models.random_ops import find_random_ops
from tests import builders


def dropout(training: str, weights: str = "", op: str = "Dropout") -> tuple[RandomOp, ...]:
    """Find random operators in a model of one Dropout."""
    return find_random_ops(
        parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        net (float[n] x, bool switch) => (float[n] y)
            <float ratio = {{0.5}}, bool yes = {{1}}, bool no = {{0}}{weights}> {{
            kept = Identity (yes)
            y = {op} (x{training})
        }}""")
    )


@pytest.mark.parametrize("training", [", ratio, yes", ", , yes", ", ratio, kept", ", , switch"])
def test_dropout_that_draws_or_may_draw(training: str) -> None:
    assert dropout(training) == (RandomOp("Dropout", "y", "", False),)


@pytest.mark.parametrize("training", ["", ", ratio", ", ratio, no", ", ratio, "])
def test_dropout_that_draws_nothing(training: str) -> None:
    assert dropout(training) == ()


@pytest.mark.parametrize("op", ["BitmaskDropout", "BiasDropout", "BitmaskBiasDropout"])
def test_dropout_of_the_runtime(op: str) -> None:
    between = ", ratio" if op == "BitmaskDropout" else ", x, , ratio"
    found = dropout(f"{between}, yes", op=f"com.microsoft.{op}")
    assert [(entry.op, entry.subgraph) for entry in found] == [(op, "")]
    assert dropout(f"{between}, no", op=f"com.microsoft.{op}") == ()


@pytest.mark.parametrize(
    "op",
    [
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        *("Multinomial", "Bernoulli"),
    ],
)
@pytest.mark.parametrize("seed", [None, 0.0, 3.5])
def test_every_operator(op: str, seed: float | None) -> None:
    attributes = {} if seed is None else {"seed": seed}
    node = helper.make_node(op, ["x"], ["y"], **attributes)
    assert find_random_ops(model([node])) == (RandomOp(op, "y", "", seed is not None),)
    node.name, node.domain = "draw", "ai.onnx"
    assert find_random_ops(model([node])) == (RandomOp(op, "draw", "", seed is not None),)
    node.domain = "my.ops"
    assert find_random_ops(model([node])) == ()


def test_the_cases_of_others(tmp_path: Path, work: Path) -> None:
    def found(path: Path) -> list[tuple[str, bool]]:
        return [(op.op, bool(op.subgraph)) for op in open_model(path, work=work).random_ops]

    assert found(builders.noisy(tmp_path)) == [("RandomUniformLike", False)]
    assert found(builders.noisy_in_if(tmp_path)) == [("RandomUniformLike", True)]
    assert found(builders.noisy_in_loop(tmp_path)) == [("RandomUniformLike", True)]
    assert found(builders.noisy_in_function(tmp_path)) == [("RandomUniformLike", True)]
    assert found(builders.random_times_zero(tmp_path)) == [("RandomUniformLike", False)]
    assert found(builders.random_unused(tmp_path)) == [("RandomUniformLike", False)]
    assert found(builders.dropout_training(tmp_path)) == [("Dropout", False)]
    assert found(builders.dropout_inference(tmp_path)) == []
    assert open_model(builders.noisy_with_seed(tmp_path), work=work).random_ops[0].seeded


def model(nodes: list[onnx.NodeProto], outputs: tuple[str, ...] = ("y",)) -> onnx.ModelProto:
    """Join nodes to a model."""
    declared = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    return helper.make_model(helper.make_graph(nodes, "net", [], declared))


@given(
    path=st.lists(st.sampled_from(["then_branch", "else_branch", "body"]), min_size=1, max_size=8),
    named=st.booleans(),
)
def test_any_nesting(path: list[str], named: bool) -> None:
    node = helper.make_node("RandomNormal", [], ["noise"], name="draw", shape=[1])
    expected = []
    for depth, attribute in enumerate(path):
        graph = helper.make_graph([helper.make_node("Neg", ["x"], ["n"]), node], "g", [], [])
        op = "Loop" if attribute == "body" else "If"
        node = helper.make_node(op, [], [f"out{depth}"], **{attribute: graph})
        if named:
            node.name = f"{op}_{depth}"
        expected.append(f"{node.name or f'out{depth}'}/{attribute}")
    (found,) = find_random_ops(model([node]))
    assert found == RandomOp("RandomNormal", "draw", "/".join(reversed(expected)), False)


def test_order_is_that_of_the_file() -> None:
    branch = helper.make_graph([helper.make_node("Bernoulli", ["x"], ["b"])], "g", [], [])
    nodes = [
        helper.make_node("RandomNormal", [], ["first"], shape=[1]),
        helper.make_node("If", ["c"], ["i"], then_branch=branch, else_branch=branch),
        helper.make_node("RandomNormal", [], ["last"], shape=[1]),
    ]
    found = [(op.node, op.subgraph) for op in find_random_ops(model(nodes))]
    assert found == [
        ("first", ""),
        ("last", ""),
        ("b", "i/else_branch"),
        ("b", "i/then_branch"),
    ]


FUNCTIONS = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
    net (float[n] x) => (float[n] y) { a = f.outer (x)  b = f.outer (a)  y = Add (a, b) }
    <domain: "f", opset_import: ["" : 17, "f" : 1]>
    outer (i) => (o) { o = f.inner (i) }
    <domain: "f", opset_import: ["" : 17]>
    inner (i) => (o) { o = Bernoulli (i) }
    <domain: "f", opset_import: ["" : 17]>
    unused (i) => (o) { o = RandomNormalLike (i) }"""


def test_functions_count_once_and_only_when_called() -> None:
    found = find_random_ops(parser.parse_model(FUNCTIONS))
    assert found == (RandomOp("Bernoulli", "o", "f:inner", False),)


def test_functions_that_call_each_other_end() -> None:
    text = FUNCTIONS.replace("o = Bernoulli (i)", "p = Bernoulli (i)  o = f.outer (p)")
    found = find_random_ops(parser.parse_model(text))
    assert [op.op for op in found] == ["Bernoulli"]


def test_training_mode_that_a_caller_sets_may_be_on() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
        net (float[n] x) => (float[n] y) <bool no = {0}> { y = f.drop (x, no) }
        <domain: "f", opset_import: ["" : 17]>
        drop (i, t) => (o) { o = Dropout (i, , t) }"""
    assert [op.op for op in find_random_ops(parser.parse_model(text))] == ["Dropout"]
