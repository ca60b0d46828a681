"""Runs made by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from detaudit.seeding.events import Event
from detaudit.story.told import End, Run, Step, Story, Told

FOLDER = "/home/me"


def seed(generator: str, seed: int | None, line: int, kind: str = "seed", **more: object) -> Event:
    """Seeding by ``generator.seed(seed)``, in ``train.py``."""
    what = f"{generator}.seed({'' if seed is None else seed})"
    return make_event(kind, generator, what, line, seed=seed, **more)


def draw(generator: str, line: int, state: str = "0", **more: object) -> tuple[Event, str]:
    """Draw by ``generator.rand``, in ``train.py``, and the state before it."""
    return make_event("draw", generator, f"{generator}.rand", line, **more), state


def early(generator: str, line: int, state: str = "0") -> tuple[Event, str, bool]:
    """Draw before a seed."""
    return (*draw(generator, line, state), True)


def unseeded(line: int, **more: object) -> Event:
    """Making of NumPy's own generator without a seed."""
    return make_event("unseeded-generator", "numpy", "numpy.random.default_rng()", line, **more)


def make_event(kind: str, generator: str, what: str, line: int, **more: object) -> Event:
    """Event in ``train.py``, at top level."""
    given = {
        "seed": None,
        "file": f"{FOLDER}/train.py",
        "function": "<module>",
        "stack": (),
        "thread": "MainThread",
        **more,
    }
    return Event(kind=kind, generator=generator, what=what, line=line, **given)  # type: ignore[arg-type]


def make_run(
    *happened: Event | tuple[Event, str] | tuple[Event, str, bool],
    end: End | None = None,
    hash_fixed: bool = True,
    processes: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Run:
    """Run in which this happened, in this order."""
    numbers: dict[tuple[Event, bool], int] = {}
    after: list[int] = []
    counts: Counter[int] = Counter()
    trace: list[Step] = []
    for one in happened:
        event, *rest = one if isinstance(one, tuple) else (one,)
        key = (event, len(rest) > 1)
        if key not in numbers:
            numbers[key] = len(numbers)
            after.append(len(trace))
        counts[numbers[key]] += 1
        if rest:
            trace.append((numbers[key], str(rest[0])))
    return Run(
        end or End(0),
        versions=(("python", "3.12.1"), ("numpy", "2.4.6")),
        hash_fixed=hash_fixed,
        told=tuple(
            Told(replace(event, count=counts[number]), after[number], is_early)
            for (event, is_early), number in numbers.items()
        ),
        processes=processes,
        notes=notes,
        trace=tuple(trace),
    )


def make_story(*runs: Run) -> Story:
    """Story of ``train.py``."""
    from detaudit.story.parting import compare_runs

    return Story(("train.py", "--epochs", "3"), FOLDER, runs, compare_runs(runs, FOLDER))
