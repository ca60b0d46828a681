"""What size is normal."""

from __future__ import annotations

import pytest

from detaudit.metrics.scales import SCALES, expect_reduction, explain


@pytest.mark.parametrize(
    ("rel", "dtype", "words"),
    [
        (1e-6, "float32", None),
        (3.8e-6, "float32", None),
        (1e-5, "float32", "within what has been seen"),
        (3.4e-4, "float32", "within what has been seen"),
        (2e-3, "float32", "suspect TF32, half precision"),
        (0.9, "float32", "mismatch, not drift"),
        (6.75, "float32", "mismatch, not drift"),
        (3e-3, "float16", None),
        (5e-3, "bfloat16", None),
        (1e-15, "float64", None),
        (1e-8, "float64", "arithmetic in float32"),
        (0.9, "bfloat16", "mismatch, not drift"),
        (0.9, "int64", None),
        (0.9, "string", None),
    ],
)
def test_size_suggests_a_cause(rel: float, dtype: str, words: str | None) -> None:
    text = explain(rel, rel, dtype)
    assert (text is None) == (words is None)
    if words is not None:
        assert text is not None
        assert words in text


def test_absolute_size_alone_suggests_nothing() -> None:
    assert explain(0.006, 1e-6, "float32") is None


def test_no_difference_needs_no_explanation() -> None:
    assert explain(0.0, 0.0, "float32") is None
    assert explain(None, None, "float32") is None


def test_zero_reference_is_a_mismatch() -> None:
    assert "mismatch" in (explain(1.0, None, "float32") or "")


def test_every_scale_is_in_order_and_has_a_source() -> None:
    for scale in SCALES:
        ends = [scale.typical_low, scale.typical_high, scale.worst]
        known = [end for end in ends if end is not None]
        assert known == sorted(known)
        assert scale.source


def test_reduction_moves_by_the_root_of_its_length() -> None:
    expected, most = expect_reduction(1_000_000)
    assert expected == pytest.approx(1000 * 2**-24)
    assert most == pytest.approx(1_000_000 * 2**-24)
