"""Likely causes of what was measured, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from detaudit.metrics.scales import MISMATCH, explain
from detaudit.models.model import RandomOp
from detaudit.target import Target

_MOST = 4


def name_random_ops(ops: Sequence[RandomOp]) -> str:
    """Random operators of a model in words.

    Args:
        ops: at least one operator

    Examples:
        >>> name_random_ops([RandomOp("Dropout", "d1", "If_0/then_branch", False)])
        "Dropout 'd1' in If_0/then_branch"

    """
    return name_some(
        f"{op.op} '{op.node}'" + (f" in {op.subgraph}" if op.subgraph else "") for op in ops
    )


def name_some(names: Iterable[str]) -> str:
    """Names in a sentence, at most four of them.

    Examples:
        >>> name_some(["a", "b", "c", "d", "e", "f"])
        'a, b, c, d and 2 more'

    """
    names = list(names)
    left = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {left} more" if left > 0 else "")


def plural(count: int, noun: str) -> str:
    """Number with its noun.

    Examples:
        >>> plural(1, "process"), plural(2000, "run"), plural(2, "process")
        ('1 process', '2,000 runs', '2 processes')

    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def explain_drift(target: Target, scope: str, ops: Sequence[RandomOp], first_differs: bool) -> str:
    """Why results of one target differ, and what to try.

    Args:
        target: the target
        scope: narrowest scope in which they differ
        ops: random operators of the model
        first_differs: whether only the first run differs from the rest

    """
    if first_differs and scope == "run":
        return (
            "Some versions of ONNX Runtime give memory of the first run a second use: try"
            " mem_pattern=0 or another version, and never drop the first run as a warm-up."
        )
    if ops:
        return {
            "run": f"The model draws random numbers: {name_random_ops(ops)}. Every call goes on"
            " where the last one ended; a seed attribute does not change that.",
            "session": f"The model draws random numbers: {name_random_ops(ops)}.",
            "process": f"The model draws random numbers: {name_random_ops(ops)}. Without a seed"
            " they start anew in every process: seed the runtime (--seed-runtime) or give the"
            " operators a seed.",
        }[scope]
    if target.family == "cuda":
        return {
            "run": "Sums with atomic additions finish in any order on a GPU.",
            "session": "Convolution algorithms are picked when a session starts: compare"
            " cudnn_conv_algo_search=DEFAULT, and the versions of ONNX Runtime and cuDNN.",
            "process": "What is chosen once per process, such as an algorithm or a plan, differs.",
        }[scope]
    return {
        "run": "Threads that add into the same place finish in any order or overwrite each other"
        " (scatter and other reductions with duplicate indices): compare threads=1.",
        "session": "Something is chosen when a session starts.",
        "process": "Something is drawn or chosen once per process: seeds, hash order, addresses.",
    }[scope]


def explain_size(
    max_abs: float | None, rel_norm: float | None, dtype: str, *, noise: float, quantised: bool
) -> str | None:
    """What the size of the differences between two targets suggests.

    Args:
        max_abs: largest difference, None where nothing finite was compared
        rel_norm: the same relative to the largest value of the reference
        dtype: type of the output
        noise: largest difference among the runs of either target; what is not much larger is
            nothing but that
        quantised: whether the model computes in integers

    Returns:
        suspects in words, None where nothing is unusual

    Examples:
        >>> explain_size(0.2, 0.05, "float32", noise=0.0, quantised=True)
        'the model is quantised: a value at a rounding boundary moves by a whole step'
        >>> explain_size(0.2, 0.05, "float32", noise=0.2, quantised=False) is None
        True

    """
    if max_abs is None or noise >= max_abs / 2:
        return None
    words = explain(max_abs, rel_norm, dtype)
    if words and quantised and rel_norm is not None and rel_norm < MISMATCH:
        return "the model is quantised: a value at a rounding boundary moves by a whole step"
    return words
