from __future__ import annotations

from dataclasses import replace
from typing import Any

from detaudit.comparison import Difference
from detaudit.judge.environments import compare_environments, list_differences
from detaudit.record import Record
from tests.judge.named import name, on
from tests.records import Facts, always, floats, make_record


def record(*others: Facts, runtime: dict[str, Any] | None = None, **facts: Any) -> Record:
    told = dict(zip(("cpu", "cpu[opt=off]"), (Facts(**facts), *others), strict=False))
    made = make_record(dict.fromkeys(told, always(floats(1))), facts=told)
    return replace(made, targets=tuple(replace(t, runtime=runtime or {}) for t in made.targets))


def compare(*records: Record) -> list[tuple[str, tuple[str, ...]]]:
    found = compare_environments([name(r, f"r{n}") for n, r in enumerate(records)])
    assert all(isinstance(row, Difference) for row in found)
    return [(row.name, row.values) for row in found]


def test_what_is_the_same_is_not_told() -> None:
    assert compare(record(), record(), record()) == []


def test_machines() -> None:
    here = on(record(), machine="x86_64", variables={"OMP_NUM_THREADS": "1"})
    cpu = {"name": "Abacus 9001", "cores": 4, "flags": ["avx2", "avx512f"]}
    there = on(record(), machine="x86_64", variables={}, cpu=cpu)
    assert compare(here, there) == [
        ("instruction sets not shared", ("–", "avx512f")),
        ("processor", ("Abacus 9000", "Abacus 9001")),
        ("cores", ("2", "4")),
        ("variable OMP_NUM_THREADS", ("1", "–")),
    ]


def test_software_is_that_of_the_targets() -> None:
    # The interpreter that captured need not be the one that ran the model.
    old = on(record(versions={"onnxruntime": "1.0"}), python="3.10", versions={"numpy": "1"})
    assert compare(record(), old) == [("onnxruntime", ("1.2.3", "1.0"))]
    both = record(Facts(versions={"onnxruntime": "1.0"}))
    assert compare(record(), both) == [("onnxruntime", ("1.2.3", "1.2.3 / 1.0"))]


def test_what_another_version_brings_with_it_is_told_once() -> None:
    def made(version: str, build: str) -> Record:
        runtime = {"build": build, "packages": {"onnxruntime": version, "other": "1"}}
        return record(runtime=runtime, versions={"onnxruntime": version})

    assert compare(made("1", "a"), made("2", "b")) == [("onnxruntime", ("1", "2"))]
    assert compare(made("1", "a"), made("1", "b")) == [("build", ("a", "b"))]
    long = made("1", "a\n" * 100), made("1", "b")
    assert compare(*long) == [("build", ("a " * 99 + "a", "b"))]
    one, other = (name(record, "r") for record in long)
    targets = (one.record.targets[0], other.record.targets[0])
    assert list_differences(targets[0], one, targets[1], other) == ("another build",)


def test_nothing_is_a_dash() -> None:
    assert compare(record(runtime={"cuda": None}), record(runtime={"cuda": "12.4"})) == [
        ("cuda", ("–", "12.4"))
    ]
    assert compare(record(runtime={"cuda": None}), record()) == []


def test_versions_of_detaudit() -> None:
    assert compare(record(), replace(record(), detaudit="9")) == [("detaudit", ("0.0.0", "9"))]
