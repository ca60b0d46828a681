"""Where the draws of two runs part."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from .reasons import Side, find_reasons
from .told import Comparison, Moment, Run


def compare_runs(runs: Sequence[Run], folder: str) -> tuple[Comparison, ...]:
    """Compare the draws of every run with those of the first one, generator by generator.

    Threads may share a generator, so that the order in which different generators were drawn
    from says nothing.

    Args:
        runs: one or more
        folder: files are named from there

    Returns:
        nothing for a single run; generators in the order in which they were first drawn from

    """
    drawn = [_sort(run) for run in runs]
    names = dict.fromkeys(name for places in drawn for name in places)
    return tuple(
        _compare(
            number,
            Side(runs[0], name, drawn[0].get(name, ())),
            Side(runs[number - 1], name, drawn[number - 1].get(name, ())),
            folder,
        )
        for number in range(2, len(runs) + 1)
        for name in names
    )


def _sort(run: Run) -> dict[str, list[int]]:
    """Places in the trace by their generator."""
    places: dict[str, list[int]] = {}
    for place, (number, _) in enumerate(run.trace):
        places.setdefault(run.told[number].event.generator, []).append(place)
    return places


def _compare(number: int, one: Side, two: Side, folder: str) -> Comparison:
    same = _count_same(one, two, one.places, two.places)
    if same == len(one.places) == len(two.places):
        return Comparison(one.generator, number, same)
    left, right = one.find(same), two.find(same)
    return Comparison(
        one.generator,
        number,
        same,
        again=_count_same(one, two, one.places[same:][::-1], two.places[same:][::-1]),
        kind=_name_kind(left, right),
        before=one.find_end(same),
        first=left,
        other=right,
        because=find_reasons(one, two, same, folder),
    )


def _count_same(one: Side, two: Side, mine: Sequence[int], theirs: Sequence[int]) -> int:
    """Draws that are the same, from the first on; a million of them take no memory."""
    pairs = zip(map(one.show, mine), map(two.show, theirs), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _name_kind(left: Moment | None, right: Moment | None) -> str:
    if left is None or right is None:
        return "length"
    return "state" if left.is_at_place_of(right) else "place"
