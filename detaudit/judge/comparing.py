"""Records of several machines, versions or dates against each other; nothing is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from detaudit.comparison import Comparison, Difference, Level, RecordRow
from detaudit.errors import UsageError
from detaudit.judge.agreement import judge_agreement
from detaudit.judge.causes import name_some
from detaudit.judge.environments import compare_environments, list_differences
from detaudit.judge.grid import audited_grids
from detaudit.judge.judge import judge
from detaudit.judge.matching import match_outputs
from detaudit.judge.merging import Named, merge_records
from detaudit.judge.types import declare_types
from detaudit.judge.weights import tell_apart
from detaudit.record import Record
from detaudit.report import Finding, Report
from detaudit.spec import JudgeSpec
from detaudit.target import parse_target

Kind = Literal["model", "inputs", "plan"]
ALLOWED: tuple[Kind, ...] = ("model", "inputs", "plan")
"""What may differ where it is asked for."""

_LEVELS = ("error", "warning", "info")


def compare_records(
    records: Sequence[Named],
    judging: Mapping[str, Any],
    *,
    reference: str | None = None,
    allowed: Collection[str] = (),
) -> Comparison:
    """Every target of every record against one reference.

    Args:
        records: at least two, of different names
        judging: fields of :class:`detaudit.spec.JudgeSpec` that replace those of the reference's
            record; what that one was required to meet is not asked again
        reference: ``RECORD:TARGET``, or ``RECORD`` for its first target; by default the first
            target of the first record
        allowed: which of ``ALLOWED`` may differ

    Returns:
        the comparison

    Raises:
        UsageError: if model, inputs or plan differ and may not, or the reference is unknown

    """
    base, name = _find_reference(records, reference)
    differing = tuple(_find_differing(records))
    _refuse(records, differing, allowed)
    own = base.record.spec.judging
    asked = {name: getattr(own, name) for name in ("decimals", "confidence", "labels", "classes")}
    spec = JudgeSpec(**{**asked, **judging, "reference": name})
    merged = merge_records(records, base, spec)
    report = judge(merged)
    plans = [_plan(one.record) for one in records for _ in one.record.targets]
    rows = zip(report.targets, plans, strict=True)
    report = dataclasses.replace(
        report, targets=tuple(dataclasses.replace(row, plan=plan) for row, plan in rows)
    )
    named, _ = match_outputs(declare_types(merged))
    agreement = judge_agreement(audited_grids(named), spec, merged.arrays)
    findings = list(_tell_differing(records, differing))
    if not any(row.name == "inputs" for row in differing):
        findings += _explain(records, merged, report, agreement)
    findings = sorted([*findings, *report.findings], key=lambda f: _LEVELS.index(f.level))
    sentence = f"{_describe_classes(agreement)} {report.verdict.sentence}"
    return Comparison(
        records=tuple(map(_make_row, records)),
        differing=differing,
        environments=compare_environments(records),
        agreement=agreement,
        report=dataclasses.replace(
            report,
            findings=tuple(findings),
            verdict=dataclasses.replace(report.verdict, sentence=sentence),
        ),
    )


def _find_reference(records: Sequence[Named], text: str | None) -> tuple[Named, str]:
    """Record of the reference, and the name of its target in the merged record."""
    if text is None:
        text = records[0].name
    for one in records:
        if text == one.name:
            return one, f"{one.name}:{one.record.targets[0].target.name}"
        if text.startswith(f"{one.name}:"):
            rest = text[len(one.name) + 1 :]
            own = parse_target(rest, one.record.model.backend).name
            if own in [target.target.name for target in one.record.targets]:
                return one, f"{one.name}:{own}"
            known = ", ".join(target.target.name for target in one.record.targets)
            raise UsageError(f"--reference {text}: {one.name} has no such target; it has: {known}")
    known = ", ".join(one.name for one in records)
    raise UsageError(f"--reference {text} does not begin with the name of a record: {known}")


def _find_differing(records: Sequence[Named]) -> Iterator[Difference]:
    """What has to agree and does not."""
    told = [dict(_list_common(one.record)) for one in records]
    for name in dict.fromkeys(name for facts in told for name in facts):
        values = tuple(facts.get(name, "–") for facts in told)
        # A model that only some records have a target for is compared with nothing.
        if len({value for facts, value in zip(told, values, strict=True) if name in facts}) > 1:
            yield Difference(name, values)


def _list_common(record: Record) -> Iterator[tuple[str, str]]:
    spec = record.spec
    yield "model", record.model.sha256
    for target in record.targets:
        if target.model is not None:
            yield f"model of {target.target.name}", target.model.sha256
    yield "inputs", record.inputs_sha256
    yield "plan", " x ".join(map(str, _plan(record)))
    yield "--output", ", ".join(spec.outputs) or "all"
    for option, given in (
        ("--no-seed", not spec.seeded),
        ("--seed-runtime", spec.seed_runtime),
        ("--eval", spec.evaluate),
    ):
        yield option, "given" if given else "not given"


def _plan(record: Record) -> tuple[int, int, int]:
    return record.spec.runs, record.spec.sessions, record.spec.processes


def _refuse(
    records: Sequence[Named], differing: Sequence[Difference], allowed: Collection[str]
) -> None:
    refused = [row for row in differing if row.name.split()[0] not in allowed]
    if not refused:
        return
    names = [one.name for one in records]
    told = "; ".join(f"{row.name} ({_spell(names, row)})" for row in refused)
    kinds = dict.fromkeys(row.name.split()[0] for row in refused)
    hint = "they were not asked the same"
    if all(kind in ALLOWED for kind in kinds):
        hint = f"to compare them nonetheless: --allow-other {','.join(kinds)}"
    raise UsageError(f"the records differ in {told}; {hint}")


def _spell(names: Sequence[str], row: Difference) -> str:
    holders: dict[str, list[str]] = {}
    for name, value in zip(names, row.values, strict=True):
        holders.setdefault(value, []).append(name)
    return ", ".join(f"{_shorten(value)} in {' and '.join(own)}" for value, own in holders.items())


def _shorten(value: str) -> str:
    return f"{value[:12]}…" if len(value) == 64 else value


def _tell_differing(records: Sequence[Named], differing: Sequence[Difference]) -> Iterator[Finding]:
    names = [one.name for one in records]
    meaning = {
        "model": "differences between them may be those of the models",
        "inputs": "differences between them are no drift, for they were fed other values",
        "plan": "bounds rest on other numbers of runs",
    }
    for row in differing:
        kind = row.name.split()[0]
        message = f"The records differ in {row.name} ({_spell(names, row)}): {meaning[kind]}."
        level: Literal["info", "warning"] = "info" if kind == "plan" else "warning"
        yield Finding(level, f"other-{kind}", None, None, message)


def _explain(
    records: Sequence[Named], merged: Record, report: Report, agreement: Sequence[Level]
) -> Iterator[Finding]:
    """What else differs where the bits of another record's target differ, or do not."""
    owners = [one for one in records for _ in one.record.targets]
    own = {
        target.target.name: (target, owner)
        for target, owner in zip(merged.targets, owners, strict=True)
    }
    name = next(row.name for row in report.targets if row.is_reference)
    reference, base = own[name]
    bits = agreement[0]
    if reference.status != "ok" or name in bits.varying:
        return
    for target, owner in own.values():
        this = target.target.name
        untold = this in bits.varying or tell_apart(target, reference)
        if owner is base or target.status != "ok" or untold or target.model != reference.model:
            continue
        differences = list_differences(target, owner, reference, base)
        if bits.place(this) == bits.place(name):
            if differences:
                message = f"The bits are those of {name}, although these differ: "
                yield Finding(
                    "info", "same-bits-elsewhere", this, None, f"{message}{_join(differences)}."
                )
        elif differences:
            message = (
                f"The bits are not those of {name}. What differs on record: {_join(differences)}."
                + (" The record cannot tell which of these matters." if differences[1:] else "")
            )
            yield Finding("info", "other-bits-elsewhere", this, None, message)
        else:
            message = (
                f"The bits are not those of {name}, although machine, versions and options are"
                " the same as far as the records tell."
            )
            yield Finding("warning", "other-bits-unexplained", this, None, message)


def _join(differences: Sequence[str]) -> str:
    return "; ".join(differences)


def _describe_classes(agreement: Sequence[Level]) -> str:
    """Which targets have the same bits, in words."""
    bits = agreement[0]
    if not bits.classes and not bits.varying:
        return "No target ran to its end."
    ran = sum(map(len, bits.classes)) + len(bits.varying)
    if ran == 1:
        return "Only one target ran to its end, so that nothing is compared."
    if len(bits.classes) == 1 and not bits.varying:
        # Targets that did not run are told by the sentence of the report.
        return f"Same bits on all {ran} targets that ran ({name_some(bits.classes[0])})."
    parts = [f"Same bits: {name_some(names)}." for names in bits.classes if names[1:]]
    alone = [names[0] for names in bits.classes if not names[1:]]
    parts += [f"Bits of their own: {name_some(alone)}."] if alone else []
    parts += [f"No steady bits: {name_some(bits.varying)}."] if bits.varying else []
    return " ".join(parts)


def _make_row(one: Named) -> RecordRow:
    record = one.record
    return RecordRow(
        name=one.name,
        path=one.path,
        created=record.created,
        detaudit=record.detaudit,
        model=record.model.sha256,
        inputs=record.inputs_sha256,
        plan=_plan(record),
        interrupted=record.interrupted,
        environment=record.environment,
    )
