"""What was drawn without a seed, and which seeds came again."""

from __future__ import annotations

from collections.abc import Iterator

from detaudit.seeding.events import Event

from .places import is_import
from .told import Run, Told

_TOGETHER = frozenset({"torch", "cuda", "mps", "xpu"})
"""Generators that one call of torch seeds together."""


def reaches(event: Event, generator: str) -> bool:
    """Whether seeding as an event did seeds a generator.

    Args:
        event: of the kind ``seed`` or ``reseed``
        generator: name of the generator

    """
    if event.generator in ("all", generator):
        return True
    return event.generator == "torch" and generator in _TOGETHER


def is_seeding(event: Event) -> bool:
    """Whether an event seeds a global generator."""
    return event.kind in ("seed", "reseed")


def is_entropy(event: Event) -> bool:
    """Whether a generator was seeded with what the system gave, which never comes again."""
    return is_seeding(event) and event.seed is None and event.what.endswith("()")


def is_ever_seeded(run: Run, generator: str) -> bool:
    """Whether a generator was seeded at any time."""
    return any(is_seeding(one.event) and reaches(one.event, generator) for one in run.told)


def is_seeded_before(run: Run, draw: Told) -> bool:
    """Whether a generator was seeded before an early draw, and then put back to before that."""
    return any(reaches(one.event, draw.event.generator) for one in _until(run, draw))


def list_early(run: Run) -> tuple[Told, ...]:
    """Draws from a state that no seed had set."""
    return tuple(one for one in run.told if one.early)


def list_unseeded(run: Run) -> tuple[Event, ...]:
    """Generators that were made without a seed, and seedings from the system's entropy.

    Those that a library makes for itself while it is imported are left out.
    """
    return tuple(
        one.event for one in run.told if has_no_seed(one.event) and not is_import(one.event)
    )


def has_no_seed(event: Event) -> bool:
    """Whether an event leaves a generator without a seed that comes again."""
    return event.kind == "unseeded-generator" or is_entropy(event)


def has_default_seed(event: Event) -> bool:
    """Whether a generator was made without a seed that begins the same way everywhere."""
    return event.kind == "unseeded-generator" and event.generator == "torch"


def is_unseeded(run: Run) -> bool:
    """Whether anything was drawn, or can have been, that no seed decides."""
    return bool(list_early(run) or list_unseeded(run))


def find_seed_before(run: Run, reseed: Told) -> int | str | None:
    """Seed that the generators had which an event seeded anew.

    Args:
        run: the run
        reseed: an event of the run

    Returns:
        None if it is not known

    """
    before = _find_before(run, reseed)
    return None if before is None else before.event.seed


def is_without_effect(run: Run, reseed: Told) -> bool:
    """Whether a seed was set twice in a row, with nothing drawn in between.

    Many a function seeds all generators of torch and then those of a device once more.
    """
    before = _find_before(run, reseed)
    return (
        before is not None
        and before.event.seed == reseed.event.seed is not None
        and before.event.count == reseed.event.count == 1
        and before.after == reseed.after
    )


def _find_before(run: Run, reseed: Told) -> Told | None:
    before: Told | None = None
    for one in _until(run, reseed):
        if reseed.event.generator == "all" or reaches(one.event, reseed.event.generator):
            before = one
    return before


def _until(run: Run, last: Told) -> Iterator[Told]:
    for one in run.told:
        if one is last:
            return
        if is_seeding(one.event):
            yield one
