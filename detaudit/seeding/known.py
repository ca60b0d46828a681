"""Which global generators are known to have been seeded."""

from __future__ import annotations

DEVICES_TOO = frozenset({"torch", "cuda", "mps", "xpu"})

_known: set[str] = set()


def list_known() -> frozenset[str]:
    """Names of the generators, ``torch``, ``numpy``, ``python`` and the kinds of devices."""
    return frozenset(_known)


def add_known(names: frozenset[str]) -> None:
    """Take generators for seeded from now on."""
    _known.update(names)


def forget_known(names: frozenset[str]) -> None:
    """Take generators for unseeded from now on."""
    _known.difference_update(names)


def return_to_known(names: frozenset[str]) -> None:
    """Take these generators for seeded, and no other ones."""
    _known.clear()
    _known.update(names)
