"""What meets a requirement, what misses it, and what was not tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detaudit.judge.evidence import Evidence, Place
from detaudit.judge.weights import APART
from detaudit.report import Check
from detaudit.requirement import Requirement
from detaudit.rows import Deviation, Repeatability

_SPECIAL = "NaN or infinity came or went"


def check_requirements(requirements: Sequence[Requirement], evidence: Evidence) -> Iterator[Check]:
    """Hold every target to every condition, output by output.

    What was not audited never meets a condition.

    Args:
        requirements: conditions
        evidence: what they are held against

    """
    for requirement in requirements:
        for row in evidence.targets:
            if row.status != "ok":
                why = f"{row.name} was not audited ({row.status}: {row.reason})"
                yield Check(requirement.text, row.name, None, "untested", (why,))
            else:
                yield from _check_target(requirement, row.name, evidence)


def _check_target(requirement: Requirement, target: str, evidence: Evidence) -> Iterator[Check]:
    text, asked = requirement.text, requirement.output
    seen = sorted(output for name, output in evidence.whole if name == target)
    outputs = [output for output in seen if asked in (None, output)]
    if not outputs:
        what = "no output" if asked is None else f"no output '{asked}'"
        # A name that no target knows is wrong for all of them.
        known = any(output == asked for _, output in evidence.whole)
        why = f"{target}: {what} was audited" if known or asked is None else f"{what} was audited"
        yield Check(text, target, asked, "untested", (why,))
        return
    about_classes = requirement.kind in ("no-class-flip", "flip-rate")
    if about_classes:
        outputs = _keep_decided(outputs, target, evidence)
    for output in outputs:
        if (target, output) not in evidence.compared:
            why = f"{output}: nothing was compared, one run of one target proves nothing"
            yield Check(text, target, output, "untested", (why,))
            continue
        miss = _miss_classes if about_classes else _MISS[requirement.kind]
        failures = tuple(dict.fromkeys(miss(requirement, (target, output), evidence)))
        yield Check(text, target, output, "missed" if failures else "met", failures)
    if not outputs:
        why = "no output holds class scores; name it with --classes"
        yield Check(text, target, asked, "untested", (why,))


def _miss_identity(_: Requirement, place: Place, evidence: Evidence) -> Iterator[str]:
    for row in evidence.whole[place]:
        if row.identical is False and row.structural not in APART:
            yield f"{_where(row)}: the bits differ"
        elif row.structural:
            yield f"{_where(row)}: {row.structural}"


def _miss_distance(requirement: Requirement, place: Place, evidence: Evidence) -> Iterator[str]:
    for row in evidence.whole[place]:
        value = row.max_abs if requirement.kind == "max_abs" else row.max_ulp
        if row.structural or row.nan_pattern_changed:
            yield f"{_where(row)}: {row.structural or _SPECIAL}"
        elif value is None and row.identical is False:
            yield f"{_where(row)}: the values differ and have no {requirement.kind}"
        elif value is not None and value > requirement.limit:
            unit = " ULP" if requirement.kind == "ulp" else ""
            yield f"{_where(row)}: {value:.3g}{unit} is more than {requirement.limit:g}{unit}"


def _miss_decimals(requirement: Requirement, place: Place, evidence: Evidence) -> Iterator[str]:
    target, output = place
    if place in evidence.numberless:
        yield f"{output}: no value has decimals, all are NaN or infinite"
    rounded = evidence.rounding.get(place, ())
    for rounding in rounded:
        if rounding.decimals == requirement.limit and rounding.changed:
            yield (
                f"{target}, {output}: {rounding.changed} of {rounding.values} values print"
                f" differently at {rounding.decimals} decimals"
            )
    for row in evidence.whole[place]:
        if row.structural or row.nan_pattern_changed:
            yield f"{target}, {output}: {row.structural or _SPECIAL}"
        elif row.same_values is False and not rounded:
            # Integers, booleans and texts that differ print differently at any decimals.
            yield f"{target}, {output}: {row.changed_share:.2g} of the values differ"


_MISS = {
    "identical": _miss_identity,
    "max_abs": _miss_distance,
    "ulp": _miss_distance,
    "decimals": _miss_decimals,
}


def _keep_decided(outputs: Sequence[str], target: str, evidence: Evidence) -> list[str]:
    """Outputs that hold classes.

    Which do is not looked up where weights differ: there any that cannot be compared may.
    """
    decided = {output for _, output in evidence.decisions}
    return [
        output
        for output in outputs
        if output in decided
        or (
            not evidence.one_model and any(row.structural for row in evidence.whole[target, output])
        )
    ]


def _miss_classes(requirement: Requirement, place: Place, evidence: Evidence) -> Iterator[str]:
    where = ", ".join(place)
    broken = [row.structural for row in evidence.whole[place] if row.structural]
    yield from (f"{where}: {why}" for why in broken)
    rows = evidence.decisions.get(place, ())
    if not rows and not broken:
        yield f"{where}: nothing was decided"
    for row in rows:
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


def _where(row: Repeatability | Deviation) -> str:
    scope = f"{row.scope} scope" if isinstance(row, Repeatability) else f"against {row.reference}"
    return f"{row.target}, {row.output}, {scope}"
