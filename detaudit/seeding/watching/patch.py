"""Putting one function in the place of another, and putting it back."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any


@dataclass(frozen=True, slots=True)
class Target:
    """A function or descriptor that is to be replaced.

    Attributes:
        group: what it is replaced for, such as ``seeds`` or ``draws/torch``
        original: what is there
        wrapper: what takes its place
        owner: class that it is an attribute of; None where modules hold it, whichever they are
        name: attribute of the class

    """

    group: str
    original: Any
    wrapper: Any
    owner: type | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Spot:
    """An attribute of a class or module that holds a target."""

    target: Target
    owner: type | ModuleType
    name: str
    inherited: bool

    def put(self) -> None:
        """Put the wrapper in, unless something else is there by now."""
        if self._holds_original():
            _assign(self.owner, self.name, self.target.wrapper)

    def undo(self) -> bool:
        """Put the original back; False if somebody put something else there and it stays."""
        if vars(self.owner).get(self.name) is not self.target.wrapper:
            return self._holds_original()
        if self.inherited:
            delattr(self.owner, self.name)
        else:
            _assign(self.owner, self.name, self.target.original)
        return True

    def free(self) -> bool:
        """Put the original in the place of the wrapper inside of what somebody put over it.

        Returns:
            Whether torch did so itself, as its compiler does with ``torch.manual_seed``.

        """
        found: Any = vars(self.owner).get(self.name)
        for cell in getattr(found, "__closure__", None) or ():
            with suppress(ValueError):  # the cell is empty
                if cell.cell_contents is self.target.wrapper:
                    cell.cell_contents = self.target.original
        if getattr(found, "__wrapped__", None) is self.target.wrapper:
            found.__wrapped__ = self.target.original
        module = getattr(found, "__globals__", {}).get("__name__", "")
        return bool(f"{module}.".startswith("torch."))

    def _holds_original(self) -> bool:
        if self.inherited:
            return self.name not in vars(self.owner)
        return vars(self.owner).get(self.name) is self.target.original

    def __str__(self) -> str:
        """Name of the attribute."""
        return f"{self.owner.__name__}.{self.name}"


def find_spots(targets: Iterable[Target]) -> list[Spot]:
    """Every place that holds one of the targets; of modules, all their aliases."""
    targets = list(targets)
    spots = [
        Spot(one, one.owner, one.name, inherited=one.name not in vars(one.owner))
        for one in targets
        if one.owner is not None
    ]
    loose = {id(one.original): one for one in targets if one.owner is None}
    for module, name, found in _scan(loose):
        spots.append(Spot(loose[found], module, name, inherited=False))
    return spots


def replace_leftovers(targets: Iterable[Target]) -> None:
    """Put originals where modules hold wrappers: names that were imported in the meantime."""
    wrappers = {id(one.wrapper): one for one in targets if one.owner is None}
    for module, name, found in _scan(wrappers):
        _assign(module, name, wrappers[found].original)


def _scan(wanted: dict[int, Target]) -> Iterator[tuple[ModuleType, str, int]]:
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            for name, value in list(vars(module).items()):
                if id(value) in wanted:
                    yield module, name, id(value)


def _assign(owner: type | ModuleType, name: str, value: Any) -> None:
    if isinstance(owner, ModuleType):
        vars(owner)[name] = value  # some modules do more than that when an attribute is set
    else:
        setattr(owner, name, value)
