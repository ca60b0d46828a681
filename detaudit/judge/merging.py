"""Several records as one, whose targets bear the names of their records."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from detaudit.record import Record, TargetRecord
from detaudit.spec import JudgeSpec


@dataclass(frozen=True, slots=True)
class Named:
    """A record and what it is called.

    Attributes:
        name: unlike that of any other record of the comparison
        path: file that holds it
        record: what happened

    """

    name: str
    path: str
    record: Record


def merge_records(records: Sequence[Named], base: Named, judging: JudgeSpec) -> Record:
    """Record with the targets of all records; no array is read or copied.

    A target is called such as ``old:cpu``. Where a record has another model than the base, its
    targets are those of another form of the model, as the option ``model=`` makes them.

    Args:
        records: at least one
        base: the one of the reference, whose model and inputs the others are held to
        judging: how to judge; its reference is a name of the merged record

    Returns:
        what happened; its arrays can be read as long as those of the records can

    """
    targets = []
    places = []
    for one in records:
        for number, target in enumerate(one.record.targets):
            targets.append(_rename(target, one, base))
            places.append((one.record.arrays, number))
    spec = dataclasses.replace(
        base.record.spec, targets=tuple(target.target for target in targets), judging=judging
    )
    return dataclasses.replace(
        base.record,
        spec=spec,
        targets=tuple(targets),
        interrupted=any(one.record.interrupted for one in records),
        notes=tuple(_join_notes(records)),
        arrays=_Merged(places),
    )


def _rename(target: TargetRecord, own: Named, base: Named) -> TargetRecord:
    asked = dataclasses.replace(target.target, record=own.name)
    if target.model is not None or own.record.model.sha256 == base.record.model.sha256:
        return dataclasses.replace(target, target=asked)
    model = own.record.model
    options = tuple(sorted({**dict(asked.options), "model": str(model.path)}.items()))
    return dataclasses.replace(
        target, target=dataclasses.replace(asked, options=options), model=model
    )


def _join_notes(records: Sequence[Named]) -> Iterator[str]:
    """Remarks of all records, each once; one that not all have says whose it is."""
    for note in dict.fromkeys(note for one in records for note in one.record.notes):
        having = [one.name for one in records if note in one.record.notes]
        yield note if len(having) == len(records) else f"{', '.join(having)}: {note}"


class _Merged(Mapping[str, np.ndarray]):
    """Arrays of several records under the numbers that their targets have in the merged one."""

    def __init__(self, places: Sequence[tuple[Mapping[str, np.ndarray], int]]) -> None:
        self._places = places

    def __getitem__(self, key: str) -> np.ndarray:
        number, _, rest = key.partition("/")
        if not number.isdecimal() or int(number) >= len(self._places):
            raise KeyError(key)
        arrays, own = self._places[int(number)]
        return arrays[f"{own}/{rest}"]

    def __iter__(self) -> Iterator[str]:
        for number, (arrays, own) in enumerate(self._places):
            for key in arrays:
                owner, _, rest = key.partition("/")
                if owner == str(own):
                    yield f"{number}/{rest}"

    def __len__(self) -> int:
        return sum(1 for _ in self)
