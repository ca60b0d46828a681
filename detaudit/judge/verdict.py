"""The answer as a sentence that a documentation author can quote."""

from __future__ import annotations

import math
from collections.abc import Iterator

from detaudit.judge.causes import name_some, plural
from detaudit.judge.weights import APART, count_sets
from detaudit.report import Report
from detaudit.rows import Repeatability
from detaudit.spec import SCOPES
from detaudit.target_row import TargetRow

_BITS_ONLY = "the sign of zeros or what NaNs carry"
_UNITS = {"run": "run to run", "session": "session to session", "process": "process to process"}


def compose_sentence(report: Report) -> str:
    """Verdict in words.

    Never says more than was seen: what was equal comes with the bound that the number of
    sessions and processes supports, what was not audited is named.

    Args:
        report: report with all tables

    """
    repeated: dict[str, list[TargetRow]] = {}
    for target in report.targets:
        if target.status == "ok":
            repeated.setdefault(_repeatability(target, report), []).append(target)
    parts = [f"On {_join(targets)} {text}" for text, targets in repeated.items()]
    for target in report.targets:
        if target.status == "ok" and not target.is_reference:
            parts += _deviation(target, report)
    untested = [row.name for row in report.targets if row.status != "ok"]
    if untested:
        parts.append(f"Not audited: {name_some(untested)}.")
    return " ".join(parts)


def _repeatability(target: TargetRow, report: Report) -> str:
    rows = [row for row in report.repeatability if row.target == target.name]
    varying = [row for row in rows if row.identical is False]
    if (sets := count_sets(target.weights)) > 1:
        sessions = plural(sum(map(len, target.weights)), "session")
        told = f"{sessions} had {sets} different sets of weights and are not the same model."
        if not any(row.comparisons for row in rows):
            return told
        steady = "no difference was seen."
        return f"{told} Among calls with the same weights {_drift(varying) if varying else steady}"
    if not any(row.comparisons for row in rows):
        return "every input ran once, and there is nothing to compare with."
    if not varying:
        return f"no difference was seen in {plural(target.runs, 'run')}{_bounds(rows)}."
    return _drift(varying)


def _drift(varying: list[Repeatability]) -> str:
    scope = min((row.scope for row in varying), key=SCOPES.index)
    narrow = [row for row in varying if row.scope == scope]
    sizes = [row.max_abs for row in varying if row.max_abs]
    size = f", by up to {max(sizes):.1e}" if sizes else ""
    if all(row.same_values for row in varying):
        size = f", in {_BITS_ONLY} only"
    if scope == "run" and all(row.first_run_differs for row in narrow):
        return f"the first run of a session differs from the rest{size}."
    worst = max(narrow, key=lambda row: row.distinct)
    how = f"{worst.distinct} distinct results of {worst.units}"
    return f"results differ from {_UNITS[scope]} ({how}){size}."


def _join(targets: list[TargetRow]) -> str:
    names = [
        target.name if target.kind == "measured" else f"{target.name} ({target.kind})"
        for target in targets
    ]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _bounds(rows: list[Repeatability]) -> str:
    """What the number of fresh sessions and processes supports."""
    found = []
    for scope, word in (("process", "process"), ("session", "session")):
        bounds = [row.instability_upper_bound for row in rows if row.scope == scope]
        known = [bound for bound in bounds if bound is not None]
        if known:
            # Up, so that the sentence never claims more than the bound.
            percent = math.ceil(max(known) * 1000 - 1e-9) / 10
            found.append(f"a fresh {word} in at most {percent:g} % of cases")
    if not found:
        return " of one session, which tells nothing of a fresh session or process"
    confidence = f"with {rows[0].confidence * 100:g} % confidence"
    return f" ({confidence}, {' and '.join(found)} would differ)"


def _deviation(target: TargetRow, report: Report) -> Iterator[str]:
    rows = [row for row in report.deviation if row.target == target.name and row.label is None]
    if not rows:
        return
    reference = rows[0].reference
    if any(row.structural in APART for row in rows):
        base = next(row for row in report.targets if row.name == reference)
        if count_sets(base.weights) > 1:
            yield f"{target.name} is not compared with {reference}, whose weights vary."
        elif count_sets(target.weights) == 1:
            yield f"{target.name} is not the same model as {reference}: its weights are others."
        return
    verb = "gave" if target.kind == "measured" else "is predicted to give"
    if all(row.identical for row in rows):
        yield f"{target.name} {verb} the bits of {reference}."
        return
    if broken := [row.output for row in rows if row.structural]:
        yield f"{target.name} cannot be compared with {reference} in {name_some(broken)}."
    sizes = [row for row in rows if row.max_abs]
    if sizes:
        worst = max(sizes, key=lambda row: row.max_abs or 0.0)
        verb = "deviates" if target.kind == "measured" else "is predicted to deviate"
        yield (
            f"{target.name} {verb} from {reference} by up to {worst.max_abs:.1e}"
            f" ({worst.output}){_decimals(target.name, report)}."
        )
    elif all(row.same_values for row in rows):
        yield f"{target.name} differs from {reference} in {_BITS_ONLY} only."
    elif not broken:
        yield f"{target.name} differs from {reference} in values that have no distance."
    for row in report.classes:
        judged = row.flips or row.flip_upper_bound is not None
        if row.target == target.name and row.reference == reference and judged:
            yield (
                f"{row.flips} of {row.samples} classes of {row.output} changed."
                if row.flips
                else f"No class of {row.output} changed ({plural(row.samples, 'decision')})."
            )


def _decimals(target: str, report: Report) -> str:
    rows = [
        row
        for row in report.decimals
        if row.target == target and row.reference != target and row.label is None
    ]
    agree = [row.agree for row in rows if row.agree is not None]
    safe = [row.safe_1pct for row in rows if row.safe_1pct is not None]
    if not agree or not safe:
        return ""
    if min(safe) < 0:
        return "; not even the units of the printed values are safe"
    agreed = "not all results agree to the units"
    if min(agree) >= 0:
        agreed = f"any two results agree to {plural(min(agree), 'decimal')}"
    safely = plural(min(safe), "decimal")
    return f"; {agreed}, and at {safely} at most 1 % of printed values change"
