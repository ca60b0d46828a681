from __future__ import annotations

import numpy as np
import pytest

from detaudit.worker import bits
from detaudit.worker.bits import same_bytes


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", "?", "U3", "c8"])
@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (5, 7)])
def test_a_copy_has_the_same_bytes(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, dtype)
    assert same_bytes(array, array.copy())
    assert same_bytes(array, np.array(array, order="F"))


def test_type_and_shape_belong_to_it() -> None:
    array = np.zeros((2, 3), np.float32)
    assert not same_bytes(array, array.reshape(3, 2))
    assert not same_bytes(array, array.view(np.int32))
    assert not same_bytes(array, array.astype(">f4"))


def test_values_that_compare_equal_or_never_do_not_mislead() -> None:
    assert not same_bytes(np.array([0.0]), np.array([-0.0]))
    assert same_bytes(np.array([np.nan]), np.array([np.nan]))
    payload = np.array([0x7FC00001], np.uint32).view(np.float32)
    assert not same_bytes(np.array([np.nan], np.float32), payload)


def test_one_byte_is_found_wherever_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "_BLOCK", 8)
    array = np.arange(27, dtype=np.uint8)
    for place in range(array.size):
        other = array.copy()
        other[place] ^= 1
        assert not same_bytes(array, other)
