"""What misses a requirement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detaudit.judge.weights import APART, OTHER_SESSIONS
from detaudit.report import Report
from detaudit.requirement import Requirement
from detaudit.rows import Classes, Deviation, Repeatability

_SPECIAL = "NaN or infinity came or went"


def find_failures(
    requirements: tuple[Requirement, ...],
    report: Report,
    decisions: Sequence[Classes],
    numberless: Sequence[str],
) -> Iterator[str]:
    """What misses the conditions, one line each.

    What was not audited never meets a condition.

    Args:
        requirements: conditions
        report: report of the audit, with any verdict
        decisions: rows on classes, those of runs that are all equal included
        numberless: float outputs that hold nothing but NaN and infinities

    """
    for row in report.targets:
        if row.status != "ok":
            yield f"{row.name} was not audited ({row.status}: {row.reason})"
    for requirement in requirements:
        yield from _miss(requirement, report, decisions, numberless)


def _miss(
    requirement: Requirement,
    report: Report,
    decisions: Sequence[Classes],
    numberless: Sequence[str],
) -> Iterator[str]:
    outputs = {row.output for row in report.repeatability}
    if requirement.output is not None and requirement.output not in outputs:
        yield f"no output '{requirement.output}' was audited"
        return
    for output in sorted(outputs - _compared(report)):
        if requirement.output in (None, output):
            yield f"{output}: nothing was compared, one run of one target proves nothing"
    if requirement.kind in ("identical", "max_abs", "ulp"):
        for row in _whole_rows(report):
            if requirement.output in (None, row.output):
                yield from _miss_distance(requirement, row)
    elif requirement.kind == "decimals":
        for output in dict.fromkeys(numberless):
            if requirement.output in (None, output):
                yield f"{output}: no value has decimals, all are NaN or infinite"
        yield from _miss_decimals(requirement, report)
    else:
        yield from _miss_classes(requirement, report, decisions)


def _miss_decimals(requirement: Requirement, report: Report) -> Iterator[str]:
    rounded = {(row.target, row.output) for row in report.rounding}
    for rounding in report.rounding:
        required = rounding.decimals == requirement.limit
        if required and requirement.output in (None, rounding.output) and rounding.changed:
            yield (
                f"{rounding.target}, {rounding.output}: {rounding.changed} of"
                f" {rounding.values} values print differently at {rounding.decimals} decimals"
            )
    for row in _whole_rows(report):
        if requirement.output not in (None, row.output):
            continue
        if row.structural or row.nan_pattern_changed:
            yield f"{row.target}, {row.output}: {row.structural or _SPECIAL}"
        elif row.same_values is False and (row.target, row.output) not in rounded:
            # Integers, booleans and texts that differ print differently at any decimals.
            yield f"{row.target}, {row.output}: {row.changed_share:.2g} of the values differ"


def _miss_distance(requirement: Requirement, row: Repeatability | Deviation) -> Iterator[str]:
    where = f"{row.target}, {row.output}, "
    where += f"{row.scope} scope" if isinstance(row, Repeatability) else f"against {row.reference}"
    if requirement.kind == "identical":
        if row.identical is False and row.structural not in APART:
            yield f"{where}: the bits differ"
        elif row.structural:
            yield f"{where}: {row.structural}"
        return
    if row.structural or row.nan_pattern_changed:
        yield f"{where}: {row.structural or _SPECIAL}"
        return
    value = row.max_abs if requirement.kind == "max_abs" else row.max_ulp
    if value is None:
        if row.identical is False:
            yield f"{where}: the values differ and have no {requirement.kind}"
    elif value > requirement.limit:
        unit = " ULP" if requirement.kind == "ulp" else ""
        yield f"{where}: {value:.3g}{unit} is more than {requirement.limit:g}{unit}"


def _compared(report: Report) -> set[str]:
    """Outputs of which at least two results were compared."""
    repeated = {row.output for row in report.repeatability if row.comparisons}
    return repeated | {row.output for row in report.deviation}


def _whole_rows(report: Report) -> Iterator[Repeatability | Deviation]:
    """Rows on whole outputs, those of labels left out."""
    yield from report.repeatability
    yield from (row for row in report.deviation if row.label is None)


def _miss_classes(
    requirement: Requirement, report: Report, decisions: Sequence[Classes]
) -> Iterator[str]:
    rows = [row for row in decisions if requirement.output in (None, row.output)]
    audited = any(row.status == "ok" for row in report.targets)
    one_model = not any(row.structural == OTHER_SESSIONS for row in report.repeatability)
    if not rows and audited and one_model:
        yield "no output holds class scores; name it with --classes"
    outputs = {row.output for row in rows}
    for whole in _whole_rows(report):
        # Which outputs hold scores is not looked up where weights differ: any of them may.
        asked = requirement.output in (None, whole.output) and not one_model
        if (whole.output in outputs or asked) and whole.structural:
            yield f"{whole.target}, {whole.output}: {whole.structural}"
    for row in rows:
        where = f"{row.target}, {row.output}"
        if requirement.kind == "no-class-flip":
            if row.flips:
                yield f"{where}: {row.flips} of {row.samples} classes flip"
            elif row.flip_upper_bound is None:
                yield f"{where}: nothing was decided, or not every result could be kept"
        elif row.flip_upper_bound is None or row.flip_upper_bound > requirement.limit:
            bound = "unknown" if row.flip_upper_bound is None else f"{row.flip_upper_bound:.2g}"
            yield (
                f"{where}: {row.flips} of {row.samples} classes flip, which supports a rate of"
                f" at most {bound}, more than {requirement.limit:g}"
            )
