"""Finding the outputs that hold class scores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detaudit.models.scope import Scope, operand, walk

if TYPE_CHECKING:
    import onnx

_SCORING = ("Softmax", "LogSoftmax", "QLinearSoftmax", "ZipMap")
_CLASSIFIERS = ("LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier")
"""Operators of ai.onnx.ml whose second output holds the scores."""

_RESHAPING = (
    *("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose"),
    *("Normalizer", "QuantizeLinear", "DequantizeLinear"),
)
"""Operators that leave scores scores."""

_NAME = re.compile(r"(?:^|[^a-z])(?:logits?|scores?|probs?|probabilit(?:y|ies)|softmax)$")


def find_score_outputs(model: onnx.ModelProto) -> tuple[str, ...]:
    """Find the outputs that hold class scores.

    Args:
        model: parsed model

    Returns:
        names of outputs that come from a softmax or a classifier operator, or are named
        like ``logits``, ``class_scores`` or ``outputProbability``

    Examples:
        >>> from onnx import parser
        >>> text = '''<ir_version: 9, opset_import: ["" : 17]>
        ...     net (float[n, 3] x) => (float[n, 3] y, float[n, 3] logits, float[n, 3] z) {
        ...         p = Softmax (x)
        ...         y = Identity (p)
        ...         logits = Neg (x)
        ...         z = Sigmoid (x)
        ...     }'''
        >>> find_score_outputs(parser.parse_model(text))
        ('y', 'logits')

    """
    main = next(walk(model))
    return tuple(
        name for name in main.outputs if named_like_scores(name) or _ends_in_scores(name, main)
    )


def find_squashed_outputs(model: onnx.ModelProto) -> tuple[str, ...]:
    """Find the outputs whose values are squashed into 0 to 1 one by one.

    Args:
        model: parsed model

    Returns:
        names of outputs that come from a Sigmoid

    Examples:
        >>> from onnx import parser
        >>> text = '''<ir_version: 9, opset_import: ["" : 17]>
        ...     net (float[n, 3] x) => (float[n, 3] y, float[n, 3] z) {
        ...         y = Softmax (x)
        ...         z = Sigmoid (x)
        ...     }'''
        >>> find_squashed_outputs(parser.parse_model(text))
        ('z',)

    """
    main = next(walk(model))
    behind = {name: _behind_reshaping(name, main) for name in main.outputs}
    return tuple(
        name
        for name, node in behind.items()
        if node is not None and node.op_type in ("Sigmoid", "HardSigmoid")
    )


def named_like_scores(name: str) -> bool:
    """Whether a name ends in a word for scores, tensor numbers such as ``:0`` aside."""
    words = re.sub(r"[:_.]\d+$", "", name)
    return bool(_NAME.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower()))


def _ends_in_scores(name: str, scope: Scope) -> bool:
    """Follow a tensor back to the operator that gave it its values."""
    for _ in range(len(scope.producers)):  # a broken graph may be a circle
        node = scope.producers.get(name)
        if node is None:
            return False
        if node.op_type in _SCORING or _is_softmax_by_hand(node, scope):
            return True
        if node.op_type in _CLASSIFIERS:
            return bool(name == node.output[-1])
        if node.op_type == "If":
            place = list(node.output).index(name)
            return all(
                _ends_in_scores(branch.outputs[place], branch)
                for branch in scope.children(node)
                if place < len(branch.outputs)
            )
        if node.op_type not in _RESHAPING:
            return False
        name = operand(node, 0)
    return False


def _is_softmax_by_hand(node: onnx.NodeProto, scope: Scope) -> bool:
    """Recognise ``exp(x) / sum(exp(x))`` in single steps, as some exporters write a softmax."""
    if node.op_type != "Div":
        return False
    part, whole = (_behind_reshaping(operand(node, position), scope) for position in (0, 1))
    if part is None or whole is None or (part.op_type, whole.op_type) != ("Exp", "ReduceSum"):
        return False
    summed = _behind_reshaping(operand(whole, 0), scope)
    return summed is not None and summed.output[0] == part.output[0]


def _behind_reshaping(name: str, scope: Scope) -> onnx.NodeProto | None:
    """Find the node that makes the values of a tensor, and not only their arrangement."""
    node = scope.producers.get(name)
    for _ in range(len(scope.producers)):
        if node is None or node.op_type not in (*_RESHAPING, "Expand"):
            break
        node = scope.producers.get(operand(node, 0))
    return node
