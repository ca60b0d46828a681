"""The type that an output has before NumPy's lack of it widens it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from detaudit.judge.causes import name_some
from detaudit.metrics.ulp import Grid as FloatGrid
from detaudit.record import OutputFacts, Record, TargetRecord
from detaudit.report import Finding


def declare_types(record: Record) -> Record:
    """Record whose outputs have the types that ONNX files declare, as torch tells them itself.

    Args:
        record: what happened, with the outputs under the names of the model that ran

    """
    targets = []
    for target in record.targets:
        model = target.model or record.model
        declared = {info.name: info.dtype for info in model.outputs if info.name in model.widened}
        outputs = tuple(
            dataclasses.replace(facts, declared=facts.declared or declared.get(facts.path, ""))
            for facts in target.outputs
        )
        targets.append(dataclasses.replace(target, outputs=outputs))
    return dataclasses.replace(record, targets=tuple(targets))


def find_float_grid(output: OutputFacts, other: OutputFacts) -> FloatGrid | None:
    """Numbers among which steps are counted: those of the coarser type.

    Args:
        output: output of a target
        other: the same output of another target

    Returns:
        name of the type, None where they are no floats

    """
    names = [facts.declared or facts.dtype for facts in (output, other)]
    grids: tuple[FloatGrid, ...] = ("bfloat16", "float16", "float32", "float64")
    found = [grid for grid in grids if grid in names]
    return found[0] if set(found) == set(names) else None


def observe_widened(record: Record) -> Iterator[Finding]:
    """Findings on outputs that torch or another model gave in a type that NumPy lacks.

    Args:
        record: what happened, with declared types

    """
    for target in record.targets:
        if target.status == "ok" and _is_told_by_target(target):
            names = [
                f"{facts.path} ({facts.declared})" for facts in target.outputs if facts.declared
            ]
            if names:
                message = f"{name_some(names)}: compared as float32, since NumPy has no such type."
                yield Finding("info", "widened", target.target.name, None, message)


def _is_told_by_target(target: TargetRecord) -> bool:
    """Whether the findings on the audited ONNX model do not tell it already."""
    return target.target.backend == "torch" or target.target.model is not None
