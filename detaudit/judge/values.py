"""The values themselves, run by run, where there are few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from detaudit.judge.grid import Grid
from detaudit.judge.labels import Axis
from detaudit.record import array_key
from detaudit.rows import Value

_MOST = 32


def judge_values(
    grid: Grid, output: int, labels: Axis | None, arrays: Mapping[str, np.ndarray]
) -> Iterator[Value]:
    """Rows of a small numeric output on the first sample, one per run and value.

    Args:
        grid: runs of the target
        output: number of the output
        labels: its named axis
        arrays: arrays of the record

    """
    facts = grid.target.outputs[output]
    seen = next(iter(grid.outcomes(output)), None)
    if seen is None or seen.sample != 0:
        return
    first = arrays[array_key(grid.number, 0, output, 0)]
    if not 0 < first.size <= _MOST or first.dtype.kind not in "fiub":
        return
    kept = {n: arrays[array_key(grid.number, 0, output, n)] for n in seen.kept}
    processes, sessions, _, runs, _ = grid.outcome.shape
    for process, session, run in np.ndindex(processes, sessions, runs):
        array = kept.get(int(grid.outcome[process, session, 0, run, output]))
        if array is None or array.shape != first.shape:
            continue
        for index in np.ndindex(array.shape):
            yield Value(
                target=grid.name,
                output=facts.path,
                label=_name(index, array.shape, labels),
                sample=0,
                process=process,
                session=session,
                run=run,
                value=array[index].item(),
            )


def _name(index: tuple[int, ...], shape: tuple[int, ...], labels: Axis | None) -> str:
    """Label of a value, with its place where the label alone does not tell it."""
    if labels is None:
        return ",".join(str(i) for i in index)
    axis = labels.axis % len(shape)
    others = [str(i) for place, i in enumerate(index) if place != axis and shape[place] > 1]
    label = labels.names[index[axis]]
    return f"{label} [{','.join(others)}]" if others else label
