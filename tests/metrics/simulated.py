"""Drift and values of known laws, and how often what is claimed of them holds.

A claim that holds with probability c is tried ``TRIALS`` times. It is refused when it held fewer
than `least_hits` times, which is so chosen that

* a claim that holds exactly as often as said is refused with a probability below 1e-8, so that
  even a hundred of them all pass but for a probability of 1e-6,
* a claim of 95 % or more that holds 2 % less often is refused with a probability above 1 - 1e-6.

The seeds are fixed, so a refusal is a finding and no bad luck.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

TRIALS = 20_000
REFUSED = 1e-8

Array = np.ndarray
Random = np.random.Generator


def least_hits(confidence: float, trials: int = TRIALS) -> int:
    """How often a claim has to hold at least."""
    return int(stats.binom.ppf(REFUSED, trials, confidence))


def _jump(rng: Random, x: Array) -> Array:
    return np.where(rng.random(x.shape) < 0.02, 50 * rng.standard_normal(x.shape), 0.0)


def _offset(rng: Random, x: Array) -> Array:
    """One offset for each row, a session, and little noise besides."""
    rows = rng.standard_normal((len(x), *[1] * (x.ndim - 1)))
    return rows + 0.1 * rng.standard_normal(x.shape)


DRIFTS: dict[str, Callable[[Random, Array], Array]] = {
    "normal": lambda rng, x: rng.standard_normal(x.shape),
    "uniform": lambda rng, x: rng.uniform(-1.7, 1.7, x.shape),
    "heavy-tailed": lambda rng, x: rng.standard_t(2.5, x.shape),
    "one-sided": lambda rng, x: rng.exponential(1.0, x.shape),
    "rare large jumps": _jump,
    "offset per session": _offset,
    "relative": lambda rng, x: x * rng.standard_normal(x.shape),
}
"""Laws of drift with a size of about one; a row is a session."""


def sigmoid(z: Array) -> Array:
    return 1 / (1 + np.exp(-z))


def softmax(z: Array) -> Array:
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


SPREAD: dict[str, Callable[[Random, tuple[int, ...]], Array]] = {
    "uniform": lambda rng, shape: rng.random(shape),
    "normal": lambda rng, shape: rng.standard_normal(shape),
}
"""Values that lie evenly between rounding boundaries."""

SQUASHED: dict[str, Callable[[Random, tuple[int, ...]], Array]] = {
    "sigmoid near 0 and 1": lambda rng, shape: sigmoid(8 * rng.standard_normal(shape)),
    "softmax": lambda rng, shape: softmax(4 * rng.standard_normal((*shape, 10))).reshape(
        shape[0], -1
    ),
}
"""Values that crowd at their ends."""

UNEVEN: dict[str, Callable[[Random, tuple[int, ...]], Array]] = {
    "rounded to what is printed": lambda rng, shape: np.rint(rng.random(shape) * 100) / 100,
    "lattice on the boundaries": lambda rng, shape: np.rint(rng.random(shape) * 100) / 100 + 0.005,
}
"""Values that lie anywhere but evenly, for two decimals."""

VALUES = {**SPREAD, **SQUASHED, **UNEVEN}
