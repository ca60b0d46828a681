"""Outputs that hold class scores are known by their operator or their name."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import parser

from detaudit.models.opening import open_model
from detaudit.models.scores import find_score_outputs
from tests import builders


def found(body: str, name: str = "y") -> bool:
    """Tell whether the output of a graph counts as scores."""
    model = parser.parse_model(f"""<ir_version: 8, opset_import:
            ["" : 17, "ai.onnx.ml" : 3, "com.microsoft" : 1]>
        net (float[n, 3] x, bool flag, int64[1] axes) => (float[n, 3] y) {{ {body} }}""")
    model.graph.output[0].name = name
    return find_score_outputs(model) == (name,)


@pytest.mark.parametrize(
    "body",
    [
        "y = Softmax (x)",
        "y = LogSoftmax <axis = 1> (x)",
        "p = Softmax (x)  q = Cast <to = 10> (p)  r = Reshape (q, axes)  y = Identity (r)",
        "a = Exp (x)  b = ReduceSum (a, axes)  y = Div (a, b)",
        "a = Exp (x)  b = ReduceSum (a, axes)  c = Expand (b, axes)  y = Div (a, c)",
        "l, y = ai.onnx.ml.LinearClassifier <coefficients = [1.0]> (x)",
        "l, s = ai.onnx.ml.TreeEnsembleClassifier (x)  y = ai.onnx.ml.ZipMap (s)",
        "l, s = ai.onnx.ml.SVMClassifier (x)  y = ai.onnx.ml.Normalizer (s)",
        "p = com.microsoft.QLinearSoftmax (x)  y = DequantizeLinear (p, x)",
        """y = If (flag) <
            then_branch = yes () => (float[] t) { t = Softmax (x) },
            else_branch = no () => (float[] e) { s = Softmax (x)  e = Identity (s) }
        >""",
    ],
)
def test_by_operator(body: str) -> None:
    assert found(body)


@pytest.mark.parametrize(
    "body",
    [
        "y = Sigmoid (x)",
        "p = Softmax (x)  y = MatMul (p, x)",
        "y, s = ai.onnx.ml.LinearClassifier <coefficients = [1.0]> (x)",
        "a = Exp (x)  c = Exp (x)  b = ReduceSum (c, axes)  y = Div (a, b)",
        "b = ReduceSum (x, axes)  y = Div (x, b)",
        "y = Identity (z)  z = Identity (y)",
        "y = Identity ()",
        "y = Div ()",
        """y = If (flag) <
            then_branch = yes () => (float[] t) { t = Softmax (x) },
            else_branch = no () => (float[] e) { e = Neg (x) }
        >""",
    ],
)
def test_not_by_operator(body: str) -> None:
    assert not found(body)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "logits",
            "logit",
            "class_scores",
            "probs",
            "prob",
            "output_probability",
            "Probabilities",
        ),
        *("logits:0", "start_logits", "classLogits", "serving/softmax.1", "SCORES", "scores_2"),
    ],
)
def test_by_name(name: str) -> None:
    assert found("y = Neg (x)", name)


@pytest.mark.parametrize("name", ["y", "problogit_s", "underscore", "scores_embedding", "improb"])
def test_not_by_name(name: str) -> None:
    assert not found("y = Neg (x)", name)


def test_the_cases_of_others(tmp_path: Path, work: Path) -> None:
    model = open_model(builders.zipmap(tmp_path), work=work)
    assert len(model.score_outputs) == 1
    assert model.outputs[1].name in model.score_outputs
    assert model.outputs[1].dtype == "seq(map(int64,tensor(float)))"
