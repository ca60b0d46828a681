"""What was done to the randomness of a process, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["seed", "reseed", "draw", "unseeded-generator", "flag"]
Frame = tuple[str, int, str]

_MEANINGS: dict[Kind, str] = {
    "seed": "seeded",
    "reseed": "reseeded",
    "draw": "drawn from",
    "unseeded-generator": "without a seed",
    "flag": "changed",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that decides what is drawn, and the place in the code that did it.

    Attributes:
        kind: ``seed`` (first seeding that is known of), ``reseed``, ``draw``,
            ``unseeded-generator`` or ``flag``
        generator: ``torch``, ``numpy``, ``python``, ``cuda``, ``mps``, ``xpu``; ``all`` for
            ``set_seeds``; name of the flag, as in ``get_seeds_state``, for the kind ``flag``
        what: the call, such as ``torch.manual_seed(3)``, or the change of a flag
        seed: seed that was given, None if there was none
        file: file of the innermost frame outside torch, NumPy, ``random`` and this package;
            empty if the place was not seen
        line: line in that file, 0 if the place was not seen
        function: function that the line belongs to
        stack: file, line and function of the frames above, innermost first
        thread: name of the thread
        count: how often this very place did this

    """

    kind: Kind
    generator: str
    what: str
    seed: int | str | None
    file: str
    line: int
    function: str
    stack: tuple[Frame, ...]
    thread: str
    count: int = 1

    def __str__(self) -> str:
        """One line: what happened, how often, where, and the outermost line that led to it."""
        text = f"{self.generator} {_MEANINGS[self.kind]}: {self.what}"
        if self.count > 1:
            text += f" ({self.count} times)"
        if self.file:
            text += f" at {self.file}:{self.line} in {self.function}"
        if self.stack:
            file, line, _ = self.stack[-1]
            text += f", called from {file}:{line}"
        if self.thread != "MainThread":
            text += f", thread {self.thread}"
        return text


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw from a global generator.

    Attributes:
        generator: as in ``Event``
        what: the call, such as ``torch.rand``
        state: eight hexadecimal digits that tell states of the generator before the draw apart;
            empty if the state cannot be read
        file: file of the innermost frame outside the libraries
        line: line in that file
        function: function that the line belongs to

    """

    generator: str
    what: str
    state: str
    file: str
    line: int
    function: str
