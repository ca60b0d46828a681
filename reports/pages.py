"""Pages of a report on devices in Markdown; only what was measured gets a number."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from itertools import groupby, islice

import numpy as np

from detaudit.judge.labels import find_labels
from detaudit.record import Record, array_key, table_key
from detaudit.report import Report
from detaudit.target_row import TargetRow

_FEW = 6
"""Values of an output that are shown; the CSV file holds more."""

_SHOWN = ("threads", "opt", "precision", "deterministic", "matmul")
"""Of what was in force, beside what providers and torch's flags tell."""


def make_page(name: str, report: Report, record: Record, kept: str) -> str:
    """Page of one model.

    Args:
        name: of the model
        report: what was judged
        record: what was captured
        kept: what became of the record, in words

    """
    findings = [f"- {f.level}: {f.target or ''} {f.message}" for f in report.findings]
    return _join(
        f"# {name}",
        report.verdict.sentence,
        f"{_describe_run(report)} {kept}",
        "## Targets",
        _table("target, ran on, nodes or weights, options in force", _target_rows(report)),
        "## Outputs, run by run",
        *_values(record),
        "## Deviation from the reference",
        _table(
            "target, output, label, mean Δ, max abs Δ, max ULP, changed", _deviation_rows(report)
        ),
        "## Repeatability",
        _table(
            "target, output, scope, distinct, max abs Δ, chance of another at most",
            _repeatability_rows(report),
        ),
        "## Decimals",
        _table(
            "target, against, output, label, agree, 1 % change, 0.1 % change", _decimal_rows(report)
        ),
        "## Findings",
        "\n".join(findings) or "None.",
    )


def _describe_run(report: Report) -> str:
    model, inputs = report.model, report.inputs
    arrays = ", ".join(f"`{a['name']}` {a['dtype']} {list(a['shape'])}" for a in inputs["arrays"])
    runs, sessions, processes = report.targets[0].plan
    return (
        f"Model sha256 `{model['sha256']}`. Input: {inputs['source']}, seed {inputs['seed']},"
        f" {arrays}, sha256 `{inputs['sha256']}`. Planned for every target: {runs} runs in each of"
        f" {sessions} sessions in each of {processes} processes."
    )


def make_index(
    title: str, notes: Sequence[str], audits: Sequence[tuple[str, Report, Record]]
) -> str:
    """Overview of all models, and the machine.

    Args:
        title: of the page
        notes: paragraphs above the table
        audits: name, report and record of each model

    """
    rows = [
        (f"[{name}]({name}.md)", *row) for name, report, _ in audits for row in _overview(report)
    ]
    return _join(
        f"# {title}",
        *notes,
        _table("model, target, output, mean Δ, max abs Δ, apart run to run, agree", rows),
        "## Machine",
        _table("what, value", _machine_rows(audits[0][1], audits[0][2])),
    )


def _overview(report: Report) -> Iterator[tuple[str, ...]]:
    for target in report.targets:
        if target.status != "ok":
            yield f"`{target.name}`", _why(target)
            continue
        for output in dict.fromkeys(r.output for r in report.repeatability):
            deviation, spread, decimals = (
                [r for r in rows if (r.target, r.output) == (target.name, output)]
                for rows in (report.deviation, report.repeatability, report.decimals)
            )
            yield (
                f"`{target.name}`",
                f"`{output}`",
                _small(deviation[0].mean_signed) if deviation else "reference",
                _small(deviation[0].max_abs) if deviation else "",
                _small(max((r.max_abs for r in spread if r.max_abs is not None), default=0.0)),
                *(_agree(r.agree) for r in decimals if r.label is None and r.reference != r.target),
            )


def _target_rows(report: Report) -> Iterator[tuple[str, ...]]:
    for target in report.targets:
        if target.status != "ok":
            yield f"`{target.name}`", _why(target)
            continue
        placed = ", ".join(f"{p} {n}" for p, n in sorted(target.placement.items()))
        effective = target.effective
        shown = {key: effective.get(key) for key in _SHOWN}
        for told in (*effective.get("provider_options", {}).values(), effective.get("flags", {})):
            shown.update(sorted(told.items()))
        text = ", ".join(f"{key}={value}" for key, value in shown.items() if value is not None)
        yield f"`{target.name}`", target.hardware, placed, text


def _values(record: Record) -> Iterator[str]:
    """First values of every output; runs that follow each other with the same bits share a row."""
    for number, target in enumerate(record.targets):
        if target.status != "ok":
            continue
        runs = record.arrays[table_key(number, "runs")]
        outcome = record.arrays[table_key(number, "outcome")]
        order = [i for i, run in enumerate(runs) if run["sample"] == 0]
        for index, output in enumerate(target.outputs):
            labels = find_labels(output, record.model, record.spec.judging)
            rows = []
            for which, group in groupby(order, key=lambda i, o=index: int(outcome[i, o])):
                members = list(group)
                key = array_key(number, 0, index, which)
                array = record.arrays.get(key)
                values = ["not kept"] if array is None else _first_values(array)
                rows.append((_stretch(runs[members[0]], runs[members[-1]]), *values))
            width = max(len(row) for row in rows) - 1
            names = labels.names if labels and -labels.axis == 1 else None
            header = [names[i] if names and i < len(names) else str(i) for i in range(width)]
            yield f"`{target.target.name}`, `{output.path}` {list(output.shape)}:"
            yield _table(("process.session.run", *header), rows)


def _stretch(first: np.void, last: np.void) -> str:
    names = [f"{r['process']}.{r['session']}.{r['run']}" for r in (first, last)]
    return names[0] if names[0] == names[1] else f"{names[0]} to {names[1]}"


def _first_values(array: np.ndarray) -> list[str]:
    values = array.ravel()[:_FEW]
    return [f"{v:.8g}" if array.dtype.kind == "f" else str(v) for v in values.tolist()]


def _deviation_rows(report: Report) -> Iterator[tuple[str, ...]]:
    for _, rows in groupby(report.deviation, key=lambda row: (row.target, row.output)):
        for row in islice(rows, _FEW + 1):
            yield (
                f"`{row.target}`",
                f"`{row.output}`",
                row.label or "all",
                _small(row.mean_signed),
                _small(row.max_abs),
                "–" if row.max_ulp is None else str(row.max_ulp),
                f"{row.changed_share:.1%}",
            )


def _repeatability_rows(report: Report) -> Iterator[tuple[str, ...]]:
    for row in report.repeatability:
        bound = row.instability_upper_bound
        yield (
            f"`{row.target}`",
            f"`{row.output}`",
            row.scope,
            f"{row.distinct} of {row.units}",
            _small(row.max_abs),
            "–" if bound is None else f"{bound:.0%}",
        )


def _decimal_rows(report: Report) -> Iterator[tuple[str, ...]]:
    for _, rows in groupby(report.decimals, key=lambda row: (row.target, row.output)):
        for row in islice(rows, _FEW + 1):
            yield (
                f"`{row.target}`",
                "itself" if row.reference == row.target else f"`{row.reference}`",
                f"`{row.output}`",
                row.label or "all",
                *(_agree(value) for value in (row.agree, row.safe_1pct, row.safe_01pct)),
            )


def _machine_rows(report: Report, record: Record) -> Iterator[tuple[str, str]]:
    environment = report.environment
    yield "processor", f"{environment['cpu']['name']}, {environment['cpu']['cores']} cores"
    yield "system", environment["system"]
    yield "python", environment["python"]
    for target in record.targets:
        if nvidia := target.runtime.get("nvidia"):
            for index, device in enumerate(nvidia.get("devices", ())):
                yield f"cuda:{index}", ", ".join(f"{k} {v}" for k, v in device.items())
            yield "CUDA version of the driver", nvidia.get("driver", nvidia.get("error"))
            yield "ONNX Runtime build", target.runtime.get("build", "not told")
            break
    wanted = re.compile(r"nvidia[-_]|onnx|numpy$|torch$|cuda", re.I)
    packages = {str(d.metadata["Name"]): d.version for d in metadata.distributions()}
    for name, version in sorted(packages.items()):
        if wanted.match(name):
            yield name, version
    yield from environment["variables"].items()


def _why(target: TargetRow) -> str:
    return textwrap.shorten(f"{target.status}: {target.reason}", 300, placeholder=" …")


def _agree(decimals: int | None) -> str:
    return "every one" if decimals is None else str(decimals)


def _small(value: float | None) -> str:
    return "–" if value is None else "0" if value == 0 else f"{value:.2e}"


def _join(*paragraphs: str) -> str:
    return "\n\n".join(paragraphs) + "\n"


def _table(header: str | Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Table in Markdown; short rows are filled up."""
    names = header.split(", ") if isinstance(header, str) else list(header)
    lines = [names, ["---"] * len(names)]
    for row in rows:
        cells = [cell.replace("|", "\\|").replace("\n", " ") for cell in row]
        lines.append(cells + [""] * (len(names) - len(cells)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
