"""From what happened to what it means; nothing is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from detaudit.errors import UsageError
from detaudit.judge.evidence import gather_evidence
from detaudit.judge.findings import find_findings
from detaudit.judge.grid import audited_grids
from detaudit.judge.labels import check_names
from detaudit.judge.latency import judge_latency
from detaudit.judge.matching import find_base, match_outputs
from detaudit.judge.repeatability import judge_repeatability
from detaudit.judge.requirement import check_requirements
from detaudit.judge.tables import Tables
from detaudit.judge.types import declare_types
from detaudit.judge.verdict import compose_sentence
from detaudit.judge.weights import read_weights
from detaudit.models.model import Model
from detaudit.plain import to_plain
from detaudit.record import Record
from detaudit.report import Check, Report, Verdict
from detaudit.requirement import parse_requirement
from detaudit.spec import JudgeSpec
from detaudit.target_row import OtherModel, TargetRow
from detaudit.version import __version__


def judge(record: Record, judging: JudgeSpec | None = None) -> Report:
    """Judge a record.

    Args:
        record: what happened
        judging: how to judge, None for what was asked when it was captured

    Returns:
        measurements, findings and a verdict

    Raises:
        UsageError: if the reference is none of the targets, or labels or classes name no output

    """
    judging = _include_required(judging or record.spec.judging)
    reference_name = judging.reference or record.targets[0].target.name
    if reference_name not in [target.target.name for target in record.targets]:
        raise UsageError(f"the reference {reference_name} is none of the record's targets")
    # Whoever looks at the record from here on sees how it is judged now.
    record = dataclasses.replace(record, spec=dataclasses.replace(record.spec, judging=judging))
    record, matched = match_outputs(declare_types(record))
    grids = audited_grids(record)
    base = find_base(record)
    for grid in grids:
        if base is not None and grid.target.target.model == base.target.model:
            check_names(grid.target.outputs, record.model, judging)
    reference = next((grid for grid in grids if grid.name == reference_name), None)
    tables = Tables(record, judging)
    for grid in grids:
        tables.add_own(grid)
    if reference is not None:
        for grid in grids:
            if grid is not reference:
                tables.add_against(grid, reference)
    report = Report(
        created=record.created,
        detaudit=__version__,
        model=_describe_model(record),
        inputs=_describe_inputs(record),
        seeding=_describe_seeding(record),
        environment=record.environment,
        interrupted=record.interrupted,
        targets=_target_rows(record, reference_name),
        repeatability=tuple(
            row for grid in grids for row in judge_repeatability(grid, judging.confidence)
        ),
        deviation=tuple(tables.deviation),
        rounding=tuple(tables.rounding),
        decimals=tuple(tables.decimals),
        classes=tuple(tables.classes),
        latency=tuple(judge_latency(grid) for grid in grids),
        values=tuple(tables.values),
        findings=(),
        verdict=Verdict(judging.requirement, None, (), (), ""),
    )
    findings = find_findings(record, report, matched, tuple(tables.uneven))
    report = dataclasses.replace(report, findings=findings)
    return dataclasses.replace(report, verdict=_find_verdict(report, judging, tables))


def _target_rows(record: Record, reference: str) -> tuple[TargetRow, ...]:
    spec = record.spec
    rows = []
    for number, target in enumerate(record.targets):
        table = record.arrays.get(f"{number}/runs", np.empty(0))
        rows.append(
            TargetRow(
                name=target.target.name,
                kind=target.kind,
                status=target.status,
                reason=target.reason,
                is_reference=target.target.name == reference,
                hardware=target.hardware,
                runs=len(table),
                plan=(spec.runs, spec.sessions, spec.processes),
                requested=dict(target.target.options),
                effective=target.effective,
                placement=target.placement,
                versions=target.versions,
                backend=target.target.backend,
                weights=read_weights(target),
                traits=target.traits,
                model=None if target.model is None else _name_model(target.model),
            )
        )
    return tuple(rows)


def _name_model(model: Model) -> OtherModel:
    return OtherModel(str(model.path), model.format, model.sha256)


def _describe_model(record: Record) -> Mapping[str, Any]:
    plain = cast(dict[str, Any], to_plain(record.model))
    for internal in ("graph", "root", "parts", "recipe"):
        del plain[internal]
    return {**plain, "evaluate": record.spec.evaluate}


def _describe_inputs(record: Record) -> Mapping[str, Any]:
    return {
        "seed": record.spec.inputs.seed,
        "samples": record.spec.inputs.samples,
        "sha256": record.inputs_sha256,
        "source": record.input_source,
        "arrays": to_plain(record.inputs),
    }


def _describe_seeding(record: Record) -> Mapping[str, Any]:
    return {
        "seeded": record.spec.seeded,
        "parent": record.seeding,
        "targets": {
            target.target.name: [
                {"process": p.process, "seeding": p.seeding, "state": p.state}
                for p in target.processes
            ]
            for target in record.targets
        },
    }


def _include_required(judging: JudgeSpec) -> JudgeSpec:
    """Let the decimals that are required be among those that are rounded to."""
    low, high = judging.decimals
    for requirement in parse_requirement(judging.requirement) if judging.requirement else ():
        if requirement.kind == "decimals":
            low, high = min(low, int(requirement.limit)), max(high, int(requirement.limit))
    return dataclasses.replace(judging, decimals=(low, high))


def _find_verdict(report: Report, judging: JudgeSpec, tables: Tables) -> Verdict:
    checks: tuple[Check, ...] = ()
    if judging.requirement is not None:
        evidence = gather_evidence(report, tables.decisions, tables.numberless)
        checks = tuple(check_requirements(parse_requirement(judging.requirement), evidence))
    failures = dict.fromkeys(failure for check in checks for failure in check.failures)
    return Verdict(
        requirement=judging.requirement,
        met=None if judging.requirement is None else all(c.status == "met" for c in checks),
        untested=tuple(row.name for row in report.targets if row.status != "ok"),
        failures=tuple(failures),
        sentence=compose_sentence(report),
        origin=judging.origin,
        checks=checks,
    )
