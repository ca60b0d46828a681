"""What is told where the targets, or the sessions of one, did not run the same model."""

from __future__ import annotations

from collections.abc import Iterator

from detaudit.judge.causes import plural
from detaudit.judge.weights import count_sets, read_weights, tell_apart
from detaudit.record import Record, TargetRecord
from detaudit.report import Finding

_ISA = "env.ATEN_CPU_CAPABILITY"


def observe_weights(record: Record) -> Iterator[Finding]:
    """Findings on weights that differ, which is never drift.

    Args:
        record: what happened

    """
    name = record.spec.judging.reference or record.targets[0].target.name
    ran = [target for target in record.targets if target.status == "ok"]
    reference = next((target for target in ran if target.target.name == name), None)
    for target in ran:
        message = None
        if count_sets(read_weights(target)) > 1:
            message = _describe_sessions(record, target)
        elif reference is not None and tell_apart(target, reference):
            message = _describe_other(record, target, reference)
        if message is not None:
            yield Finding("error", "not-the-same-model", target.target.name, None, message)


def _describe_sessions(record: Record, target: TargetRecord) -> str:
    weights = read_weights(target)
    sessions = plural(sum(map(len, weights)), "session")
    cure = _cure(record, target)
    cause = (
        "The factory reads something that changes, or draws from a generator that no seed reaches:"
        f" {cure}"
        if record.spec.seeded
        else f"The factory draws its weights and nothing seeded it: leave out --no-seed, or {cure}"
    )
    return (
        f"{count_sets(weights)} different sets of weights in {sessions} of"
        f" {plural(len(weights), 'process')}. These are different models, and how far their"
        f" results lie apart is no drift. {cause}"
    )


def _describe_other(record: Record, target: TargetRecord, reference: TargetRecord) -> str:
    name = reference.target.name
    if count_sets(read_weights(reference)) > 1:
        return f"Not compared with {name}, whose weights differ from session to session."
    told = f"Its weights are not those of {name}, and its results are not compared with them."
    cure = _cure(record, target)
    if not record.spec.seeded:
        return f"{told} Nothing seeded what draws them: leave out --no-seed, or {cure}"
    elsewhere = _find_other_draws(target, reference)
    if elsewhere:
        return f"{told} From the same seed torch draws other numbers {elsewhere}: {cure}"
    return f"{told} The factory reads something that is not the same for both: {cure}"


def _find_other_draws(target: TargetRecord, reference: TargetRecord) -> str:
    """What makes torch draw other numbers from the same seed, in words, empty for nothing known."""
    versions = [one.versions.get("torch") for one in (target, reference)]
    found = []
    if target.target.option(_ISA) != reference.target.option(_ISA):
        found.append("under another ATEN_CPU_CAPABILITY")
    if target.target.device != reference.target.device:
        found.append("on another device")
    if versions[0] != versions[1]:
        found.append(f"in another version ({versions[0]} against {versions[1]})")
    elif target.target.option("python") != reference.target.option("python"):
        found.append("under another Python")
    return " and ".join(found)


def _cure(record: Record, target: TargetRecord) -> str:
    model = target.model or record.model
    if model.recipe.get("model", {}).get("checkpoint"):
        return "let the checkpoint hold all of them."
    if model.format != "torch":
        return "the file does not hold all of them."
    return f"save the weights once and give them ({model.path}:weights.pth)."
