"""Same bits, same values, different."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from detaudit.metrics.bits import same_bits, same_values
from detaudit.metrics.blocks import BLOCK, walk
from tests.metrics.strategies import pairs


def test_sign_of_zero_is_a_bit_but_no_value() -> None:
    a, b = np.array([0.0, 1.0]), np.array([-0.0, 1.0])
    assert not same_bits(a, b)
    assert same_values(a, b)


def test_payload_of_nan_is_a_bit_but_no_value() -> None:
    a = np.array([0x7FC00000], np.uint32).view(np.float32)
    b = np.array([0x7FC00001], np.uint32).view(np.float32)
    assert not same_bits(a, b)
    assert same_values(a, b)
    assert same_bits(a, a.copy())


def test_special_values_equal_themselves() -> None:
    a = np.array([np.nan, -np.inf, 0.0, np.inf])
    assert same_bits(a, a.copy())
    assert same_values(a, a.copy())


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.zeros(3), np.zeros(4)),
        (np.zeros(3), np.zeros((3, 1))),
        (np.zeros(3, np.float32), np.zeros(3, np.float64)),
        (np.zeros(3, np.int32), np.zeros(3, np.float32)),
    ],
)
def test_type_and_shape_belong_to_the_bits(a: np.ndarray, b: np.ndarray) -> None:
    assert not same_bits(a, b)


def test_other_width_has_the_same_values() -> None:
    assert same_values(np.array([1, 2], np.int64), np.array([1, 2], np.uint8))
    assert same_values(np.array([0.5]), np.array([0.5], np.float32))
    assert not same_values(np.array([0.1]), np.array([0.1], np.float32))


def test_wide_integers_of_both_signs_are_compared_exactly() -> None:
    a = np.array([2**63 - 1], np.int64)
    assert same_values(a, np.array([2**63 - 1], np.uint64))
    assert not same_values(a, np.array([2**63], np.uint64))
    assert not same_values(np.array([-1], np.int64), np.array([2**64 - 1], np.uint64))


def test_numbers_next_to_two_to_the_53_differ() -> None:
    assert not same_values(np.array([2**53]), np.array([2**53 + 1]))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.float32, np.complex64])
@pytest.mark.parametrize("size", [1, 7, 8 * BLOCK + 5])
def test_last_element_counts(dtype: type, size: int) -> None:
    a = np.zeros(size, dtype)
    b = a.copy()
    assert same_bits(a, b)
    b[-1] = 1
    assert not same_bits(a, b)


def test_strings_are_compared_as_text() -> None:
    a, b = np.array(["a", "bb"]), np.array(["a", "bb"], object)
    assert same_bits(a, b)
    assert not same_bits(a, np.array(["a", "b"]))


def test_layout_and_byte_order_are_no_difference() -> None:
    a = np.arange(200_000, dtype=np.float32).reshape(400, 500)
    assert same_bits(a, np.asfortranarray(a))
    assert same_bits(a, a.astype(">f4"))
    assert same_bits(a[:, ::2], a[:, ::2].copy())


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1, 0)])
def test_scalars_and_empty_arrays(shape: tuple[int, ...]) -> None:
    assert same_bits(np.zeros(shape), np.zeros(shape))
    assert same_values(np.zeros(shape), np.zeros(shape))


def test_pieces_of_any_layout_are_the_array_in_c_order() -> None:
    base = np.arange(2 * 3 * 70_000).reshape(3, 2, 70_000)
    for array in (base, base.transpose(2, 0, 1), base[:, ::-1, ::3], base[:, :1], base.T[:, :1]):
        pieces = list(walk(array))
        starts = np.cumsum([0] + [len(piece) for _, (piece,) in pieces])
        assert [start for start, _ in pieces] == starts[:-1].tolist()
        assert max(len(piece) for _, (piece,) in pieces) <= BLOCK
        joined = np.concatenate([piece for _, (piece,) in pieces])
        np.testing.assert_array_equal(joined, array.ravel())


@given(pairs())
def test_bits_follow_the_bytes(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pair
    assert same_bits(a, b) == (a.tobytes() == b.tobytes())
    assert same_values(a, b) == np.array_equal(a, b, equal_nan=True)
