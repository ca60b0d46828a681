"""Finding the nodes that draw random numbers, without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detaudit.models.model import RandomOp
from detaudit.models.scope import attribute, label, operand, walk

if TYPE_CHECKING:
    import onnx

    from detaudit.models.scope import Scope

_ALWAYS = frozenset(
    {
        ("", "Bernoulli"),
        ("", "Multinomial"),
        ("", "RandomNormal"),
        ("", "RandomNormalLike"),
        ("", "RandomUniform"),
        ("", "RandomUniformLike"),
        ("com.microsoft", "Sampling"),
    }
)

_IN_TRAINING_MODE = {
    ("", "Dropout"): 2,
    ("com.microsoft", "BitmaskDropout"): 2,
    ("com.microsoft", "BiasDropout"): 4,
    ("com.microsoft", "BitmaskBiasDropout"): 4,
}
"""Operators that draw in training mode only, with the position of the input that says so."""


def find_random_ops(model: onnx.ModelProto) -> tuple[RandomOp, ...]:
    """Find the nodes that draw random numbers, or may do so.

    Looks into If, Loop and Scan bodies, whatever their nesting, and into local functions that
    are called. Dropout counts when its training mode is on, or is not known before it runs.

    Args:
        model: parsed model

    Returns:
        the nodes, those of the main graph first; a function's nodes once, whatever the
        number of its calls

    Examples:
        >>> from onnx import parser
        >>> text = '''<ir_version: 9, opset_import: ["" : 17]>
        ...     noisy (float[n] x) => (float[n] y) {
        ...         noise = RandomUniformLike <seed = 1.0> (x)
        ...         y = Add (x, noise)
        ...     }'''
        >>> find_random_ops(parser.parse_model(text))
        (RandomOp(op='RandomUniformLike', node='noise', subgraph='', seeded=True),)

    """
    return tuple(
        RandomOp(node.op_type, label(node), scope.path, attribute(node, "seed") is not None)
        for scope in walk(model)
        for node in scope.nodes
        if _draws(node, scope)
    )


def _draws(node: onnx.NodeProto, scope: Scope) -> bool:
    """Tell whether a node draws random numbers, or may do so."""
    key = ("" if node.domain == "ai.onnx" else node.domain, node.op_type)
    if key in _ALWAYS:
        return True
    position = _IN_TRAINING_MODE.get(key)
    if position is None or not operand(node, position):
        return False
    training = scope.value(operand(node, position))
    return training is None or bool(training.any())
