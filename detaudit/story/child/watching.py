"""A watch that remembers nothing and tells everything at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from detaudit.seeding.events import Kind
from detaudit.seeding.watching import Watch, watch
from detaudit.seeding.watching.desk import desk
from detaudit.seeding.watching.place import Place

from .log import Log
from .script import is_own


class Teller(Watch):
    """A watch that writes what it is told, since a process that crashes cannot be asked."""

    def __init__(self, log: Log) -> None:
        super().__init__(draws=True)
        self._log = log

    def add(
        self, kind: Kind, generator: str, what: str, place: Place, seed: int | str | None = None
    ) -> None:
        """Write an event other than a draw."""
        self._log.tell_event(_make_event(kind, generator, what, place, seed), known=True)

    def add_draw(self, generator: str, what: str, place: Place, state: str, *, known: bool) -> None:
        """Write a draw."""
        event = _make_event("draw", generator, what, place, None)
        self._log.tell_event(event, state, known=known)

    def add_note(self, note: str) -> None:
        """Write a sentence."""
        self._log.tell(note=note)


def start_watch(log: Log) -> Callable[[], None]:
    """Watch from now on.

    Args:
        log: where to tell what is seen

    Returns:
        function that ends the watch

    """
    context = watch()
    context.__enter__()
    with desk.lock:
        desk.watches += (Teller(log),)
        desk.refresh()

    def finish() -> None:
        context.__exit__(None, None, None)

    return finish


def _make_event(
    kind: Kind, generator: str, what: str, place: Place, seed: int | str | None
) -> dict[str, Any]:
    return {
        "kind": kind,
        "generator": generator,
        "what": what,
        "seed": seed,
        "file": place.file,
        "line": place.line,
        "function": place.function,
        # Below the script there are the frames that started it.
        "stack": tuple(frame for frame in place.stack if not is_own(frame[0])),
        "thread": place.thread,
    }
