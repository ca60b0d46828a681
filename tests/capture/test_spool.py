from __future__ import annotations

import gc
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.capture import spool as module
from detaudit.capture.spool import Spool

LARGE = np.arange(module._LARGE, dtype=np.uint8)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.npy"))


@pytest.mark.parametrize(
    "array",
    [
        np.array(1.5, np.float32),
        np.zeros((0, 3), np.int64),
        np.array(["a", "bc"]),
        np.array([1 + 2j]),
        np.arange(6).reshape(2, 3).T,
        LARGE,
        LARGE.reshape(2, -1).T,
        np.full(module._LARGE // 4, "ü"),
    ],
)
def test_an_array_comes_back_as_it_was(array: np.ndarray) -> None:
    spool = Spool()
    spool["a/b"] = array
    back = spool["a/b"]
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


def test_only_large_arrays_lie_on_disk(folder: Path) -> None:
    spool = Spool()
    spool["small"] = LARGE[:-1]
    assert files(folder) == []
    spool["large"] = LARGE
    assert len(files(folder)) == 1


@pytest.mark.parametrize("array", [np.zeros(3), LARGE])
def test_arrays_are_read_only_copies(array: np.ndarray) -> None:
    source = array.copy()
    spool = Spool()
    spool["a"] = source
    source[0] = 99
    assert spool["a"][0] == array[0]
    with pytest.raises(ValueError, match="read-only"):
        spool["a"][0] = 1


@pytest.mark.parametrize("first", [LARGE, np.zeros(2)])
@pytest.mark.parametrize("second", [LARGE[::-1], np.ones(2)])
def test_a_later_array_takes_the_place(folder: Path, first: np.ndarray, second: np.ndarray) -> None:
    spool = Spool()
    spool["a"] = first
    spool["a"] = second
    assert spool["a"].tolist() == second.tolist()
    assert len(spool) == 1
    assert len(files(folder)) == (second.nbytes >= LARGE.nbytes)


@given(steps=st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 9))))
def test_it_is_a_mapping(steps: list[tuple[str, int | None]]) -> None:
    spool, plain = Spool(), {}
    for key, number in steps:
        if number is None:
            spool.pop(key, None)
            plain.pop(key, None)
        else:
            spool.pop(key, None)
            plain.pop(key, None)
            spool[key] = np.array([number])
            plain[key] = [number]
    assert {key: array.tolist() for key, array in spool.items()} == plain
    assert list(spool) == list(plain)


def test_what_is_not_there() -> None:
    spool = Spool()
    with pytest.raises(KeyError):
        spool["a"]
    with pytest.raises(KeyError):
        del spool["a"]
    assert "a" not in spool


def test_files_go_with_the_spool(folder: Path) -> None:
    spool = Spool()
    spool["a"] = LARGE
    spool["b"] = LARGE
    del spool["a"]
    assert len(files(folder)) == 1
    del spool
    gc.collect()
    assert list(folder.iterdir()) == []
