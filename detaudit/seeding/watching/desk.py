"""Where every wrapped call reports, and where it is handed to the watches that are open."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ..events import Kind
from ..flags import read_flags
from ..known import add_known, list_known
from .place import Place, is_own, locate
from .record import Watch
from .saved import Saved
from .states import WORDS, Twister, compare, digest, is_numpy_seeded, read_twisters

NOWHERE = Place("", 0, "", (), "MainThread")


@dataclass(frozen=True, slots=True)
class Call:
    """A wrapped call that is about to be made."""

    label: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    frame: FrameType

    @property
    def is_own(self) -> bool:
        """Whether this package makes it."""
        return is_own(self.frame)

    def locate(self) -> Place:
        """Where it is made."""
        return locate(self.frame)

    def get(self, index: int, name: str) -> Any:
        """Argument by position or name, None if it was not given."""
        return self.args[index] if len(self.args) > index else self.kwargs.get(name)


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was last known of the generators, and after which line."""

    place: Place | None
    torch_seed: int | None
    numpy_seeded: bool
    twisters: dict[str, Twister]


def _do_nothing() -> None:
    pass


class _Local(threading.local):
    busy = False


class Desk:
    """The open watches, and what is known of the process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.local = _Local()
        self.watches: tuple[Watch, ...] = ()
        self.refresh: Callable[[], None] = _do_nothing
        self._baseline = Baseline(None, None, True, {})
        self._flags: dict[str, Any] = {}
        self._flags_place: Place | None = None
        self._attended = 0
        self.saved = Saved()

    @contextmanager
    def attend(self) -> Iterator[None]:
        """Context of one wrapped call; what this thread calls inside is not reported."""
        with self.lock:
            self._attended += 1
        self.local.busy = True
        try:
            yield
        finally:
            self.local.busy = False
            with self.lock:
                self._attended -= 1

    def forget(self) -> None:
        """Begin anew, as a forked child must: its parent's watches cannot hear of it."""
        self.__init__()  # type: ignore[misc]

    def note(self, text: str) -> None:
        """Tell every watch a sentence."""
        for watch in self.watches:
            watch.add_note(text)

    def report(
        self,
        kind: Kind,
        generator: str,
        what: str,
        place: Place,
        seed: int | str | None = None,
    ) -> None:
        """Tell every watch of an event."""
        for watch in self.watches:
            watch.add(kind, generator, what, place, seed)

    def report_seed(
        self,
        generator: str,
        reached: frozenset[str],
        known: frozenset[str],
        what: str,
        seed: int | str | None,
        place: Place,
    ) -> None:
        """Tell every watch of a seeding, and remember what it reached.

        Args:
            generator: What events are to call the generator.
            reached: Generators that were seeded.
            known: Generators that were known to be seeded before.
            what: The call.
            seed: Its seed.
            place: Where.

        """
        self.report("reseed" if reached & known else "seed", generator, what, place, seed)
        add_known(reached)

    def report_draw(self, generator: str, what: str, place: Place, state: bytes) -> None:
        """Tell every watch of a draw."""
        digits = digest(state) if any(watch.draws for watch in self.watches) else ""
        known = generator in list_known()
        for watch in self.watches:
            watch.add_draw(generator, what, place, digits, known=known)
        if not self.wants_draws(generator):
            self.refresh()

    def wants_draws(self, generator: str) -> bool:
        """Whether a watch would record another draw from a generator."""
        known = generator in list_known()
        return any(one.wants_draws(generator, known=known) for one in self.watches)

    def settle(self, place: Place | None) -> None:
        """Take generators and flags as they are, and remember the line that left them so."""
        self._baseline = Baseline(place, _read_torch_seed(), is_numpy_seeded(), read_twisters())
        self._flags, self._flags_place = _read_flags(), place

    def compare_flags(self, place: Place | None, *, silent: bool = False) -> None:
        """Report flags that differ from what was known, and take them as they are.

        Args:
            place: The line that changed them, None if nobody saw it.
            silent: Whether to report nothing.

        """
        if place is None and self._attended > 1:  # what another call is about to report
            return
        before, self._flags = self._flags, _read_flags()
        when = _say_when(self._flags_place)
        for name, value in self._flags.items():
            if not silent and name in before and value != before[name]:
                what = f"{name}: {before[name]} -> {value}"
                what += "" if place else f", by something that was not seen, {when}"
                self.report("flag", name, what, place or NOWHERE)
        self._flags_place = place or self._flags_place

    def sweep(self, blocks: int, *, last: bool = False) -> None:
        """Report what has changed since the last seen call without a call that was seen.

        Args:
            blocks: How far to follow the generators, in blocks of 624 numbers.
            last: Whether to note generators that could not be followed.

        """
        if self._attended > 1:  # what another call is about to report
            return
        self.compare_flags(None)
        told = self.notice_seeds()
        base, now = self._baseline, read_twisters()
        when = f"by something that was not seen, {_say_when(base.place)}"
        for name, before in base.twisters.items():
            known = name in told or name not in now
            step = "same" if known else compare(before, now[name], blocks)
            if step == "behind":
                self._report_unseen(name, f"state went back, {when}", None)
            elif step == "unknown" and last and name != "torch":
                self.note(f"{name} drew more than {blocks * WORDS} numbers, or was reseeded {when}")

    def notice_seeds(self) -> frozenset[str]:
        """Report seeds that no call was seen to set, where a glance can tell.

        Returns:
            Names of their generators.

        """
        if self._attended > 1:  # what another call is about to report
            return frozenset()
        base, seed, seeded = self._baseline, _read_torch_seed(), is_numpy_seeded()
        when = f"by something that was not seen, {_say_when(base.place)}"
        told = set()
        if base.torch_seed not in (None, seed):
            self._report_unseen("torch", f"seed became {seed}, {when}", seed)
            told.add("torch")
        if seeded and not base.numpy_seeded:
            self._report_unseen("numpy", f"state was set, {when}", None)
            told.add("numpy")
        twisters = read_twisters() if told else base.twisters
        self._baseline = Baseline(base.place, seed, seeded, twisters)
        return frozenset(told)

    def _report_unseen(self, generator: str, what: str, seed: int | None) -> None:
        self.report_seed(generator, frozenset({generator}), list_known(), what, seed, NOWHERE)


def _say_when(place: Place | None) -> str:
    return f"after {place}" if place is not None else "after the watch began"


def _find_torch() -> Any:
    """Torch if its import has come to an end."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "get_default_dtype") else None


def _read_flags() -> dict[str, Any]:
    return read_flags(_find_torch())


def _read_torch_seed() -> int | None:
    torch = _find_torch()
    return None if torch is None else int(torch.initial_seed())


desk = Desk()
