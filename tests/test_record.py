from __future__ import annotations

import dataclasses
import itertools

import pytest

from detaudit.record import RUN_COLUMNS, Record, TargetRecord, array_key, table_key
from detaudit.target import parse_target
from tests.records import always, floats, make_record


def test_keys_never_collide() -> None:
    whats = (0, 1, 11, "low", "high")
    keys = [array_key(*place, what) for *place, what in itertools.product(
        range(12), range(12), range(3), whats
    )]  # fmt: skip
    keys += [table_key(target, table) for target in range(12) for table in ("runs", "outcome")]
    assert len(keys) == len(set(keys))


def test_keys_are_portable_names_of_files() -> None:
    for key in (array_key(0, 1, 2, "low"), array_key(0, 1, 2, 3), table_key(0, "runs")):
        assert all(part.isalnum() for part in key.split("/"))


def test_the_table_of_runs_names_every_call() -> None:
    assert RUN_COLUMNS.names == ("process", "session", "sample", "run", "seconds")


@pytest.mark.parametrize("value", [make_record({"cpu": always(floats(1))})])
def test_what_happened_cannot_be_changed(value: Record) -> None:
    for frozen in (value, value.targets[0], value.spec, value.model, value.inputs[0]):
        name = dataclasses.fields(frozen)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(frozen, name, None)


def test_two_records_are_the_same_when_their_facts_are() -> None:
    one, other = (make_record({"cpu": always(floats(1))}) for _ in range(2))
    assert one == other
    assert one != make_record({"cpu": always(floats(2))})
    assert "arrays" not in repr(one)


def test_a_target_is_measured_unless_it_says_otherwise() -> None:
    assert TargetRecord(parse_target("cpu")).kind == "measured"
