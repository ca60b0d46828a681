"""The wrappers that are in place."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from .compilers import forget, introduce
from .patch import Spot, Target, find_spots, replace_leftovers


class Installation:
    """Wrappers by group; a group can be taken out and put in again."""

    def __init__(self) -> None:
        self._targets: list[Target] = []
        self._spots: dict[str, list[Spot]] = {}
        self._out: set[str] = set()

    def add(self, targets: Iterable[Target]) -> None:
        """Wrap functions wherever modules hold them."""
        # Several modules may offer the same function.
        targets = list({(id(one.original), one.owner, one.name): one for one in targets}.values())
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "jit"):
            introduce(torch, targets)
        self._targets += targets
        for spot in find_spots(targets):
            self._spots.setdefault(spot.target.group, []).append(spot)
            if spot.target.group not in self._out:
                spot.put()

    def switch(self, group: str, *, on: bool) -> None:
        """Put the wrappers of a group in place, or take them out."""
        if on and group in self._out:
            self._out.remove(group)
            for spot in self._spots.get(group, ()):
                spot.put()
        elif not on and group not in self._out:
            self._out.add(group)
            for spot in self._spots.get(group, ()):
                spot.undo()

    def remove(self) -> list[str]:
        """Put every original back.

        Returns:
            Names of attributes that somebody else changed in the meantime, and that stay so.

        """
        kept = [
            str(spot)
            for group, spots in self._spots.items()
            for spot in spots
            if not spot.undo() and not spot.free()
        ]
        replace_leftovers(self._targets)
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "jit"):
            forget(torch, self._targets)
        return kept
