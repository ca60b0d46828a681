"""Why the draws of two runs part, as far as can be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detaudit.render.words import plural
from detaudit.seeding.events import Event

from .places import UNSEEN, is_import, name_place
from .seeds import has_default_seed, has_no_seed, is_seeding, reaches
from .told import Moment, Run

_MOST = 3


@dataclass(frozen=True, slots=True)
class Side:
    """The draws that one run made from one generator.

    Attributes:
        run: the run
        generator: name of the generator
        places: where in the trace of the run its draws are

    """

    run: Run
    generator: str
    places: Sequence[int]

    def show(self, place: int) -> Moment:
        """Draw at a place of the trace."""
        number, state = self.run.trace[place]
        event = self.run.told[number].event
        return Moment(event.what, event.file, event.line, event.function, state)

    def find(self, number: int) -> Moment | None:
        """Draw of a number, None if there are not so many."""
        return self.show(self.places[number]) if number < len(self.places) else None

    def find_end(self, same: int) -> int:
        """Draws of all generators that came before the draw of a number."""
        return self.places[same] if same < len(self.places) else len(self.run.trace)

    def list_before(self, same: int) -> list[Event]:
        """What happened before the draw of a number."""
        end = self.find_end(same)
        return [one.event for one in self.run.told if one.after <= end]

    def list_seeds(self, same: int) -> list[Event]:
        """Seedings of the generator before the draw of a number."""
        return [
            event
            for event in self.list_before(same)
            if is_seeding(event) and reaches(event, self.generator)
        ]

    def name_threads(self) -> set[str]:
        """Threads that drew from the generator."""
        events = (one.event for one in self.run.told)
        return {
            event.thread
            for event in events
            if event.kind == "draw" and event.generator == self.generator
        }


def find_reasons(one: Side, two: Side, same: int, folder: str) -> tuple[str, ...]:
    """Reasons in words, the most telling first.

    Args:
        one: the first run
        two: the other run
        same: draws that are the same in both, from the first on
        folder: files are named from there

    """
    left, right = one.find(same), two.find(same)
    reasons: list[str] = []
    if left is not None and right is not None and left.state != right.state:
        reasons += _explain_state(one, two, same, folder)
    if left is None or right is None or not left.is_at_place_of(right):
        reasons += _explain_way(one, two, same_state=not reasons)
    return (*reasons, *_name_unseeded(one.list_before(same), folder))


def _explain_state(one: Side, two: Side, same: int, folder: str) -> Iterator[str]:
    first, other = one.list_seeds(same), two.list_seeds(same)
    if not first and not other:
        yield f"{one.generator} was not seeded by then"
        return
    for a, b in zip(first, other, strict=False):
        where = name_place(a, folder) or UNSEEN
        if (a.what, a.file, a.line) != (b.what, b.file, b.line):
            there = name_place(b, folder) or UNSEEN
            yield (
                f"{one.generator} was seeded by {a.what} at {where} in run 1, "
                f"by {b.what} at {there} in the other"
            )
            return
        if a.seed is None:
            yield f"{one.generator} was seeded by {a.what} at {where}, which may differ in each run"
            return
    if len(first) != len(other):
        yield (
            f"{one.generator} was seeded at {plural(len(first), 'place')} by then in run 1, "
            f"at {len(other)} in the other"
        )
    elif same:
        yield "the draw before took more numbers in one of the runs, or some were drawn unseen"


def _explain_way(one: Side, two: Side, *, same_state: bool) -> Iterator[str]:
    threads = max(one.name_threads(), two.name_threads(), key=len)
    if len(threads) > 1:
        yield (
            f"{len(threads)} threads draw from {one.generator}, in an order that the system "
            "chooses: it can change from run to run though everything is seeded"
        )
        return
    hash_fixed = one.run.hash_fixed and two.run.hash_fixed
    if same_state:
        sets = "" if hash_fixed else ", or a set, as PYTHONHASHSEED is not set to a number"
        yield (
            f"the code took another way, which no seed decides: it may ask the time or a file{sets}"
        )
    elif not hash_fixed:
        yield "PYTHONHASHSEED is not set to a number: the order of a set differs from run to run"


def _name_unseeded(events: Sequence[Event], folder: str) -> Iterator[str]:
    """Generators of their own, which the draws of the global ones may hang on."""
    made = [
        event
        for event in events
        if has_no_seed(event) and not is_import(event) and not has_default_seed(event)
    ]
    for event in made[:_MOST]:
        yield f"{event.what} at {name_place(event, folder)} has no seed"
    if made[_MOST:]:
        yield f"nor is there one at {plural(len(made) - _MOST, 'more place')}"
