"""What records of several machines do not have in common beside their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from detaudit.comparison import Difference
from detaudit.judge.merging import Named
from detaudit.record import TargetRecord

NOTHING = "–"
_LONGEST = 120
"""Characters of a value in a sentence."""

_NAMES = {
    "cpu.name": "processor",
    "cpu.cores": "cores",
    "memory_bytes": "memory in bytes",
    "machine": "architecture",
}


def compare_environments(records: Sequence[Named]) -> tuple[Difference, ...]:
    """Facts on machines and software that are not the same in all records.

    Args:
        records: the records

    """
    told = [dict(_describe(one)) for one in records]
    names = dict.fromkeys(name for facts in told for name in facts)
    rows = (Difference(name, tuple(f.get(name, NOTHING) for f in told)) for name in names)
    found = {row.name: row for row in rows if len(set(row.values)) > 1}
    _drop_known(found)
    flags = _compare_flags(records)
    return (flags, *found.values()) if flags else tuple(found.values())


def list_differences(
    one: TargetRecord, own: Named, other: TargetRecord, others: Named
) -> tuple[str, ...]:
    """What two targets do not have in common, as far as their records tell, in words.

    Args:
        one: what happened on a target
        own: its record
        other: what happened on another
        others: the record of that one

    """
    mine, theirs = (
        {**dict(_describe_machine(named)), **dict(_describe_target(target))}
        for target, named in ((one, own), (other, others))
    )
    names = dict.fromkeys((*mine, *theirs))
    found = {
        name: _hold_against(name, mine.get(name, NOTHING), theirs.get(name, NOTHING))
        for name in names
        if mine.get(name) != theirs.get(name)
    }
    _drop_known(found)
    flags = _compare_flags((own, others))
    first = (f"{flags.name}: {flags.values[0]} against {flags.values[1]}",) if flags else ()
    return (*first, *found.values())


def _hold_against(name: str, mine: str, theirs: str) -> str:
    # What a library tells of its build may fill a page.
    if max(len(mine), len(theirs)) > _LONGEST:
        return f"another {name}"
    return f"{name} {mine} against {theirs}"


def _drop_known(found: dict[str, Any]) -> None:
    """Leave out what another version of a library brings with it."""
    for name in [name for name in found if name.startswith("packages.")]:
        if name.removeprefix("packages.") in found:
            del found[name]
    if not found.keys().isdisjoint(("onnxruntime", "torch")):
        found.pop("build", None)


def _compare_flags(records: Sequence[Named]) -> Difference | None:
    """Instruction sets that not all processors have."""
    flags = [list(_cpu(one).get("flags", ())) for one in records]
    shared = set(flags[0]).intersection(*flags[1:])
    own = tuple(", ".join(f for f in having if f not in shared) or NOTHING for having in flags)
    return Difference("instruction sets not shared", own) if len(set(own)) > 1 else None


def _cpu(one: Named) -> Mapping[str, Any]:
    cpu = one.record.environment.get("cpu")
    return cpu if isinstance(cpu, Mapping) else {}


def _describe(one: Named) -> Iterator[tuple[str, str]]:
    yield "detaudit", one.record.detaudit
    yield from _describe_machine(one)
    software: dict[str, dict[str, None]] = {}
    for target in one.record.targets:
        if target.status == "ok":
            facts = {**target.versions, **target.runtime}
            for name, value in _flatten(facts):
                software.setdefault(name, {})[value] = None
    for name, values in software.items():
        yield name, " / ".join(values)


def _describe_machine(one: Named) -> Iterator[tuple[str, str]]:
    """Facts on the machine; the versions that matter are those of the targets' interpreters."""
    facts = {k: v for k, v in one.record.environment.items() if k not in ("python", "versions")}
    for name, value in _flatten(facts):
        if name != "cpu.flags":
            yield _NAMES.get(name, name.replace("variables.", "variable ")), value


def _describe_target(target: TargetRecord) -> Iterator[tuple[str, str]]:
    """What the target tells of itself: device, options, versions, and what was in force."""
    yield "device", target.target.device
    facts = {**dict(target.target.options), **target.effective}
    yield from ((f"option {name}", value) for name, value in _flatten(facts))
    yield from _flatten({**target.versions, **target.runtime})


def _flatten(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in facts.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{name}.")
        elif isinstance(value, Iterable) and not isinstance(value, str):
            yield name, ", ".join(map(str, value)) or NOTHING
        else:
            yield name, NOTHING if value is None else " ".join(str(value).split())
