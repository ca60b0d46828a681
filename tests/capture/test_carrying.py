from __future__ import annotations

import hashlib
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detaudit.capture.carrying import Carried, carry_inputs, carry_recorded
from detaudit.capture.inputs import make_inputs, write_inputs
from detaudit.errors import RecordError, UsageError
from detaudit.models.model import Model
from detaudit.record import InputFacts, Record
from detaudit.spec import InputSpec
from tests.capture.hand import make_model, tensor
from tests.records import always, floats, make_record

X = tensor("x", "float32", "n", 3)


def digest(model: Model, folder: Path, **spec: Any) -> str:
    """Digest that an audit of these inputs reports."""
    folder.mkdir()
    return write_inputs(make_inputs(model, InputSpec(**spec)), folder)[1]


def check(model: Model, folder: Path, **spec: Any) -> Carried:
    """Write inputs, and hold what another machine makes of the file to their digest."""
    path = folder / "F.npz"
    carried = carry_inputs(model, InputSpec(**spec), path)
    assert carried.sha256 == digest(model, folder / "here", **spec)
    there: dict[str, Any] = {"seed": 99, "duration": 3.0, "source": str(path)}
    told = dict(zip(carried.options[::2], map(int, carried.options[1::2]), strict=True))
    there |= {name[2:].replace("-", "_"): value for name, value in told.items()}
    assert digest(model, folder / "there", **there) == carried.sha256
    return carried


@pytest.mark.parametrize(
    "infos",
    [
        [X],
        [X, tensor("ids", "int64", "n", "tokens"), tensor("mask", "bool", "n", "tokens")],
        [tensor("text", "string", "n")],
        [tensor("half", "float16", 2), tensor("wide", "float64"), tensor("narrow", "bfloat16", 2)],
        [tensor("file", "float32", 2), tensor("a/b:0", "uint8", 2), tensor("ü.npy", "int32")],
        [tensor("none", "float32", 0, 3)],
    ],
)
def test_any_inputs_come_back_with_their_digest(infos: list[Any], tmp_path: Path) -> None:
    carried = check(make_model(*infos), tmp_path, seed=7)
    assert [fact.name for fact in carried.facts] == [info.name for info in infos]
    assert carried.options == ()


def test_what_was_asked_for_is_in_the_file(tmp_path: Path) -> None:
    check(
        make_model(X, tensor("y", "int64", "n")),
        tmp_path,
        shapes=(("n", "5"),),
        values=(("y", "int:3:9"),),
    )
    with np.load(tmp_path / "F.npz") as arrays:
        assert arrays["x"].shape == (5, 3)
        assert set(arrays["y"]) <= set(range(3, 10))


def test_the_same_inputs_make_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        check(make_model(X), tmp_path / name)
    assert (tmp_path / "a/F.npz").read_bytes() == (tmp_path / "b/F.npz").read_bytes()


def test_rate_and_number_of_samples_have_to_be_told(tmp_path: Path) -> None:
    model = make_model(tensor("signal", "float32", 1, "time"))
    assert check(model, tmp_path, sampling_rate=8000).options == ("--sampling-rate", "8000")
    (tmp_path / "two").mkdir()
    carried = check(make_model(X), tmp_path / "two", samples=3, values=(("x", "ones"),))
    assert carried.options == ("--samples", "3")
    assert len(carried.facts) == 1


def test_big_endian_arrays_have_the_same_digest(tmp_path: Path) -> None:
    found = set()
    for order in "<>":
        path = tmp_path / f"{ord(order)}.npy"
        np.save(path, np.array([[1.5, -2, np.nan]], f"{order}f4"))
        folder = tmp_path / str(ord(order))
        folder.mkdir()
        found.add(check(make_model(X), folder, values=(("x", f"@{path}"),)).sha256)
    assert len(found) == 1


def test_the_digest_is_the_same_on_every_machine(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    np.savez(path, x=np.array([[1, 2, 3]], np.float32))
    values = hashlib.sha256(struct.pack("<3f", 1, 2, 3)).hexdigest()
    line = f'[0, "x", "float32", [1, 3], "{values}"]\n'
    expected = hashlib.sha256(line.encode()).hexdigest()
    assert digest(make_model(X), tmp_path / "inputs", source=str(path)) == expected


def test_samples_that_differ_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a file holds one sample, and these are 2"):
        carry_inputs(make_model(X), InputSpec(samples=2), tmp_path / "F.npz")
    with pytest.raises(UsageError, match="no inputs to write"):
        carry_inputs(make_model(), InputSpec(), tmp_path / "F.npz")
    assert list(tmp_path.iterdir()) == []


def recorded(spec: InputSpec, folder: Path, equal_sizes: int | None = None) -> Record:
    """Record of an audit that was fed what a spec says."""
    model = make_model(tensor("a", "float32", "one"), tensor("b", "float32", "two"))
    folder.mkdir()
    facts, sha256, _ = write_inputs(make_inputs(model, spec, equal_sizes=equal_sizes), folder)
    record = make_record({"cpu": always(floats(1))})
    return replace(
        record,
        model=model,
        inputs=facts,
        inputs_sha256=sha256,
        spec=replace(record.spec, inputs=spec),
    )


@pytest.mark.parametrize("equal", [None, 5])
def test_the_inputs_of_a_record(equal: int | None, tmp_path: Path) -> None:
    record = recorded(InputSpec(seed=3), tmp_path / "inputs", equal)
    carried = carry_recorded(record, tmp_path / "F.npz")
    assert carried.sha256 == record.inputs_sha256
    assert all(isinstance(fact, InputFacts) for fact in carried.facts)
    again = digest(record.model, tmp_path / "again", source=str(tmp_path / "F.npz"))
    assert again == record.inputs_sha256


def test_a_record_whose_inputs_come_out_otherwise(tmp_path: Path) -> None:
    given = tmp_path / "given.npy"
    np.save(given, floats(1, 2))
    record = recorded(InputSpec(values=(("a", f"@{given}"),)), tmp_path / "inputs")
    np.save(given, floats(1, 3))
    with pytest.raises(RecordError, match="made again have the digest"):
        carry_recorded(record, tmp_path / "F.npz")
    given.unlink()
    with pytest.raises(UsageError, match="no such file"):
        carry_recorded(record, tmp_path / "F.npz")
    assert not (tmp_path / "F.npz").exists()
