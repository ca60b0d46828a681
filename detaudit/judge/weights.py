"""Whether what ran was one model, by the weights that every session built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from detaudit.record import TargetRecord

Weights = Sequence[Sequence[str]]
"""Digests of all weights and buffers, per process and session."""

OTHER_SESSIONS = "the weights differ: not the same model"
OTHER = "its weights are others: not the same model"
VARYING = "the weights vary from session to session: not the same model"
APART = (OTHER, VARYING)
"""What stands in the place of figures where two targets did not run the same model."""


def read_weights(target: TargetRecord) -> tuple[tuple[str, ...], ...]:
    """Digests per process and session, empty where a file that is hashed holds the weights.

    Args:
        target: what happened on a target

    """
    told = tuple(process.weights for process in target.processes)
    return told if any(told) else ()


def count_sets(weights: Weights) -> int:
    """Number of different sets of weights.

    Examples:
        >>> count_sets([["a", "b"], ["a", "c"]])
        3

    """
    return len(set(chain.from_iterable(weights)))


def vary(weights: Weights, scope: str) -> bool:
    """Whether a scope compares results of different weights.

    Args:
        weights: digests per process and session
        scope: ``run``, ``session`` or ``process``

    Examples:
        >>> [vary([["a", "a"], ["b", "b"]], scope) for scope in ("run", "session", "process")]
        [False, False, True]

    """
    groups: Iterable[Sequence[str]] = ()
    if scope == "session":
        groups = weights
    elif scope == "process":
        groups = [[process[0] for process in weights if process]]
    return any(len(set(group)) > 1 for group in groups)


def tell_apart(target: TargetRecord, reference: TargetRecord) -> str | None:
    """Why results of two targets are not those of one model.

    A target with a model of its own (option ``model=``) has other weights by design.

    Args:
        target: what happened on a target
        reference: what happened on the reference

    Returns:
        one of ``APART``, None where they may be compared

    """
    mine, theirs = read_weights(target), read_weights(reference)
    asked_alike = target.target.model == reference.target.model
    if asked_alike and mine and theirs and mine[0][:1] != theirs[0][:1]:
        return OTHER
    return VARYING if max(count_sets(mine), count_sets(theirs)) > 1 else None
