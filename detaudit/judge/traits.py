"""What torch told of a model while it ran, where it matters for its results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from detaudit.judge.causes import name_some
from detaudit.judge.torch_causes import name_draws, name_ops
from detaudit.record import Record, TargetRecord
from detaudit.report import Finding, Report
from detaudit.traits import TrainingTrait


def observe_traits(record: Record, report: Report) -> Iterator[Finding]:
    """Findings on what the targets that torch ran told.

    Args:
        record: what happened
        report: tables made of it

    """
    ran = [t for t in record.targets if t.status == "ok" and t.target.backend == "torch"]
    random = {target.target.model for target in ran if name_draws(target.traits)}
    for target in ran:
        yield from _draws(target, report)
        yield from _training(target, evaluated=record.spec.evaluate)
        yield from _changes(target)
        yield from _order(target, report)
        if target.target.option("compile") == "1" and target.target.model in random:
            yield _compiled(target)


def _draws(target: TargetRecord, report: Report) -> Iterator[Finding]:
    """Random numbers that no result shows."""
    name, draws = target.target.name, name_draws(target.traits)
    if target.traits.seeds:
        message = (
            f"Calls seed generators themselves ({name_some(target.traits.seeds)}): their random"
            " numbers are those of that seed, and so are the numbers that others draw afterwards."
        )
        yield Finding("warning", "seeds-itself", name, None, message)
        return
    if not draws or _drifts(name, report):
        return
    colon = ":" if target.traits.random_ops else ""
    repeated = any(
        row.comparisons for row in report.repeatability if (row.target, row.scope) == (name, "run")
    )
    if repeated:
        message = (
            f"The model draws random numbers{colon} {draws}. But no difference was seen: they may"
            " have no effect on the outputs, or need a rarer input."
        )
        yield Finding("info", "random-ops-without-effect", name, None, message)
    else:
        message = (
            f"The model draws random numbers{colon} {draws}. Each session made one call per input,"
            " which cannot show what they change: let --runs be 2 or more."
        )
        yield Finding("warning", "random-ops", name, None, message)


def _training(target: TargetRecord, *, evaluated: bool) -> Iterator[Finding]:
    if target.traits.training:
        modules = name_some(map(_describe, target.traits.training))
        cure = (
            "--eval switched the model to evaluation mode, which does not change that."
            if evaluated
            else "Nothing was switched; --eval switches the model to evaluation mode."
        )
        message = f"{modules}. {cure}"
        # A model as a whole is named where no module in it is known to act on the mode.
        known = any(trait.module for trait in target.traits.training)
        level: Literal["info", "warning"] = "warning" if known else "info"
        yield Finding(level, "training-mode", target.target.name, None, message)


def _describe(trait: TrainingTrait) -> str:
    name = f"{trait.module} ({trait.type})" if trait.module else f"the model itself ({trait.type})"
    return f"{name} {trait.effect}"


def _changes(target: TargetRecord) -> Iterator[Finding]:
    name, traits = target.target.name, target.traits
    if traits.changed_weights:
        message = (
            f"Calls change weights or buffers of the model ({name_some(traits.changed_weights)}):"
            " a result may depend on how often it was called before."
        )
        yield Finding("warning", "weights-changed", name, None, message)
    if traits.nondeterministic:
        ops = ", ".join(traits.nondeterministic)
        message = f"Operators without a deterministic implementation ran: {ops}."
        yield Finding("warning", "nondeterministic-ops", name, None, message)
    for note in traits.notes:
        yield Finding("info", "note", name, None, note)


def _order(target: TargetRecord, report: Report) -> Iterator[Finding]:
    """Operators whose result is undefined where indices repeat."""
    if not target.traits.unordered_ops:
        return
    name = target.target.name
    deviates = any(
        not row.identical and row.structural is None
        for row in report.deviation
        if row.target == name
    )
    seen = (
        "Results differ here, which is undefined by specification where places repeat, and no"
        " defect of a device."
        if deviates or _drifts(name, report)
        else "No difference was seen here; other devices may differ."
    )
    message = (
        f"{name_ops(target.traits.unordered_ops)}: which of several values for one place counts is"
        f" undefined. {seen}"
    )
    yield Finding("info", "undefined-order", name, None, message)


def _compiled(target: TargetRecord) -> Finding:
    message = (
        "torch.compile draws random numbers of its own: what depends on them differs by design"
        " from results without compile=1. torch._inductor.config.fallback_random = True lets both"
        " draw the same."
    )
    return Finding("info", "compiled-random", target.target.name, None, message)


def _drifts(name: str, report: Report) -> bool:
    return any(row.identical is False for row in report.repeatability if row.target == name)
