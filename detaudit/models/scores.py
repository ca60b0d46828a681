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
        name for name in main.outputs if _named_like_scores(name) or _ends_in_scores(name, main)
    )


def _named_like_scores(name: str) -> bool:
    """Tell whether a name ends in a word for scores, tensor numbers such as ``:0`` aside."""
    words = re.sub(r"[:_.]\d+$", "", name)
    return bool(_NAME.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower()))


def _ends_in_scores(name: str, scope: Scope) -> bool:
    """Follow a tensor back to the operator that gave it its values."""
    for _ in range(len(scope.producers)):  # a broken graph may be a circle
        node = scope.producers.get(name)
        if node is None:
            return False
        if node.op_type in _SCORING:
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
