"""Letters for classes of targets."""

from __future__ import annotations

from detaudit.comparison import Level

VARIES = "varies"
"""Stands where a target does not even agree with itself."""


def name_class(level: Level, target: str) -> str:
    """Letter of a target's class: A to Z, then AA and so on.

    Args:
        level: the classes
        target: a target that ran to its end

    Examples:
        >>> level = Level(None, (("a",), ("b", "c")), ("d",))
        >>> [name_class(level, target) for target in "abcd"]
        ['A', 'B', 'B', 'varies']

    """
    place = level.place(target)
    if place is None:
        return VARIES
    letters = ""
    while place >= 0:
        place, last = divmod(place, 26)
        letters = chr(ord("A") + last) + letters
        place -= 1
    return letters
