"""What a watch has seen."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace

from ..events import Draw, Event, Kind
from .place import Place

EARLY = 2  # draws of a generator before it is seeded that are reported
LONGEST_TRACE = 1_000_000


class Watch:
    """What happened to the randomness of this process; can be read at any time.

    Attributes:
        draws: whether every draw is recorded

    """

    def __init__(self, *, draws: bool = False) -> None:
        self.draws = draws
        self._lock = threading.Lock()
        self._counts: Counter[Event] = Counter()
        self._early: Counter[Event] = Counter()
        self._early_of: Counter[str] = Counter()
        self._trace: list[Draw] = []
        self._notes: dict[str, None] = {}

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that was seen, in the order in which it was seen first."""
        return self._read(self._counts)

    @property
    def seeds(self) -> tuple[Event, ...]:
        """First seeding of every generator that was not known to be seeded."""
        return self._select("seed")

    @property
    def reseeds(self) -> tuple[Event, ...]:
        """Seedings of generators that had been seeded."""
        return self._select("reseed")

    @property
    def early_draws(self) -> tuple[Event, ...]:
        """First draws from generators that were not known to be seeded."""
        return self._read(self._early)

    @property
    def unseeded(self) -> tuple[Event, ...]:
        """Generators that were made, or used, without a seed."""
        return self._select("unseeded-generator")

    @property
    def flags(self) -> tuple[Event, ...]:
        """Changes of flags."""
        return self._select("flag")

    @property
    def trace(self) -> tuple[Draw, ...]:
        """Every draw in order; empty without ``draws=True``."""
        with self._lock:
            return tuple(self._trace)

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be seen or put back, one sentence each."""
        with self._lock:
            return tuple(self._notes)

    def report(self) -> str:
        """One line per event, then the notes."""
        early = {replace(event, count=1) for event in self.early_draws}
        lines = [
            f"{event}, before a seed was seen" if replace(event, count=1) in early else str(event)
            for event in self.events
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def __str__(self) -> str:
        """Same as ``report``."""
        return self.report()

    def wants_draws(self, generator: str, *, known: bool) -> bool:
        """Whether another draw from a generator would be recorded."""
        return self.draws or (not known and self._early_of[generator] < EARLY)

    def add(
        self, kind: Kind, generator: str, what: str, place: Place, seed: int | str | None = None
    ) -> None:
        """Record an event other than a draw."""
        with self._lock:
            self._counts[_make_event(kind, generator, what, place, seed)] += 1

    def add_draw(self, generator: str, what: str, place: Place, state: str, *, known: bool) -> None:
        """Record a draw.

        Args:
            generator: Name of the generator.
            what: Call that drew.
            place: Where.
            state: Digits of the state before the draw.
            known: Whether the generator is known to be seeded.

        """
        event = _make_event("draw", generator, what, place, None)
        with self._lock:
            if self.draws:
                self._extend_trace(
                    Draw(generator, what, state, place.file, place.line, place.function)
                )
            early = not known and self._early_of[generator] < EARLY
            if early:
                self._early[event] += 1
                self._early_of[generator] += 1
            if early or self.draws:
                self._counts[event] += 1

    def add_note(self, note: str) -> None:
        """Record a sentence, once."""
        with self._lock:
            self._notes[note] = None

    def _extend_trace(self, draw: Draw) -> None:
        if len(self._trace) < LONGEST_TRACE:
            self._trace.append(draw)
        else:
            self._notes[f"the trace ends after {LONGEST_TRACE} draws"] = None

    def _read(self, counts: Counter[Event]) -> tuple[Event, ...]:
        with self._lock:
            return tuple(replace(event, count=count) for event, count in counts.items())

    def _select(self, kind: Kind) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.kind == kind)


def _make_event(
    kind: Kind, generator: str, what: str, place: Place, seed: int | str | None
) -> Event:
    return Event(
        kind,
        generator,
        what,
        seed,
        place.file,
        place.line,
        place.function,
        place.stack,
        place.thread,
    )
