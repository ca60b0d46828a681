"""Where the draws of two runs part, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detaudit.seeding.events import Event

from .seeds import reaches
from .told import Comparison, Moment, Run, Step

_MOST = 3


def compare_runs(runs: Sequence[Run]) -> tuple[Comparison, ...]:
    """Compare the draws of every run with those of the first one, generator by generator.

    Args:
        runs: one or more

    Returns:
        nothing for a single run; generators in the order in which they were first drawn from

    """
    if len(runs) < 2:
        return ()
    sequences = [_sort(run) for run in runs]
    names = dict.fromkeys(name for found in sequences for name in found)
    return tuple(
        _compare(name, number, runs[0], run, sequences[0].get(name, []), found.get(name, []))
        for number, (run, found) in enumerate(zip(runs[1:], sequences[1:], strict=True), 2)
        for name in names
    )


def name_threads(run: Run, generator: str) -> tuple[str, ...]:
    """Names of the threads that drew from a generator."""
    drawn = (one.event for one in run.told if one.event.kind == "draw")
    return tuple(dict.fromkeys(one.thread for one in drawn if one.generator == generator))


@dataclass(frozen=True, slots=True)
class _Draw:
    """A draw, and how many of other generators too came before it."""

    step: Step
    before: int


@dataclass(frozen=True, slots=True)
class _Side:
    """A run up to the draw at which it parts from another one.

    Attributes:
        run: the run
        generator: generator that is compared
        until: draws of all generators by then

    """

    run: Run
    generator: str
    until: int

    def list_seeds(self) -> list[Event]:
        """Seedings of the generator."""
        return [event for event in self._list("seed", "reseed") if reaches(event, self.generator)]

    def name_unseeded(self) -> Iterator[str]:
        """Generators without a seed, which the draws of the watched ones may hang on."""
        made = self._list("unseeded-generator")
        for event in made[:_MOST]:
            yield f"made without a seed: {event.what} ({event.file}:{event.line})"
        if made[_MOST:]:
            yield f"and {len(made) - _MOST} more"

    def _list(self, *kinds: str) -> list[Event]:
        told = (one for one in self.run.told if one.after <= self.until)
        return [one.event for one in told if one.event.kind in kinds]


def _sort(run: Run) -> dict[str, list[_Draw]]:
    """Draws by their generator."""
    sorted_: dict[str, list[_Draw]] = {}
    for before, step in enumerate(run.trace):
        name = run.told[step[0]].event.generator
        sorted_.setdefault(name, []).append(_Draw(step, before))
    return sorted_


def _compare(
    generator: str, number: int, one: Run, two: Run, first: list[_Draw], other: list[_Draw]
) -> Comparison:
    same = 0
    for mine, theirs in zip(first, other, strict=False):
        if _show(one, mine) != _show(two, theirs):
            break
        same += 1
    if same == len(first) == len(other):
        return Comparison(generator, number, same)
    a, b = (draws[same] if same < len(draws) else None for draws in (first, other))
    left, right = (_show(run, draw) if draw else None for run, draw in ((one, a), (two, b)))
    before = a.before if a else len(one.trace)
    if left is None or right is None:
        kind = "length"
    else:
        kind = "state" if _is_same_place(left, right) else "place"
    until = (before, b.before if b else len(two.trace))
    sides = (_Side(one, generator, until[0]), _Side(two, generator, until[1]))
    because = tuple(_explain(kind, *sides, left, right, same))
    return Comparison(generator, number, same, kind, before, left, right, because)


def _show(run: Run, draw: _Draw) -> Moment:
    number, state = draw.step
    event = run.told[number].event
    return Moment(event.what, event.file, event.line, event.function, state)


def _is_same_place(one: Moment, two: Moment) -> bool:
    return (one.what, one.file, one.line) == (two.what, two.file, two.line)


def _explain(
    kind: str, one: _Side, two: _Side, left: Moment | None, right: Moment | None, same: int
) -> Iterator[str]:
    """What may have made the runs part, the most telling first."""
    differing = left is not None and right is not None and left.state != right.state
    if differing:
        yield from _explain_state(one, two, same)
    if kind != "state":
        yield from _explain_way(one, two, differing=differing)
    yield from one.name_unseeded()


def _explain_state(one: _Side, two: _Side, same: int) -> Iterator[str]:
    generator, seeds = one.generator, (one.list_seeds(), two.list_seeds())
    if not seeds[0] and not seeds[1]:
        yield f"{generator} was not seeded by then"
        return
    for a, b in zip(*seeds, strict=False):
        if (a.what, a.file, a.line) != (b.what, b.file, b.line):
            yield (
                f"{generator} was seeded by {a.what} ({a.file}:{a.line}) in the first run, "
                f"by {b.what} ({b.file}:{b.line}) in the other"
            )
            return
        if a.seed is None:
            yield f"{a.what} ({a.file}:{a.line}) need not be the same in every run"
            return
    if same:
        yield "the draw before it took more numbers in one run, or some were drawn unseen"


def _explain_way(one: _Side, two: _Side, *, differing: bool) -> Iterator[str]:
    threads = max(
        (name_threads(side.run, one.generator) for side in (one, two)), key=lambda names: len(names)
    )
    if len(threads) > 1:
        yield (
            f"{len(threads)} threads draw from {one.generator}, in an order that the system "
            "chooses: it may change from run to run though everything is seeded"
        )
        return
    if not differing:
        yield (
            "the code went another way: something that it asks differed, such as the time, a file "
            "or a generator of its own"
        )
    if not (one.run.hash_fixed and two.run.hash_fixed):
        yield (
            "PYTHONHASHSEED is not set to a number: the order of sets of texts changes from run "
            "to run"
        )
