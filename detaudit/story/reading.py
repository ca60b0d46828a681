"""From the lines that a script's process wrote to what it told."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from detaudit.errors import DetauditError, UsageError
from detaudit.plain import from_plain
from detaudit.seeding.events import Event

from .told import End, Run, Step, Told


def read_run(path: Path, code: int) -> Run:
    """Run as its process told it.

    Args:
        path: what :class:`~detaudit.story.child.log.Log` wrote; its last line may be cut off
        code: exit code of the process, minus the number of the signal that killed it

    Raises:
        UsageError: if there is no such module
        DetauditError: if the interpreter cannot watch a script

    """
    told: list[Told] = []
    counts: Counter[int] = Counter()
    again: Counter[int] = Counter()
    trace: list[Step] = []
    facts: dict[str, Any] = {}
    processes: dict[str, None] = {}
    notes: dict[str, None] = {}
    for line in _read_lines(path):
        match line:
            case {"draw": [number, state]}:
                trace.append((number, state))
                counts[number] += 1
            case {"again": number}:
                again[number] += 1
            case {"more": many}:
                counts.update({int(number): count for number, count in many.items()})
            case {"event": event, "early": early}:
                told.append(Told(from_plain(Event, event), counts.total(), early))
            case {"process": how}:
                processes[how] = None
            case {"note": note}:
                notes[note] = None
            case {"refused": reason, "wrong": wrong}:
                raise (UsageError if wrong else DetauditError)(reason)
            case _:
                facts.update(line)
    return Run(
        End(
            code,
            complete=bool(facts.get("complete")),
            raised=str(facts.get("raised", "")),
            cut=str(facts.get("cut", "")),
        ),
        versions=tuple((name, str(value)) for name, value in facts.get("versions", {}).items()),
        hash_fixed=bool(facts.get("hash_fixed")),
        told=tuple(
            replace(one, event=replace(one.event, count=counts[number] + again[number]))
            for number, one in enumerate(told)
        ),
        processes=tuple(processes),
        notes=tuple(notes),
        trace=tuple(trace),
    )


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="ascii") as lines:
        for line in lines:
            if line.endswith("\n"):  # a process that is killed may leave half a line
                yield json.loads(line)
