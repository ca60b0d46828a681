"""The outputs of another form of the model, under the names that the audited one gives them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from detaudit.judge.causes import name_some
from detaudit.record import OutputFacts, Record, TargetRecord
from detaudit.report import Finding

_STRUCTURE = re.compile(r"(?:len|present)\(.*\)")


@dataclass(frozen=True, slots=True)
class Match:
    """Which outputs of two models are compared.

    Attributes:
        by_order: pairs of a path of the other model and one of the audited model
        left_out: paths of either model that stand alone

    """

    by_order: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]


def match_outputs(record: Record) -> tuple[Record, tuple[Finding, ...]]:
    """Record in which outputs of other models have the paths of the audited one.

    Args:
        record: what happened

    Returns:
        the record, and what a reader should know of the matching

    """
    base = find_base(record)
    targets: list[TargetRecord] = []
    findings: list[Finding] = []
    for target in record.targets:
        if base is not None and target.status == "ok" and target.target.model != base.target.model:
            match = _match(target.outputs, base.outputs, selected=bool(record.spec.outputs))
            findings += _tell(target, base, match)
            target = _rename(target, dict(match.by_order))
        targets.append(target)
    return dataclasses.replace(record, targets=tuple(targets)), tuple(findings)


def find_base(record: Record) -> TargetRecord | None:
    """Target whose names of outputs count: the reference where it runs the audited model.

    Args:
        record: what happened

    Returns:
        the target, None where none ran to its end

    """
    name = record.spec.judging.reference or record.targets[0].target.name
    ran = [target for target in record.targets if target.status == "ok"]
    ran.sort(key=lambda target: (target.target.model is not None, target.target.name != name))
    return ran[0] if ran else None


def tells_structure(path: str) -> bool:
    """Whether an output is no value of the model but the length or presence of one.

    Examples:
        >>> tells_structure("len(boxes)"), tells_structure("boxes[0]")
        (True, False)

    """
    return _STRUCTURE.fullmatch(path) is not None


def _match(others: Iterable[OutputFacts], own: Iterable[OutputFacts], *, selected: bool) -> Match:
    """Match by path, and by order what is left where it is equally many.

    Where outputs were selected, those that the other model has beside them are not asked for.
    """
    theirs, mine = _list_values(others), _list_values(own)
    left = [path for path in theirs if path not in mine]
    wanted = [path for path in mine if path not in theirs]
    if selected and not wanted:
        return Match((), ())
    if len(left) == len(wanted):
        return Match(tuple(zip(left, wanted, strict=True)), ())
    return Match((), (*left, *wanted))


def _list_values(outputs: Iterable[OutputFacts]) -> dict[str, None]:
    """Paths of values in their order, as the keys of a map, where each is found at once."""
    return dict.fromkeys(facts.path for facts in outputs if not tells_structure(facts.path))


def _tell(target: TargetRecord, base: TargetRecord, match: Match) -> Iterator[Finding]:
    name = target.target.name
    if match.by_order:
        pairs = name_some(f"{theirs} stands for {mine}" for theirs, mine in match.by_order)
        message = f"Outputs of other names are matched by order: {pairs}."
        yield Finding("info", "matched-by-order", name, None, message)
    if match.left_out:
        message = (
            f"No counterpart is found for {name_some(match.left_out)}: neither the names nor the"
            f" number of outputs are those of {base.target.name}. Only outputs of the same name"
            " are compared."
        )
        yield Finding("warning", "outputs-unmatched", name, None, message)


def _rename(target: TargetRecord, names: Mapping[str, str]) -> TargetRecord:
    outputs = tuple(
        dataclasses.replace(facts, path=names.get(facts.path, facts.path))
        for facts in target.outputs
    )
    return dataclasses.replace(target, outputs=outputs)
