"""From what happened to what it means; nothing is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from detaudit.errors import UsageError
from detaudit.judge.causes import explain_size
from detaudit.judge.classes import holds_labels, judge_classes
from detaudit.judge.deviation import judge_deviation, judge_missing, key_difference
from detaudit.judge.findings import find_findings
from detaudit.judge.grid import Grid, audited_grids
from detaudit.judge.labels import check_names, find_class_axis, find_labels
from detaudit.judge.latency import judge_latency
from detaudit.judge.repeatability import judge_repeatability
from detaudit.judge.requirement import find_failures
from detaudit.judge.rounding import holds_numbers, judge_decimals, judge_rounding
from detaudit.judge.values import judge_values
from detaudit.judge.verdict import compose_sentence
from detaudit.metrics.ulp import Grid as FloatGrid
from detaudit.plain import to_plain
from detaudit.record import OutputFacts, Record
from detaudit.report import Report, Verdict
from detaudit.requirement import parse_requirement
from detaudit.rows import Classes, Decimals, Deviation, Rounding, TargetRow, Value
from detaudit.spec import JudgeSpec
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
    grids = audited_grids(record)
    for grid in grids:
        check_names(grid.target.outputs, record.model, judging)
    reference = next((grid for grid in grids if grid.name == reference_name), None)
    tables = _Tables(record, judging)
    for grid in grids:
        tables.add(grid, None)
    if reference is not None:
        for grid in grids:
            if grid is not reference:
                tables.add(grid, reference)
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
    report = dataclasses.replace(report, findings=find_findings(record, report))
    return dataclasses.replace(report, verdict=_find_verdict(report, judging, tables))


class _Tables:
    """Tables that need the arrays, filled target by target."""

    def __init__(self, record: Record, judging: JudgeSpec) -> None:
        self._record = record
        self._judging = judging
        self.deviation: list[Deviation] = []
        self.rounding: list[Rounding] = []
        self.decimals: list[Decimals] = []
        self.decisions: list[Classes] = []
        self.classes: list[Classes] = []
        self.values: list[Value] = []
        self.numberless: list[str] = []

    def add(self, grid: Grid, reference: Grid | None) -> None:
        """Compare a target with the reference, or its runs among themselves for None."""
        for number, output in enumerate(grid.target.outputs):
            labels = find_labels(output, self._record.model, self._judging)
            if reference is None:
                largest, mean = _own_distances(grid, number)
                self.values += judge_values(grid, number, labels, self._record.arrays)
                self._compare(grid, grid, number, [(None, largest, mean)])
            else:
                own, _ = _own_distances(grid, number)
                rows = judge_deviation(
                    grid,
                    reference,
                    number,
                    labels,
                    self._float_grid(output),
                    self._record.arrays,
                    partial(
                        explain_size,
                        noise=max(own or 0.0, _noise(reference, output.path)),
                        quantised=self._record.model.quantised,
                    ),
                )
                self.deviation += rows
                # Any two results: two of the target may lie further apart than each from the
                # reference.
                sizes = [(row.label, _larger(own, row.max_abs), row.mean_abs) for row in rows]
                self._compare(grid, reference, number, sizes)
        if reference is not None:
            self.deviation += judge_missing(grid, reference)

    def _compare(
        self,
        grid: Grid,
        other: Grid,
        number: int,
        sizes: Sequence[tuple[str | None, float | None, float | None]],
    ) -> None:
        """Rounding, decimals and classes of an output.

        The sizes are the largest and the mean difference of the whole output, whose label is
        None, followed by those of its labels.
        """
        _, largest, _ = sizes[0]
        output, arrays, judging = grid.target.outputs[number], self._record.arrays, self._judging
        if key_difference(output, other.target.outputs):
            return
        dtype = self._float_grid(output) or output.dtype
        # Results may differ without a distance, such as NaN and a number.
        differ = grid is not other or any(
            spread.changed or spread.structural for spread in grid.spreads(number)
        )
        if dtype.startswith(("float", "bfloat")):
            if grid is other and judging.requirement and not holds_numbers(grid, number, arrays):
                self.numberless.append(output.path)
            if differ:
                self.rounding += judge_rounding(
                    grid, other, number, largest or 0.0, judging, arrays
                )
            self.decimals += (
                judge_decimals(grid, other, number, label, dtype, most, mean, arrays)
                for label, most, mean in sizes
            )
        axis = find_class_axis(output, self._record.model, judging)
        if axis is not None or holds_labels(output):
            row = judge_classes(grid, other, number, axis, judging.confidence, arrays)
            if row is not None:
                self.decisions.append(row)
                if differ or row.flips:
                    self.classes.append(row)

    def _float_grid(self, output: OutputFacts) -> FloatGrid | None:
        declared = {info.name: info.dtype for info in self._record.model.outputs}
        return "bfloat16" if declared.get(output.path) == "bfloat16" else None


def _larger(a: float | None, b: float | None) -> float | None:
    """Larger of two differences, None where one of them is not known."""
    return None if a is None or b is None else max(a, b)


def _own_distances(grid: Grid, output: int) -> tuple[float | None, float | None]:
    """Largest and mean difference among the runs of a target; 0 where all are equal."""
    spreads = grid.spreads(output)
    if any(s.max_abs is None for s in spreads):
        return None, None
    return (
        max((float(s.max_abs or 0) for s in spreads), default=0.0),
        max((float(s.mean_abs or 0) for s in spreads), default=0.0),
    )


def _noise(grid: Grid, path: str) -> float:
    """Largest difference among the runs of a target in one output, as far as there is one."""
    number = grid.number_of(path)
    return 0.0 if number is None else _own_distances(grid, number)[0] or 0.0


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
            )
        )
    return tuple(rows)


def _describe_model(record: Record) -> Mapping[str, Any]:
    plain = cast(dict[str, Any], to_plain(record.model))
    for internal in ("graph", "root", "parts"):
        del plain[internal]
    return plain


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


def _find_verdict(report: Report, judging: JudgeSpec, tables: _Tables) -> Verdict:
    failures: tuple[str, ...] = ()
    if judging.requirement is not None:
        required = parse_requirement(judging.requirement)
        failures = tuple(find_failures(required, report, tables.decisions, tables.numberless))
    return Verdict(
        requirement=judging.requirement,
        met=None if judging.requirement is None else not failures,
        untested=tuple(row.name for row in report.targets if row.status != "ok"),
        failures=failures,
        sentence=compose_sentence(report),
    )
