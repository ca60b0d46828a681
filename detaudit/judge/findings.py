"""What is worth telling beside the tables."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import groupby

from detaudit.judge.causes import explain_drift, name_random_ops, name_some
from detaudit.judge.deviation import MISSING, ONLY_REFERENCE
from detaudit.judge.observations import observe_outputs
from detaudit.judge.options import observe_options
from detaudit.judge.same_model import observe_weights
from detaudit.judge.torch_causes import explain_torch_drift
from detaudit.judge.traits import observe_traits
from detaudit.judge.types import observe_widened
from detaudit.judge.weights import APART, count_sets, read_weights
from detaudit.models.model import Model
from detaudit.record import Record, TargetRecord
from detaudit.report import Finding, Report
from detaudit.rows import Repeatability
from detaudit.spec import SCOPES

_LEVELS = ("error", "warning", "info")
_UNITS = {"run": "runs", "session": "sessions", "process": "processes"}


def find_findings(
    record: Record, report: Report, matched: tuple[Finding, ...], uneven: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """Findings, the most serious first.

    Args:
        record: what happened, with outputs under the names of the audited model
        report: tables made of it
        matched: findings on how they got these names
        uneven: findings on outputs whose values are not spread evenly

    """
    found = [
        *_unaudited(record),
        *observe_weights(record),
        *matched,
        *_drift(record, report),
        *_deviations(report, {f.target for f in matched if f.kind == "outputs-unmatched"}),
        *_classes(record, report),
        *uneven,
        *observe_outputs(record),
        *_model(record, report),
        *observe_traits(record, report),
        *observe_widened(record),
        *(note for target in record.targets for note in observe_options(target)),
    ]
    found += [Finding("info", "note", None, None, note) for note in record.notes]
    return tuple(sorted(found, key=lambda finding: _LEVELS.index(finding.level)))


def _unaudited(record: Record) -> Iterator[Finding]:
    for target in record.targets:
        if target.status != "ok":
            name = target.target.name
            reason = f"{target.reason}".rstrip(".")
            yield Finding("error", target.status, name, None, f"{reason}.")


def _drift(record: Record, report: Report) -> Iterator[Finding]:
    reference = next((row.name for row in report.targets if row.is_reference), None)
    for name, group in groupby(report.repeatability, key=lambda row: row.target):
        target = next(t for t in record.targets if t.target.name == name)
        rows = list(group)
        varying = [row for row in rows if row.identical is False]
        if not varying:
            continue
        yield _drift_finding(record, target, rows)
        if any(row.nan_pattern_changed for row in varying):
            outputs = name_some(dict.fromkeys(r.output for r in varying if r.nan_pattern_changed))
            yield Finding(
                "warning", "nan-varies", name, None, f"NaN or infinity comes and goes in {outputs}."
            )
        for row in varying:
            if row.structural:
                yield Finding("error", "structure-varies", name, row.output, f"{row.structural}.")
        one_model = count_sets(read_weights(target)) < 2
        if name == reference and len(record.targets) > 1 and one_model:
            yield Finding(
                "warning",
                "reference-varies",
                name,
                None,
                "The reference itself varies: the others are measured against its first result.",
            )


def _drift_finding(record: Record, target: TargetRecord, rows: list[Repeatability]) -> Finding:
    varying = [row for row in rows if row.identical is False]
    scope = min((row.scope for row in varying), key=SCOPES.index)
    narrow = [row for row in varying if row.scope == scope]
    worst = max(narrow, key=lambda row: (row.distinct, row.max_abs or 0.0))
    first_differs = all(row.first_run_differs for row in narrow) and scope == "run"
    outputs = name_some(dict.fromkeys(row.output for row in narrow))
    size = f", up to {worst.max_abs:.1e} apart" if worst.max_abs else ""
    what = (
        f"The first run of a session differs from the rest in {outputs}{size}."
        if first_differs
        else f"{worst.distinct} distinct results in {worst.units} {_UNITS[scope]} of"
        f" {outputs}{size}."
    )
    cause = _find_cause(record, target, scope, first_differs)
    kind = "first-run-differs" if first_differs else f"{scope}-drift"
    message = f"{what} {cause}{_describe_steady(rows)}"
    return Finding("warning", kind, target.target.name, None, message)


def _find_cause(record: Record, target: TargetRecord, scope: str, first_differs: bool) -> str:
    if target.target.backend == "torch":
        return explain_torch_drift(
            target, scope, first_differs=first_differs, seeded=record.spec.seeded
        )
    model = target.model or record.model
    return explain_drift(target.target, scope, model.random_ops, first_differs)


def _describe_steady(rows: list[Repeatability]) -> str:
    """Scopes that repeat although another one does not."""
    steady = [
        f"fresh {_UNITS[scope]}"
        for scope in ("session", "process")
        if all(row.identical and row.comparisons for row in rows if row.scope == scope)
    ]
    return f" The first calls of {' and '.join(steady)} are equal." if steady else ""


def _deviations(report: Report, unmatched: Container[str | None]) -> Iterator[Finding]:
    for row in report.deviation:
        if row.label is not None:
            continue
        where = (row.target, row.output)
        told = row.structural in APART or (
            row.target in unmatched and row.structural in (MISSING, ONLY_REFERENCE)
        )
        if row.structural and not told:
            message = f"Cannot be compared with {row.reference}: {row.structural}."
            yield Finding("error", "structure-differs", *where, message)
        if row.nan_pattern_changed:
            message = f"NaN or infinity stands where {row.reference} has none, or the reverse."
            yield Finding("warning", "nan-differs", *where, message)
        if row.explanation:
            changed = round((row.changed_share or 0.0) * row.elements)
            size = f"{changed} of {row.elements} values are up to {row.max_abs:.1e} off"
            message = f"{size} {row.reference}: {row.explanation}."
            yield Finding("warning", "unusual-size", *where, message)


def _classes(record: Record, report: Report) -> Iterator[Finding]:
    told = dict(record.spec.judging.classes or ())
    assumed = {row.output for row in report.classes} - {*told, *record.model.score_outputs}
    for row in report.classes:
        where = (row.target, row.output)
        if row.flips:
            message = f"{row.flips} of {row.samples} predicted classes change."
            yield Finding("warning", "class-flips", *where, message)
        if row.ties:
            message = f"{row.ties} of {row.samples} items have two equal largest scores: a tie, in"
            yield Finding("info", "ties", *where, f"{message} which the lower index wins.")
        if row.output in assumed and row.min_margin is not None:
            message = (
                "Its labels are taken for classes that compete with each other. Where they name"
                " independent values, say so: --classes none."
            )
            yield Finding("info", "labels-as-classes", *where, message)
        if row.no_class:
            message = f"{row.no_class} of {row.samples} items have NaN among their scores."
            yield Finding("warning", "no-class", *where, f"{message} They have no class.")


def _model(record: Record, report: Report) -> Iterator[Finding]:
    model = record.model
    drifted = any(row.identical is False for row in report.repeatability)
    if model.random_ops and report.repeatability and not drifted:
        yield Finding(
            "info",
            "random-ops-without-effect",
            None,
            None,
            f"The model draws random numbers ({name_random_ops(model.random_ops)}), but no"
            " difference was seen: they may have no effect on the outputs, or need a rarer input.",
        )
    if model.widened:
        yield Finding(
            "info",
            "widened",
            None,
            None,
            f"{name_some(_widened(model))}: compared as float32 behind an added Cast, since NumPy"
            " has no such type.",
        )
    if model.low_precision:
        yield Finding(
            "info",
            "low-precision",
            None,
            None,
            "Some nodes compute in 16 bits; a CPU may compute them in float32 behind casts.",
        )


def _widened(model: Model) -> Iterator[str]:
    for info in (*model.inputs, *model.outputs):
        if info.name in model.widened:
            yield f"{info.name} ({info.dtype})"
