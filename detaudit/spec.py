"""What is asked of an audit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from detaudit.errors import UsageError
from detaudit.target import Target

SCOPES = ("run", "session", "process")
"""Where a run may begin: within a session, in a fresh session, in a fresh process."""

_LONGEST = 1e9
"""Seconds; no lock waits for much longer."""


@dataclass(frozen=True, slots=True)
class InputSpec:
    """Where the inputs come from.

    Attributes:
        seed: seed of every stream, 0 to 2**32 - 1
        samples: number of inputs to run
        source: npz file, folder of npy files, or wav file; None to generate
        values: pairs of input name and how to fill it, such as ``("x", "uniform:-1:1")``
        shapes: pairs of axis or input name and size, such as ``("frames", "160")``
        duration: length of generated audio in seconds
        sampling_rate: rate of audio in Hz, None for the rate of the file or 16000

    """

    seed: int = 1
    samples: int = 1
    source: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    shapes: tuple[tuple[str, str], ...] = ()
    duration: float = 1.0
    sampling_rate: int | None = None


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """How what happened is judged; can be changed later without running anything.

    Attributes:
        reference: name of the target that others are measured against, None for the first
        decimals: first and last number of decimals to round to
        confidence: of every bound, 0.01 to 0.9999
        labels: names of output values, per output; the empty name stands for the only output
        classes: outputs that hold class scores, each with the axis of the classes; None to find
            them by their labels, names and operators
        requirement: what the targets have to meet, such as ``decimals=3,no-class-flip``
        origin: file that the requirement was taken from, None where it was given directly

    Raises:
        UsageError: if a number is out of range

    """

    reference: str | None = None
    decimals: tuple[int, int] = (0, 7)
    confidence: float = 0.95
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    classes: tuple[tuple[str, int], ...] | None = None
    requirement: str | None = None
    origin: str | None = None

    def __post_init__(self) -> None:
        """Check the numbers, also those that replace the ones of a record."""
        if not 0.01 <= self.confidence <= 0.9999:
            raise UsageError(f"--confidence {self.confidence} is not within 0.01 to 0.9999")
        low, high = self.decimals
        if not 0 <= low <= high <= 12:
            raise UsageError(f"--decimals {low}-{high} is no range within 0 to 12")


@dataclass(frozen=True, slots=True)
class AuditSpec:
    """A whole audit.

    Attributes:
        model: path of the model
        targets: where to run it
        inputs: with what
        runs: calls in each session, at least 1
        sessions: fresh sessions in each process, at least 1
        processes: fresh processes of each target, at least 1
        outputs: names of the outputs to look at, empty for all
        seeded: whether the generators of every process are seeded before a torch model is built
        seed_runtime: whether the runtime's own generator is seeded in every process too
        evaluate: whether a torch model is switched to evaluation mode
        trust: whether Python code that the model brings may run
        timeout: seconds that a worker may stay silent
        judging: how the record is judged
        writes: files that are going to be written, refused where they are a part of the model

    Raises:
        UsageError: if a number is out of range, no target runs the model itself, or the reference
            is none of the targets

    """

    model: str
    targets: tuple[Target, ...]
    inputs: InputSpec = field(default_factory=InputSpec)
    runs: int = 10
    sessions: int = 2
    processes: int = 2
    outputs: tuple[str, ...] = ()
    seeded: bool = True
    seed_runtime: bool = False
    evaluate: bool = False
    trust: bool = False
    timeout: float = 300.0
    judging: JudgeSpec = field(default_factory=JudgeSpec)
    writes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers before anything is touched."""
        for name in ("runs", "sessions", "processes"):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name} {getattr(self, name)} is less than 1")
        if self.inputs.samples < 1:
            raise UsageError(f"--samples {self.inputs.samples} is less than 1")
        if not 0 <= self.inputs.seed < 2**32:
            raise UsageError(f"--seed {self.inputs.seed} is not within 0 to 4294967295")
        if not 0 < self.inputs.duration < math.inf:
            raise UsageError(f"--duration {self.inputs.duration} is not a positive length")
        if not 0 < self.timeout <= _LONGEST:
            raise UsageError(f"--timeout {self.timeout} is not within 0 to {_LONGEST:g} seconds")
        if all(target.model is not None for target in self.targets):
            raise UsageError(f"no target runs {self.model} itself: name one without model=")
        names = [target.name for target in self.targets]
        if self.judging.reference is not None and self.judging.reference not in names:
            raise UsageError(
                f"the reference {self.judging.reference} is none of the targets: {', '.join(names)}"
            )
