"""What the runs of a script told, as values."""

from __future__ import annotations

from dataclasses import dataclass, field

from detaudit.seeding.events import Event

Step = tuple[int, str]
"""A draw: number of its event in the run, and digits of the generator's state before it."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something that happened at one place, in the order in which it happened there first.

    Attributes:
        event: what and where; its ``count`` says how often
        after: draws of all generators that came before it
        early: for draws, whether they came before a seed of their generator was seen

    """

    event: Event
    after: int = 0
    early: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """How a script ended.

    Attributes:
        code: its exit code, minus the number of the signal that killed it
        complete: whether the process shut down in order, so that nothing is missing
        raised: the exception that ended it, empty if there was none
        cut: why it could not be followed to its end, empty if it could

    """

    code: int
    complete: bool = True
    raised: str = ""
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the script in a fresh process.

    Attributes:
        end: how it ended
        versions: of Python, NumPy and torch
        hash_fixed: whether the order of sets of texts is the same in every process
        told: what happened
        processes: how the script started other processes that were not watched, such as ``fork``
        notes: what could not be watched, one sentence each
        trace: the draws in order, the first million of them

    """

    end: End
    versions: tuple[tuple[str, str], ...] = ()
    hash_fixed: bool = False
    told: tuple[Told, ...] = ()
    processes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    trace: tuple[Step, ...] = field(default=(), repr=False, metadata={"plain": False})


@dataclass(frozen=True, slots=True)
class Moment:
    """A draw of one run where two runs part.

    Attributes:
        what: the call
        file: file of the innermost frame outside the libraries
        line: line in that file
        function: function that the line belongs to
        state: digits of the generator's state before the draw, empty if it cannot be read

    """

    what: str
    file: str
    line: int
    function: str
    state: str

    def is_at_place_of(self, other: Moment) -> bool:
        """Whether the same line made the same call."""
        return (self.what, self.file, self.line) == (other.what, other.file, other.line)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Draws of one generator in the first run and in another one.

    Attributes:
        generator: name of the generator
        run: number of the other run, from 2
        same: draws, from the first on, that have the same place and state in both
        again: draws at the end that are the same in both after they parted
        kind: ``""`` if all are the same, else what differs first: ``state``, ``place``, or
            ``length`` if one of the runs has no further draw
        before: draws of all generators that the first run had made by then
        first: the draw of the first run that differs, None if it has none
        other: the draw of the other run
        because: why, as far as can be told, the most telling first

    """

    generator: str
    run: int
    same: int
    again: int = 0
    kind: str = ""
    before: int = 0
    first: Moment | None = None
    other: Moment | None = None
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """The runs of a script, and where they part.

    Attributes:
        command: the script, or ``-m`` and the module, and its arguments
        folder: where it was run
        runs: one or more
        comparisons: one per generator and run after the first
        interrupted: whether the runs were ended from outside, by Ctrl-C for one

    """

    command: tuple[str, ...]
    folder: str
    runs: tuple[Run, ...]
    comparisons: tuple[Comparison, ...] = ()
    interrupted: bool = False

    @property
    def parted(self) -> Comparison | None:
        """Where runs part first, None if they do not."""
        parted = [one for one in self.comparisons if one.kind]
        return min(parted, key=lambda one: one.before, default=None)
