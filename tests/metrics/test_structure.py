"""Differences before any value."""

from __future__ import annotations

import numpy as np
import pytest

from detaudit.metrics.structure import structural_difference, type_difference


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (np.zeros((2, 3)), np.zeros((2, 4)), "shape (2, 3) against (2, 4)"),
        (np.zeros(()), np.zeros((1,)), "shape () against (1,)"),
        (np.zeros(2), np.zeros(2, np.int64), "type float64 against int64"),
        (np.array(["a"]), np.zeros(1, np.int64), "type string against int64"),
        (np.array([True]), np.zeros(1, np.uint8), "type bool against uint8"),
        (np.zeros(2, np.complex64), np.zeros(2, np.float32), "type complex64 against float32"),
    ],
)
def test_told_in_words(a: np.ndarray, b: np.ndarray, words: str) -> None:
    assert structural_difference(a, b) == words


def test_other_width_is_a_note_only() -> None:
    a, b = np.zeros(2, np.int64), np.zeros(2, np.int32)
    assert structural_difference(a, b) is None
    assert type_difference(a, b) == "type int64 against int32"
    assert type_difference(np.zeros(1), np.zeros(1, "f4")) == "type float64 against float32"


def test_equal_structure() -> None:
    assert structural_difference(np.zeros((0, 3)), np.ones((0, 3))) is None
    assert type_difference(np.array(["a"]), np.array(["long"], object)) is None
    assert type_difference(np.zeros(1, ">f4"), np.zeros(1, "<f4")) is None
