"""What a row of a report says in words, the same in every format."""

from __future__ import annotations

from collections.abc import Sequence

from detaudit.report import Finding, Report
from detaudit.rows import Classes, Decimals, Deviation, Repeatability
from detaudit.spec import SCOPES
from detaudit.target_row import TargetRow

from . import placement, words


def kind(target: TargetRow) -> str:
    """How the target's numbers came about, so that nothing emulated passes for measured."""
    name = "emulated, not measured" if target.kind == "emulated" else target.kind
    return f"{name}, reference" if target.is_reference and name != "reference" else name


def plan(target: TargetRow) -> str:
    """Calls that ended and what was planned, as runs x sessions x processes."""
    return f"{words.plural(target.runs, 'run')} ({' x '.join(str(n) for n in target.plan)})"


def ran_on(target: TargetRow) -> str:
    """Processor and execution providers with their nodes; for torch devices with weights."""
    if target.backend == "torch":
        placed = placement.devices(
            target.placement, str(target.effective.get("cpu_capability") or "")
        )
    else:
        placed = placement.providers(target.placement)
    return f"{target.hardware}: {placed}" if target.hardware else placed


def weights(target: TargetRow) -> str | None:
    """Digest of the weights, or how many sets of them there were; None where none were told."""
    sessions = [digest for process in target.weights for digest in process]
    if not sessions:
        return None
    sets = len(set(sessions))
    if sets == 1:
        return f"weights {words.digest(sessions[0])}"
    return f"{sets} different sets of weights in {words.plural(len(sessions), 'session')}"


def other_model(target: TargetRow) -> str | None:
    """Model that ran in the place of the audited one."""
    if target.model is None:
        return None
    digest = words.digest(target.model.sha256)
    return f"model {target.model.path}, {target.model.format}, sha256 {digest}"


def shared_versions(targets: Sequence[TargetRow]) -> dict[str, str]:
    """Versions that all targets which tell any have in common."""
    told = [target.versions for target in targets if target.versions]
    first = dict(told[0]) if told else {}
    return {
        name: version
        for name, version in first.items()
        if all(versions.get(name) == version for versions in told)
    }


def in_force(target: TargetRow, keys: Sequence[str]) -> dict[str, str]:
    """Effective values of some options, those of the execution providers included."""
    nested = target.effective.get("provider_options")
    found = dict(target.effective)
    for options in nested.values() if isinstance(nested, dict) else ():
        found.update(options)
    return {key: _write(found[key]) for key in keys if found.get(key) is not None}


def _write(value: object) -> str:
    """Value in the form that options are given in."""
    return str(int(value) if isinstance(value, bool) else value)


def compared(row: Repeatability) -> bool:
    """Whether the scope was repeated at all."""
    return row.units > 1 and row.comparisons > 0


def repeated(row: Repeatability) -> str:
    """Outcome of repeating within one scope."""
    units = words.plural(row.units, row.scope)
    if not compared(row):
        return f"{units} not compared" if row.structural else "not repeated"
    if row.identical:
        return f"same bits in {row.units:,} of {units}"
    outcomes = f"{words.plural(row.distinct, 'outcome')} in {units}"
    if row.same_values:
        return f"same values in other bits, {outcomes}"
    return f"{outcomes}, only the first differs" if row.first_run_differs else outcomes


def always_same(rows: Sequence[Repeatability]) -> bool:
    """Whether an output had the same bits in all scopes, and was repeated in one at least."""
    steady = all(row.identical is not False and not row.structural for row in rows)
    return steady and any(map(compared, rows))


def bounds(rows: Sequence[Repeatability]) -> str:
    """Upper bounds for one more run, session and process."""
    found = {row.scope: row.instability_upper_bound for row in rows}
    texts = [words.bound(found.get(scope)) for scope in SCOPES]
    return " / ".join([*(text.removesuffix(" %") for text in texts[:-1]), texts[-1]])


def oddities(row: Repeatability | Deviation) -> list[str]:
    """What no figure can express: changed structure, NaN or infinity."""
    told = []
    if row.structural:
        told.append(row.structural)
    if row.nan_pattern_changed:
        told.append("NaN or infinity came or went")
    if row.max_abs is None and row.changed_share:
        told.append(f"{words.share(row.changed_share)} of the values differ")
    if isinstance(row, Deviation):
        finite = words.ratio(row.finite, row.elements)
        if row.elements == 0 and not row.structural:
            told.append("there are no values to compare")
        elif row.finite == 0 < row.elements:
            told.append(f"none of {words.plural(row.elements, 'value')} is finite on both sides")
        elif row.finite < row.elements:
            told.append(f"figures are over the {finite} values that are finite on both sides")
    return told


def sameness(row: Deviation) -> str | None:
    """Words instead of figures where a target gives the values of the reference."""
    if row.identical:
        return "same bits"
    return "same values" if row.same_values else None


def largest(row: Deviation) -> str | None:
    """Place and values of the largest difference."""
    if row.worst is None or sameness(row):
        return None
    place = f"sample {row.worst.sample} {words.shape(row.worst.index)}"
    given = words.value(row.worst.value)
    return f"largest at {place}: {given}, reference {words.value(row.worst.reference_value)}"


def publish(row: Decimals, *, limited: bool) -> tuple[str, str, str]:
    """Decimals to which results agree, and that are safe at 1 % and at 0.1 %.

    Args:
        row: the numbers
        limited: whether a difference was seen that limits them

    """
    numbers = (row.agree, row.safe_1pct, row.safe_01pct)
    agree, one, tenth = (words.places(number, limited) for number in numbers)
    return agree, one, tenth


def unlimited(report: Report) -> set[tuple[str, str, str]]:
    """Target, reference and output of all results in which no difference was seen."""
    seen = {
        (row.target, row.reference, row.output)
        for row in report.deviation
        if row.label is None and sameness(row)
    }
    outputs: dict[tuple[str, str], list[Repeatability]] = {}
    for row in report.repeatability:
        outputs.setdefault((row.target, row.output), []).append(row)
    own = (key for key, rows in outputs.items() if always_same(rows))
    return seen | {(target, target, output) for target, output in own}


def publishable(row: Decimals) -> str:
    """What the target's own runs allow to publish."""
    agree, one, tenth = publish(row, limited=True)
    agreed = "no decimal" if agree == "none" else f"{agree} decimals"
    return f"its own runs agree to {agreed}; safe at 1 %: {one}, at 0.1 %: {tenth}"


def flips(row: Classes) -> str:
    """Changed classes of all."""
    return words.ratio(row.flips, row.samples)


def class_notes(row: Classes) -> list[str]:
    """What qualifies the figures on classes."""
    notes = []
    if row.extrapolated and row.expected_flip_share is not None:
        notes.append("expected is extrapolated: fewer than 10 margins lie near zero")
    if row.ties:
        tied = words.plural(row.ties, "item")
        notes.append(f"{tied} with two equal best scores, whose class says nothing")
    if row.no_class:
        notes.append(f"{words.plural(row.no_class, 'item')} with NaN among the scores, no class")
    return notes


def concerns(finding: Finding) -> str:
    """Target and output that a finding is about."""
    return ", ".join(name for name in (finding.target, finding.output) if name)


def requirement(report: Report) -> str | None:
    """Whether the requirement is met; None where nothing was required."""
    verdict = report.verdict
    if verdict.requirement is None:
        return None
    state = {True: "met", False: "NOT MET", None: "not decided"}[verdict.met]
    origin = f" (from {verdict.origin})" if verdict.origin else ""
    return f"Requirement {verdict.requirement}{origin}: {state}"


def confidence(report: Report) -> str:
    """Confidence of the report's bounds."""
    levels = sorted({row.confidence for row in report.repeatability})
    return " or ".join(f"{100 * level:g} %" for level in levels) or words.NOTHING
