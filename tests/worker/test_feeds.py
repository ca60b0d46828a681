from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from detaudit.worker.failures import Failed
from detaudit.worker.feeds import Batch, Feeds, hash_bytes


def load(folder: Path, **arrays: np.ndarray) -> Feeds:
    files = {}
    for name, array in arrays.items():
        files[name] = str(folder / f"{name}.npy")
        np.save(files[name], array)
    return Feeds(files, {name: hash_bytes(array) for name, array in arrays.items()})


def test_the_digest_is_that_of_the_bytes() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert hash_bytes(array) == hashlib.sha256(array.tobytes()).hexdigest()
    assert hash_bytes(array.T.copy(order="F")) == hash_bytes(np.ascontiguousarray(array.T))
    assert hash_bytes(np.zeros((0, 3))) == hashlib.sha256(b"").hexdigest()


def test_text_has_one_digest_in_both_of_its_types() -> None:
    text = np.array(["a", "bb"])
    assert hash_bytes(text) == hash_bytes(text.astype(object))
    assert hash_bytes(text) != hash_bytes(np.array(["ab", "b"]))


def test_inputs_are_read_only(tmp_path: Path) -> None:
    feeds = load(tmp_path, x=np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        feeds.values["x"][0] = 1


def test_text_is_fed_as_the_runtime_takes_it(tmp_path: Path) -> None:
    feeds = load(tmp_path, x=np.array(["a", "b"]))
    assert feeds.values["x"].dtype == object
    assert feeds.values["x"].tolist() == ["a", "b"]


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.zeros(3))
    with pytest.raises(Failed, match="input 'x' was damaged on its way to the worker"):
        Feeds({"x": str(file)}, {"x": hash_bytes(np.ones(3))})


def test_a_run_that_writes_to_its_input_is_found(tmp_path: Path) -> None:
    feeds = load(tmp_path, x=np.zeros(3), y=np.zeros(2))
    feeds.check()
    feeds.values["y"].flags.writeable = True
    feeds.values["y"][1] = -0.0
    with pytest.raises(Failed, match="input 'y' was changed by the run"):
        feeds.check()


def folder(parent: Path, name: str) -> Path:
    (parent / name).mkdir()
    return parent / name


def test_a_batch_stacks_along_the_axis_of_each_input(tmp_path: Path) -> None:
    first = load(folder(tmp_path, "a"), x=np.zeros((2, 3)), y=np.zeros((3, 2)), z=np.ones(4))
    second = load(folder(tmp_path, "b"), x=np.ones((2, 3)), y=np.ones((3, 2)), z=np.zeros(4))
    batch = Batch([first, second], {"x": 0, "y": 1})
    assert batch.values["x"].tolist() == [[0, 0, 0]] * 2 + [[1, 1, 1]] * 2
    assert batch.values["y"].tolist() == [[0, 0, 1, 1]] * 3
    assert batch.values["z"].tolist() == [1, 1, 1, 1]
    batch.check()


def test_the_audited_sample_gets_its_own_rows(tmp_path: Path) -> None:
    samples = [load(folder(tmp_path, str(i)), x=np.full((2, 3), i)) for i in range(3)]
    batch = Batch(samples, {"x": 0})
    value = np.arange(12).reshape(6, 2)
    assert batch.own_rows(value, 0).tolist() == [[0, 1], [2, 3]]
    assert batch.own_rows(value.T, 1).tolist() == [[0, 2], [1, 3]]
    assert batch.own_rows(value, None) is value
    assert batch.own_rows(value[:4], 0).tolist() == value[:4].tolist()
    assert batch.own_rows(np.float32(1), 0) == 1
    assert batch.own_rows([1, 2], 0) == [1, 2]


def test_a_batch_is_watched_too(tmp_path: Path) -> None:
    batch = Batch([load(tmp_path, x=np.zeros((1, 2)))] * 2, {"x": 0})
    batch.values["x"][1, 1] = 5
    with pytest.raises(Failed, match="input 'x' was changed by the run"):
        batch.check()


@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "c8", "u8", "bool"])
def test_the_digest_does_not_depend_on_the_byte_order(dtype: str) -> None:
    array = np.array([[1, 0], [3, 2]]).astype(dtype)
    swapped = array.astype(array.dtype.newbyteorder(">"))
    assert hash_bytes(swapped) == hash_bytes(array) == hashlib.sha256(array.tobytes()).hexdigest()
    assert hash_bytes(swapped.T) == hash_bytes(array.T) != hash_bytes(array)
