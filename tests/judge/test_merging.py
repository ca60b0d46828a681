from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from detaudit.judge.merging import merge_records
from detaudit.record import Record
from detaudit.spec import JudgeSpec
from tests.judge.named import name
from tests.records import always, floats, make_model, make_record

NEW = make_record({"cpu": always(floats(1)), "cpu[opt=off]": always(floats(2))})
OLD = make_record({"cpu": always(floats(3)), "cuda:0": "no driver"})


class Watched(Mapping[str, np.ndarray]):
    """Arrays that tell which of them were read."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays = arrays
        self.read: list[str] = []

    def __getitem__(self, key: str) -> np.ndarray:
        self.read.append(key)
        return self._arrays[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def merge(**changes: Any) -> Record:
    old = replace(OLD, **changes)
    records = [name(NEW, "new"), name(old, "old")]
    return merge_records(records, records[0], JudgeSpec(reference="new:cpu"))


def test_targets_bear_the_names_of_their_records() -> None:
    merged = merge()
    names = [target.target.name for target in merged.targets]
    assert names == ["new:cpu", "new:cpu[opt=off]", "old:cpu", "old:cuda:0"]
    assert [t.target.family for t in merged.targets] == ["cpu", "cpu", "cpu", "cuda"]
    assert merged.spec.targets == tuple(target.target for target in merged.targets)


def test_arrays_are_those_of_the_records_and_read_when_asked_for() -> None:
    watched = Watched(OLD.arrays)
    merged = merge(arrays=watched)
    assert watched.read == []
    assert merged.arrays["2/0/0/0"] is OLD.arrays["0/0/0/0"]
    assert watched.read == ["0/0/0/0"]
    assert merged.arrays["1/0/0/0"] is NEW.arrays["1/0/0/0"]
    assert sorted(merged.arrays) == sorted(
        [*NEW.arrays, *(f"2/{key[2:]}" for key in OLD.arrays if key.startswith("0/"))]
    )
    for key in ("3/runs", "9/0/0/0", "runs", "-1/runs", ""):
        with pytest.raises(KeyError):
            merged.arrays[key]


def test_another_model_is_another_form_of_the_model() -> None:
    other = make_model("y", path="b.onnx", sha256="cd" * 32)
    merged = merge(model=other)
    assert merged.model == NEW.model
    assert [t.target.name for t in merged.targets][2] == "old:cpu[model=b.onnx]"
    assert [t.model for t in merged.targets] == [None, None, other, other]


def test_notes_say_whose_they_are_unless_all_have_them() -> None:
    records = [name(replace(NEW, notes=("a", "b")), "new"), name(replace(OLD, notes=("b",)), "old")]
    merged = merge_records(records, records[0], JudgeSpec(reference="new:cpu"))
    assert merged.notes == ("new: a", "b")


def test_one_interrupted_record_makes_an_interrupted_comparison() -> None:
    assert not merge().interrupted
    assert merge(interrupted=True).interrupted
