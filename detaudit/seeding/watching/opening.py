"""Opening and closing watches, and with the first and last one the wrappers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ..known import DEVICES_TOO, add_known
from .arrival import Arrival
from .desk import desk
from .dispatch import Listener
from .draws import GROUPS, list_python_draws, list_torch_draws
from .flags import list_environment, list_torch_flags
from .installation import Installation
from .record import Watch
from .seeds import list_python_seeds, list_torch_seeds
from .states import is_numpy_seeded
from .unseeded import list_makers

_LARGEST_USUAL_SEED = 2**32 - 1
_LAST_BLOCKS = 2048  # more than a million numbers, in some milliseconds


@contextmanager
def watch(*, draws: bool = False) -> Iterator[Watch]:
    """Context that reports what happens to the randomness of this process, with file and line.

    Reports seedings of global generators, the first draws before them, generators that are made
    without a seed, and changes of flags. What it wraps for that is put back when the last watch
    ends; watches nest, may end in any order, and hear of all threads, but not of other processes.

    Args:
        draws: Whether to record every draw, and not only the first ones before a seed.

    Yields:
        What has been seen so far.

    Examples:
        >>> import random
        >>> with watch() as seen:
        ...     random.seed(3)
        ...     random.seed(3)
        >>> [(event.what, event.line) for event in seen.events]
        [('random.seed(3)', 2), ('random.seed(3)', 3)]

    """
    seen = Watch(draws=draws)
    _post.open(seen)
    try:
        yield seen
    finally:
        _post.close(seen)


class _Post:
    """Wrappers, import hook and listener, as long as a watch is open."""

    def __init__(self) -> None:
        self._installation = Installation()
        self._arrival = Arrival(self._welcome)
        self._listener: Listener | None = None
        self._torch: ModuleType | None = None
        self._forks = False

    def open(self, seen: Watch) -> None:
        with desk.lock:
            if desk.watches:
                desk.sweep(_LAST_BLOCKS)
            else:
                self._install()
            desk.watches += (seen,)
            desk.settle(None)
            self._refresh()

    def close(self, seen: Watch) -> None:
        with desk.lock:
            if seen not in desk.watches:  # the parent's, in a forked child
                return
            desk.sweep(_LAST_BLOCKS, last=True)
            if len(desk.watches) == 1:
                self._remove()
            desk.watches = tuple(one for one in desk.watches if one is not seen)
            desk.settle(None)
            self._refresh()

    def _install(self) -> None:
        if not self._forks and hasattr(os, "register_at_fork"):
            self._forks = True
            os.register_at_fork(after_in_child=desk.forget)
        desk.refresh = self._refresh
        if is_numpy_seeded():
            add_known(frozenset({"numpy"}))
        self._installation = Installation()
        targets = [*list_python_seeds(), *list_python_draws(), *list_makers(), *list_environment()]
        torch = sys.modules.get("torch")
        if torch is not None:
            targets += self._take(torch)
        else:
            sys.meta_path.insert(0, self._arrival)
        self._installation.add(targets)

    def _remove(self) -> None:
        if self._arrival in sys.meta_path:
            sys.meta_path.remove(self._arrival)
        for name in self._installation.remove():
            desk.note(f"{name} was replaced by something else in the meantime and stays so")
        self._torch = None

    def _welcome(self, torch: ModuleType) -> None:
        with desk.lock:
            if desk.watches and self._torch is None:
                self._installation.add(self._take(torch))
                desk.settle(None)
                self._refresh()

    def _take(self, torch: Any) -> list[Any]:
        self._torch = torch
        # Unless somebody seeds it, torch begins with a random seed of 53 or 64 bits.
        if torch.initial_seed() <= _LARGEST_USUAL_SEED:
            add_known(DEVICES_TOO)
        return [*list_torch_seeds(torch), *list_torch_draws(torch), *list_torch_flags(torch)]

    def _refresh(self) -> None:
        for group in GROUPS:
            self._installation.switch(group, on=desk.wants_draws(group.rpartition("/")[2]))
        self._listen(any(one.draws for one in desk.watches))

    def _listen(self, wanted: bool) -> None:
        if wanted and self._listener is None and self._torch is not None:
            self._listener = Listener(self._torch)
        elif not wanted and self._listener is not None:
            if not self._listener.close():
                desk.note("torch still listens to operators: it was left in another order")
            self._listener = None


_post = _Post()
