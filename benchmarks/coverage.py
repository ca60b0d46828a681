"""How often what is claimed of a count holds, and how near expectations come, under simulation.

    python benchmarks/coverage.py > docs/coverage.inc

The tables stand in docs/method.rst. Seeds are fixed. tests/metrics/test_simulation_*.py holds the
same estimators to their claims under more laws.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from detaudit.metrics.classes import Classes  # noqa: E402
from detaudit.metrics.clusters import Clusters, ClustersSummary  # noqa: E402
from detaudit.metrics.counts import (  # noqa: E402
    clopper_pearson,
    find_upper_bound,
    instability_upper_bound,
    modal_share,
)
from detaudit.metrics.rounding import Rounding  # noqa: E402
from tests.metrics.simulated import (  # noqa: E402
    DRIFTS,
    OUTCOMES,
    SESSIONS,
    SHARE,
    TRIALS,
    VALUES,
    cover_upper,
    draw_most_frequent,
    draw_sessions,
    simulate_flags,
    softmax,
)

Row = tuple[str, ...]
Ends = tuple[float, float]


def main() -> int:
    """Print the tables; returns 0."""
    claims = ("Claim", "Law", "Held")
    print_table("How often claims of 95 % held", claims, [*_bounds(), *_modes()])
    sessions = ("Sessions", "Items taken for independent", "Clustered", "Clustered, any law")
    print_table("How often intervals of 95 % held, 100 items in a session", sessions, _sessions())
    figures = ("Figure", "Values", "Least", "Most")
    print_table("Seen over expected, seven laws of drift", figures, [*_rounding(), *_flips()])
    return 0


def print_table(title: str, head: Row, rows: Iterable[Row]) -> None:
    """Print a table that Sphinx reads."""
    print(f".. list-table:: {title}\n   :header-rows: 1\n")
    for row in (head, *rows):
        for number, cell in enumerate(row):
            print(f"     - {cell}" if number else f"   * - {cell}")
    print()


def _bounds() -> Iterator[Row]:
    rng = np.random.default_rng(1)
    for units in (5, 60):
        p = (instability_upper_bound(units) or 1.0) * (1 + 1e-9)
        unequal = (rng.random((TRIALS, units - 1)) < p).any(axis=1)
        yield f"instability of {units} units", "just beyond the bound", _percent(unequal.mean())
    for seen in (0, 7):
        shares = [
            cover_upper(find_upper_bound, simulate_flags("normal", drift, 2_000), seen, rng)
            / TRIALS
            for drift in DRIFTS
        ]
        where = "least of seven laws of drift"
        yield f"changed printed values, {seen} seen, at most", where, _percent(min(shares))


def _modes() -> Iterator[Row]:
    for law in ("a rare second", "two alike", "forty alike"):
        p = max(OUTCOMES[law])
        counts = draw_most_frequent(law, 20)
        ends = _tabulate(lambda x: modal_share(x, 20)[1:], counts)
        yield "share of the most frequent of 20 results", law, _cover(ends, p)


def _sessions() -> Iterator[Row]:
    for number in (4, 20):
        for law in SESSIONS:
            rows = draw_sessions(law, number, 2_000)
            summaries = [_read(row) for row in rows]
            items = 100 * number
            naive = [clopper_pearson(int(row.sum()), items) for row in rows]
            given = [s.interval for s in summaries if s.interval is not None]
            left = 1 - len(given) / len(rows)
            yield (
                f"{number}, {law}",
                _cover(naive, SHARE),
                _cover(given, SHARE) + (f", left open in {_percent(left)}" if left else ""),
                _cover([s.certain for s in summaries], SHARE),
            )


def _rounding() -> Iterator[Row]:
    for values, draw in VALUES.items():
        ratios = []
        for drift in DRIFTS.values():
            rng = np.random.default_rng(1)
            x = draw(rng, (1_000, 100))
            rounding = Rounding([2])
            rounding.update(x, x + 4e-4 * drift(rng, x))
            (row,) = rounding.read()
            ratios.append(row.changed / (row.expected_share * row.values))
        yield "changed printed values", values, *_ends(ratios)


def _flips() -> Iterator[Row]:
    for form, squash in (("logits", lambda z: z), ("softmax", softmax)):
        ratios = []
        for drift in DRIFTS.values():
            rng = np.random.default_rng(1)
            logits = 3 * rng.standard_normal((300_000, 5))
            moved = logits + 0.02 * drift(rng, logits)
            classes = Classes()
            classes.update(squash(logits), squash(moved), sample=0)
            summary = classes.read()
            ratios.append(summary.flip_share / (summary.expected_flip_share or np.nan))
        yield "class flips of five classes", form, *_ends(ratios)


def _read(row: np.ndarray) -> ClustersSummary:
    clusters = Clusters()
    for session, changed in enumerate(row.tolist()):
        clusters.update(session, changed, 100)
    return clusters.read()


def _tabulate(bound: Callable[[int], Ends], counts: np.ndarray) -> list[Ends]:
    known = {x: bound(x) for x in np.unique(counts).tolist()}
    return [known[x] for x in counts.tolist()]


def _cover(ends: Sequence[Ends], share: float) -> str:
    return _percent(sum(low <= share <= high for low, high in ends) / len(ends))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _ends(ratios: Sequence[float]) -> tuple[str, str]:
    return f"{min(ratios):.2f}", f"{max(ratios):.2f}"


if __name__ == "__main__":
    sys.exit(main())
