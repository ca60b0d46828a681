"""How long calls took."""

from __future__ import annotations

import numpy as np

from detaudit.judge.grid import Grid
from detaudit.rows import Latency


def judge_latency(grid: Grid) -> Latency:
    """Row of a target.

    The first call of every session is told apart: it often pays for memory and for plans.

    Args:
        grid: runs of the target

    """
    first = grid.seconds[:, :, 0, 0]
    later = np.delete(grid.seconds.reshape(*grid.seconds.shape[:2], -1), 0, axis=2).ravel()
    if not later.size:
        later = first.ravel()
    sessions = [seconds for p in grid.target.processes for seconds in p.sessions]
    return Latency(
        target=grid.name,
        calls=grid.seconds.size,
        session_seconds=float(np.median(sessions)),
        first_seconds=float(np.median(first)),
        median_seconds=float(np.median(later)),
        p90_seconds=float(np.quantile(later, 0.9)),
    )
