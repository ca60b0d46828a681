"""What torch tells of a model while it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OpTrait:
    """An operator that a call executed.

    Attributes:
        op: name without its overload, such as ``aten.bernoulli_``
        module: module that called it and its type, such as ``encoder.drop (Dropout)``; empty for
            the model itself

    """

    op: str
    module: str


@dataclass(frozen=True, slots=True)
class TrainingTrait:
    """A module whose result depends on more than its input and its weights.

    Attributes:
        module: path in the model, empty for the model itself
        type: class of the module
        effect: what that does, in words, such as ``draws a new mask at every call (p=0.5)``

    """

    module: str
    type: str
    effect: str


@dataclass(frozen=True, slots=True)
class Traits:
    """What one more call, after all runs of the first process, showed.

    Attributes:
        random_ops: operators that draw random numbers
        unordered_ops: operators that leave open which of several values for one place counts,
            such as a scatter with duplicate indices
        training: modules in training mode, or without statistics of their own, that matter
        draws: generators that a call moved: ``torch``, ``numpy``, ``python``, ``cuda``, …
        seeds: seeds that a call gave to global generators, each with its place
        reseeded_calls: calls that were made right after the seed was set, 0 where none was
        reseeded_equal: whether these gave the same bits
        changed_weights: names of weights and buffers that the calls changed
        nondeterministic: operators that deterministic mode named, as torch calls them
        notes: further remarks, one line each

    """

    random_ops: tuple[OpTrait, ...] = ()
    unordered_ops: tuple[OpTrait, ...] = ()
    training: tuple[TrainingTrait, ...] = ()
    draws: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    reseeded_calls: int = 0
    reseeded_equal: bool = False
    changed_weights: tuple[str, ...] = ()
    nondeterministic: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
