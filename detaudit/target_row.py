"""Row of a target in a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from detaudit.models.backend import Backend
from detaudit.traits import Traits


@dataclass(frozen=True, slots=True)
class OtherModel:
    """A model that ran in the place of the audited one.

    Attributes:
        path: what the user named
        format: kind of the file
        sha256: digest of the model, hexadecimal

    """

    path: str
    format: str
    sha256: str


@dataclass(frozen=True, slots=True)
class TargetRow:
    """A target and what became of it.

    Attributes:
        name: canonical text of the target
        kind: measured, emulated or reference
        status: ok, unavailable, failed or skipped
        reason: why it is not ok
        is_reference: whether the others are measured against it
        hardware: processor that ran it
        runs: calls that ended, over all processes
        plan: runs x sessions x processes that were asked for
        requested: options asked for
        effective: options in force
        placement: nodes per execution provider; for torch weights and buffers per device
        versions: of interpreter and libraries
        backend: library that ran it, ``ort`` for ONNX Runtime or ``torch``
        weights: SHA-256 over all weights and buffers, per process and session; empty where a file
            that is hashed holds them
        traits: what torch told of the model while it ran
        model: the model that ran where it is not the audited one

    """

    name: str
    kind: str
    status: str
    reason: str | None
    is_reference: bool
    hardware: str
    runs: int
    plan: tuple[int, int, int]
    requested: Mapping[str, str]
    effective: Mapping[str, Any]
    placement: Mapping[str, int]
    versions: Mapping[str, str]
    backend: Backend = "ort"
    weights: tuple[tuple[str, ...], ...] = ()
    traits: Traits = field(default_factory=Traits)
    model: OtherModel | None = None
