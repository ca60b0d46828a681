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
Bound = Callable[[int, int], float]


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


SHARE = 0.05

SESSIONS: dict[str, Callable[[Random, tuple[int, int]], Array]] = {
    "sessions alike": lambda _, shape: np.full(shape, SHARE),
    "sessions vary": lambda rng, shape: rng.beta(1, 19, shape),
    "sessions vary greatly": lambda rng, shape: rng.beta(0.1, 1.9, shape),
    "few sessions drift": lambda rng, shape: np.where(rng.random(shape) < 0.1, 0.5, 0.0),
    "all or nothing": lambda rng, shape: (rng.random(shape) < SHARE).astype(float),
}
"""How often an item changes in a session; 0.05 on average."""


def draw_sessions(law: str, sessions: int, trials: int, items: int = 100) -> Array:
    """Changed items by trial and session; the sessions of a trial are sorted."""
    rng = np.random.default_rng(sessions)
    counts = rng.binomial(items, SESSIONS[law](rng, (trials, sessions)))
    return np.sort(counts, axis=1)


OUTCOMES = {
    "one": [1.0],
    "a rare second": [0.97, 0.03],
    "two alike": [0.5, 0.5],
    "seven": [0.4, 0.2, 0.2, 0.05, 0.05, 0.05, 0.05],
    "forty alike": [1 / 40] * 40,
    "each run another": [1e-4] * 10_000,
}
"""Probabilities of the distinct results of a run."""


def draw_most_frequent(law: str, n: int) -> Array:
    """How often the most frequent of n outcomes was seen, by trial."""
    rng = np.random.default_rng(n)
    drawn = np.sort(rng.choice(len(OUTCOMES[law]), (TRIALS, n), p=OUTCOMES[law]), axis=1)
    longest = np.ones(TRIALS, int)
    for length in range(2, n + 1):
        longest[(drawn[:, length - 1 :] == drawn[:, : n - length + 1]).any(axis=1)] = length
    return longest


def simulate_flags(values: str, drift: str, rows: int) -> Array:
    """Which of many values print differently at two decimals, sessions of 100 in rows."""
    rng = np.random.default_rng(7)
    x = VALUES[values](rng, (rows, 100))
    y = x + 4e-4 * DRIFTS[drift](rng, x)
    return np.rint(x * 100) != np.rint(y * 100)


def find_hardest(bound: Bound, seen: int, p: float) -> int:
    """Number of values for which a bound that rests on ``seen`` changes falls just short of p."""
    low, high = seen + 1, 10_000_000
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(seen, middle) < p else (middle + 1, high)
    return low


def cover_upper(bound: Bound, flags: Array, seen: int, rng: Random) -> int:
    """How often a bound holds for values drawn one by one from a population."""
    p = float(flags.mean())
    n = find_hardest(bound, seen, p)
    # As many of n values change as drawing them one by one would give.
    counts = rng.binomial(n, p, TRIALS)
    known = {x: bound(x, n) for x in np.unique(counts).tolist()}
    return sum(known[x] >= p for x in counts.tolist())
