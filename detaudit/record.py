"""What happened in an audit, and nothing of what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from detaudit.metrics.spread_summary import SpreadSummary
from detaudit.models.model import Model
from detaudit.spec import AuditSpec
from detaudit.target import Target
from detaudit.traits import Traits

Status = Literal["ok", "unavailable", "failed", "skipped"]
Kind = Literal["measured", "emulated", "reference"]

RUN_COLUMNS = np.dtype(
    [
        ("process", np.int32),
        ("session", np.int32),
        ("sample", np.int32),
        ("run", np.int32),
        ("seconds", np.float64),
    ]
)


@dataclass(frozen=True, slots=True)
class InputFacts:
    """One input of one sample.

    Attributes:
        sample: number of the sample, from 0
        name: name of the input
        dtype: type of its values
        shape: sizes of its axes
        sha256: digest of its bytes in C order, hexadecimal
        source: how it was filled, such as ``normal`` or a file name

    """

    sample: int
    name: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str
    source: str


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """One worker process.

    Attributes:
        process: number of the process, from 0
        sessions: seconds that each of its sessions took to be created
        seeding: what ``set_seeds`` returned in it
        state: fingerprints of its generators after the last run
        weights: SHA-256 over all weights and buffers of the model as each session built it, empty
            where a file that is hashed holds them

    """

    process: int
    sessions: tuple[float, ...]
    seeding: Mapping[str, Any]
    state: Mapping[str, Any]
    weights: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutputFacts:
    """One output, or one part of an output that is a sequence or a map.

    Attributes:
        path: such as ``logits``, ``boxes[2]`` or ``scores["cat"]``
        dtype: type of its values
        shape: sizes of its axes in the first run
        keys: names along the last axis where the values came from a map
        declared: type before it was widened into one that NumPy has, such as ``bfloat16``; empty
            where it was not

    """

    path: str
    dtype: str
    shape: tuple[int, ...]
    keys: tuple[str, ...] = ()
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The distinct results of one output on one sample, in the order they were first seen.

    Attributes:
        output: number of the output among those of the target
        sample: number of the sample
        digests: SHA-256 of each outcome
        counts: how often each was seen
        kept: numbers of the outcomes whose array is in the record; the first always is
        varies: whether the arrays ``low`` and ``high`` over all runs are in the record, as they
            are for floats of which more than one outcome was seen

    """

    output: int
    sample: int
    digests: tuple[str, ...]
    counts: tuple[int, ...]
    kept: tuple[int, ...]
    varies: bool


@dataclass(frozen=True, slots=True)
class ScopeSpread:
    """How far repeated results of one output lie apart within one scope, over all samples.

    Attributes:
        output: number of the output among those of the target
        scope: ``run``, ``session`` or ``process``
        summary: distances, over all groups of the scope

    """

    output: int
    scope: str
    summary: SpreadSummary


@dataclass(frozen=True, slots=True)
class TargetRecord:
    """What happened on one target.

    Attributes:
        target: what was asked for
        kind: measured on a device, emulated, or a reference
        status: ``ok``; ``unavailable``: it cannot run here or did not run where it was asked;
            ``failed``: it began and did not end; ``skipped``: the audit was interrupted before
        reason: why it is not ``ok``, one line
        hardware: name of the processor that ran it
        effective: options as the session reported them
        placement: nodes per execution provider
        versions: of the interpreter and the libraries
        runtime: build, packages and driver as found by the worker
        stderr: last lines that a failed worker wrote
        processes: what every process reported
        traits: what torch told of the model while it ran, see :mod:`detaudit.traits`
        model: the model that ran where it is not the audited one
        outputs: outputs in the order of the graph
        outcomes: distinct results per output and sample
        spreads: distances within each scope

    """

    target: Target
    kind: Kind = "measured"
    status: Status = "ok"
    reason: str | None = None
    hardware: str = ""
    effective: Mapping[str, Any] = field(default_factory=dict)
    placement: Mapping[str, int] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    runtime: Mapping[str, Any] = field(default_factory=dict)
    stderr: tuple[str, ...] = ()
    processes: tuple[ProcessFacts, ...] = ()
    traits: Traits = field(default_factory=Traits)
    model: Model | None = None
    outputs: tuple[OutputFacts, ...] = ()
    outcomes: tuple[Outcomes, ...] = ()
    spreads: tuple[ScopeSpread, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A whole audit as it happened.

    Attributes:
        created: date and time in UTC, ISO 8601
        detaudit: version that made the record
        spec: what was asked
        model: the audited model
        input_source: how the inputs were made, in words
        inputs: every input of every sample
        inputs_sha256: digest over all inputs
        environment: machine, operating system, interpreter, versions
        seeding: what ``set_seeds`` returned in the parent
        targets: one record per target, in the order asked
        interrupted: whether the audit was stopped before its end
        notes: remarks on the model and its inputs, one line each
        arrays: outputs by the keys that :func:`array_key` gives, run tables by those of
            :func:`table_key`; read on demand

    """

    created: str
    detaudit: str
    spec: AuditSpec
    model: Model
    input_source: str
    inputs: tuple[InputFacts, ...]
    inputs_sha256: str
    environment: Mapping[str, Any]
    seeding: Mapping[str, Any]
    targets: tuple[TargetRecord, ...]
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    arrays: Mapping[str, np.ndarray] = field(
        default_factory=dict, repr=False, compare=False, metadata={"plain": False}
    )


def array_key(target: int, sample: int, output: int, what: int | str) -> str:
    """Key of an output array.

    Args:
        target: number of the target
        sample: number of the sample
        output: number of the output among those of the target
        what: number of an outcome, or ``low`` or ``high`` over all runs

    Examples:
        >>> array_key(0, 2, 1, "low")
        '0/2/1/low'

    """
    return f"{target}/{sample}/{output}/{what}"


def table_key(target: int, table: Literal["runs", "outcome"]) -> str:
    """Key of a table with one row per run.

    Args:
        target: number of the target
        table: ``runs``, with the columns ``RUN_COLUMNS``, or ``outcome`` of shape
            [runs, outputs], the number of the outcome that each run gave, -1 where the output
            was absent

    Examples:
        >>> table_key(1, "runs")
        '1/runs'

    """
    return f"{target}/{table}"
