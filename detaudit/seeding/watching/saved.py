"""States of generators that were saved before anybody had seeded them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

_MOST = 1_000


class Saved:
    """What was saved last, to be known again when it is put back."""

    def __init__(self) -> None:
        self._digests: dict[bytes, None] = {}

    def add(self, states: Mapping[str, bytes]) -> None:
        """Remember states, by the name of their generator."""
        for name, state in states.items():
            self._digests[_digest(name, state)] = None
        while len(self._digests) > _MOST:
            del self._digests[next(iter(self._digests))]

    def find(self, states: Mapping[str, bytes]) -> frozenset[str]:
        """Names of the generators that are in a state that was remembered."""
        return frozenset(
            name for name, state in states.items() if _digest(name, state) in self._digests
        )


def _digest(name: str, state: bytes) -> bytes:
    return hashlib.blake2b(state, digest_size=8, person=name.encode()).digest()
