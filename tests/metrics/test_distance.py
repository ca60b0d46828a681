"""Distances of hand-made pairs."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from detaudit.metrics.blocks import BLOCK
from detaudit.metrics.distance import Distance, DistanceSummary
from detaudit.metrics.histogram import RESOLUTION
from detaudit.metrics.specials import SpecialCounts
from detaudit.metrics.tally import Worst

FLOATS = [np.float16, np.float32, np.float64]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def measure(a: np.ndarray, b: np.ndarray) -> DistanceSummary:
    distance = Distance()
    distance.update(a, b, origin=(0,))
    (summary,) = distance.read()
    return summary


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_figure_of_a_small_pair(dtype: type) -> None:
    a = np.array([[1.0, -2.0], [0.0, 4.0]], dtype)
    b = np.array([[1.0, -1.5], [0.25, 3.0]], dtype)
    summary = measure(a, b)
    assert summary.elements == summary.finite == 4
    assert not summary.identical
    assert not summary.same_values
    assert (summary.changed, summary.changed_share) == (3, 0.75)
    assert summary.max_abs == 1.0
    assert summary.mean_abs == 1.75 / 4
    assert summary.mean_signed == -0.25 / 4
    assert summary.rel_norm == 0.25
    assert summary.bits_kept == 2.0
    assert summary.mean_rel == pytest.approx((0 + 0.25 + 0.25) / 3)
    assert summary.zeros_left_out == 1
    assert summary.reference_specials == SpecialCounts(zero=1)
    assert summary.other_specials == SpecialCounts()
    assert summary.worst == Worst((0,), (1, 1), 3.0, 4.0)
    assert summary.max_reference_abs == 4.0
    assert summary.reference_dtype == summary.other_dtype == np.dtype(dtype).name
    assert not summary.nan_pattern_changed


def test_special_values_that_stay_are_no_drift() -> None:
    a = np.array([np.nan, -np.inf, 0.0, np.inf], np.float32)
    summary = measure(a, a.copy())
    assert summary.identical
    assert summary.same_values
    assert (summary.max_abs, summary.mean_abs, summary.changed) == (0.0, 0.0, 0)
    assert (summary.elements, summary.finite) == (4, 1)
    assert not summary.nan_pattern_changed
    assert summary.worst is None
    assert summary.bits_kept is None
    assert summary.reference_specials == SpecialCounts(nan=1, plus_inf=1, minus_inf=1, zero=1)
    assert summary.other_specials == summary.reference_specials


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (2.0, np.nan),
        (np.nan, 2.0),
        (np.inf, -np.inf),
        (np.inf, 65504.0),
        (-np.inf, np.nan),
        (0.0, np.inf),
    ],
)
def test_special_value_that_appears_vanishes_or_turns(
    dtype: type, before: float, after: float
) -> None:
    summary = measure(np.array([1.0, before], dtype), np.array([1.0, after], dtype))
    assert summary.nan_pattern_changed
    assert not summary.same_values
    assert (summary.changed, summary.pattern_changed) == (1, 1)
    assert summary.finite == 1
    assert summary.max_abs == 0.0
    assert summary.worst is not None
    assert summary.worst.index == (1,)
    np.testing.assert_equal((summary.worst.reference_value, summary.worst.value), (before, after))


def test_no_finite_pair_left_is_no_zero_distance() -> None:
    summary = measure(np.array([2.0]), np.array([np.nan]))
    assert summary.max_abs is None
    assert summary.mean_abs is None
    assert summary.p50 is None
    assert summary.max_ulp is None
    assert summary.rel_norm is None
    assert summary.changed == 1


def test_worst_is_the_largest_finite_difference_before_a_special_one() -> None:
    summary = measure(np.array([1.0, 5.0, 7.0]), np.array([np.nan, 5.5, 8.0]))
    assert summary.worst == Worst((0,), (2,), 8.0, 7.0)
    assert summary.max_abs == 1.0


def test_sign_of_zero_changes_bits_only() -> None:
    summary = measure(np.array([0.0, 1.0]), np.array([-0.0, 1.0]))
    assert not summary.identical
    assert summary.same_values
    assert (summary.changed, summary.max_abs, summary.max_ulp) == (0, 0.0, 0)
    assert summary.bits_kept is None
    assert summary.worst is None


def test_payload_of_nan_changes_bits_only() -> None:
    a = np.array([0x7FC00000, 0x3F800000], np.uint32).view(np.float32)
    b = np.array([0x7FC00001, 0x3F800000], np.uint32).view(np.float32)
    summary = measure(a, b)
    assert not summary.identical
    assert summary.same_values
    assert not summary.nan_pattern_changed


def test_relative_error_near_zero_is_no_gross_one() -> None:
    summary = measure(np.array([1e-12, 1.0]), np.array([2e-12, 1.0]))
    assert summary.rel_norm == 1e-12
    assert summary.mean_rel == 0.5


def test_two_results_of_other_machines() -> None:
    summary = measure(np.array([-1.8208287], np.float32), np.array([-1.8208290], np.float32))
    assert summary.max_ulp == 3
    assert summary.max_abs == 3 * 2.0**-23


def test_double_against_single_counts_in_singles() -> None:
    x = np.array([0.1, 0.2, 0.3])
    summary = measure(x, x.astype(np.float32))
    assert summary.max_ulp == 0
    assert not summary.identical
    assert not summary.same_values
    assert summary.max_abs == np.abs(x - x.astype(np.float32)).max()
    assert (summary.reference_dtype, summary.other_dtype) == ("float64", "float32")


def test_bfloat16_values_in_singles_count_on_their_own_grid() -> None:
    distance = Distance(grid="bfloat16")
    distance.update(np.array([1.0], np.float32), np.array([1.015625], np.float32))
    (summary,) = distance.read()
    assert summary.max_ulp == 2
    assert summary.bits_kept == 6.0
    assert summary.reference_dtype == "bfloat16"


@pytest.mark.parametrize(
    ("dtype", "precision"), [(np.float16, 11), (np.float32, 24), (np.float64, 53)]
)
def test_no_more_bits_are_kept_than_there_are(dtype: type, precision: int) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    assert measure(np.array([1, 0], dtype), np.array([1, tiny], dtype)).bits_kept == precision


def test_a_zero_reference_has_no_relative_error() -> None:
    summary = measure(np.zeros(2), np.array([0.0, 1.0]))
    assert summary.rel_norm is None
    assert summary.bits_kept == 0.0
    assert summary.mean_rel == 0.0
    assert summary.zeros_left_out == 2


def test_half_precision_overflows_nowhere() -> None:
    summary = measure(np.array([65504.0], np.float16), np.array([-65504.0], np.float16))
    assert summary.max_abs == summary.mean_abs == 131008.0


def test_the_largest_doubles_stay_finite() -> None:
    largest = np.finfo(np.float64).max
    summary = measure(np.array([largest, largest]), np.array([-largest, -largest]))
    assert summary.max_abs == summary.mean_abs == largest
    assert summary.mean_signed == -largest
    assert summary.p99 == largest


def test_subnormals_are_counted_by_type() -> None:
    a = np.array([1e-40, 0.0, 1.0], np.float32)
    assert measure(a, a.copy()).reference_specials == SpecialCounts(zero=1, subnormal=1)
    assert measure(a.astype(float), a.astype(float)).reference_specials.subnormal == 0
    half = np.array([6e-8, 1.0], np.float16)
    assert measure(half, half.copy()).reference_specials.subnormal == 1


@pytest.mark.parametrize("dtype", INTEGERS)
def test_extreme_integers_do_not_wrap(dtype: type) -> None:
    info = np.iinfo(dtype)
    a, b = np.array([info.min, info.max, 5], dtype), np.array([info.max, info.min, 5], dtype)
    summary = measure(a, b)
    assert summary.max_abs == int(info.max) - int(info.min)
    assert isinstance(summary.max_abs, int)
    assert summary.mean_signed == 0.0
    assert summary.changed == 2
    assert summary.max_ulp is None
    assert summary.bits_kept is None
    assert summary.max_reference_abs == max(abs(int(info.min)), int(info.max))


def test_small_unsigned_integers_do_not_wrap() -> None:
    summary = measure(np.array([2], np.uint8), np.array([1], np.uint8))
    assert (summary.max_abs, summary.mean_signed) == (1, -1.0)


def test_integers_beyond_doubles_are_told_apart() -> None:
    summary = measure(np.array([2**53]), np.array([2**53 + 1]))
    assert (summary.max_abs, summary.changed) == (1, 1)
    assert summary.worst == Worst((0,), (0,), 2**53 + 1, 2**53)


def test_integers_of_another_width_are_compared_by_value() -> None:
    summary = measure(np.array([1, 2], np.int64), np.array([1, 3], np.int32))
    assert (summary.max_abs, summary.changed) == (1, 1)
    assert (summary.reference_dtype, summary.other_dtype) == ("int64", "int32")
    assert measure(np.array([7], np.int64), np.array([7], np.int32)).same_values


def test_signed_against_unsigned_of_64_bits_is_exact() -> None:
    summary = measure(np.array([-(2**63), 5], np.int64), np.array([2**64 - 1, 5], np.uint64))
    assert summary.max_abs == 2**64 - 1 + 2**63
    assert summary.changed == 1


def test_booleans_only_change() -> None:
    summary = measure(np.array([True, False, True]), np.array([True, True, False]))
    assert (summary.changed, summary.elements) == (2, 3)
    assert summary.max_abs is None
    assert summary.max_ulp is None
    assert summary.worst == Worst((0,), (1,), True, False)
    assert measure(np.array([True]), np.array([True])).identical


@pytest.mark.parametrize("dtype", [object, "U"])
def test_strings_only_change(dtype: object) -> None:
    a, b = np.array(["cat", "dog"], dtype), np.array(["cat", "horse"], dtype)
    summary = measure(a, b)
    assert (summary.changed, summary.changed_share) == (1, 0.5)
    assert summary.max_abs is None
    assert summary.max_ulp is None
    assert summary.worst == Worst((0,), (1,), "horse", "dog")
    assert summary.reference_dtype == "string"
    assert measure(a, a.copy()).identical


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_count_as_pairs(dtype: type) -> None:
    summary = measure(np.array([1 + 2j, 3], dtype), np.array([1 + 4j, 3], dtype))
    assert (summary.elements, summary.changed, summary.max_abs) == (4, 1, 2.0)
    assert summary.worst is not None
    assert summary.worst.index == (0, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool, object, np.complex64])
@pytest.mark.parametrize("shape", [(0,), (1, 0), (0, 3)])
def test_nothing_differs_in_nothing(dtype: type, shape: tuple[int, ...]) -> None:
    summary = measure(np.zeros(shape, dtype), np.zeros(shape, dtype))
    assert summary.identical
    assert summary.same_values
    assert (summary.elements, summary.changed, summary.changed_share) == (0, 0, 0.0)
    assert summary.max_abs in (0, None)
    assert summary.worst is None


def test_a_scalar_has_an_empty_index() -> None:
    summary = measure(np.array(1.0, np.float32), np.array(1.5, np.float32))
    assert summary.worst == Worst((0,), (), 1.5, 1.0)


def test_before_the_first_update_nothing_differs() -> None:
    (summary,) = Distance().read()
    assert summary.elements == 0
    assert summary.identical
    assert summary.reference_dtype is None


def test_labels_are_told_apart_after_the_whole() -> None:
    distance = Distance(label_axis=1, labels=3)
    a = np.zeros((2, 3), np.float32)
    b = np.array([[0, 0.5, 1], [0, 0, 2]], np.float32)
    distance.update(a, b, origin=("x.wav",))
    whole, *labels = distance.read()
    assert whole.elements == 6
    assert whole.max_abs == 2.0
    assert whole.worst == Worst(("x.wav",), (1, 2), 2.0, 0.0)
    assert [label.max_abs for label in labels] == [0.0, 0.5, 2.0]
    assert [label.identical for label in labels] == [True, False, False]
    assert [label.changed for label in labels] == [0, 1, 2]
    assert labels[1].worst == Worst(("x.wav",), (0, 1), 0.5, 0.0)


@pytest.mark.parametrize("axis", [0, -2])
def test_label_axis_may_be_any(axis: int) -> None:
    distance = Distance(label_axis=axis)
    distance.update(np.zeros((2, 3)), np.array([[0, 0, 0], [0, 1, 0.0]]))
    whole, first, second = distance.read()
    assert first.identical
    assert second.max_abs == 1.0
    assert whole.worst is not None
    assert second.worst is not None
    assert whole.worst.index == second.worst.index == (1, 1)


def test_labels_must_be_there() -> None:
    distance = Distance(label_axis=1, labels=3)
    with pytest.raises(ValueError, match="has 2 labels, not 3"):
        distance.update(np.zeros((1, 2)), np.zeros((1, 2)))
    with pytest.raises(ValueError, match="has no axis 1"):
        distance.update(np.zeros(3), np.zeros(3))


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (np.zeros((2, 3)), np.zeros((2, 4)), r"shape \(2, 3\) against \(2, 4\)"),
        (np.zeros(2), np.zeros(2, np.int64), "type float64 against int64"),
        (np.zeros(2, bool), np.zeros(2, np.uint8), "type bool against uint8"),
    ],
)
def test_what_has_no_distance_is_refused(a: np.ndarray, b: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Distance().update(a, b)


def test_types_without_an_order_are_refused() -> None:
    with pytest.raises(TypeError, match="datetime64"):
        Distance().update(np.zeros(1, "M8[s]"), np.zeros(1, "M8[s]"))


def test_worst_place_is_found_in_any_piece_and_layout() -> None:
    a = np.zeros((7, BLOCK), np.float32)
    b = a.copy()
    b[5, 11], b[6, 1], b[1, 7] = 3.0, np.inf, 2.0
    for x, y in ((a, b), (np.asfortranarray(a), b), (a[::-1], b[::-1]), (a.T, b.T)):
        worst = measure(x, y).worst
        assert worst is not None
        assert y[worst.index] == worst.value == 3.0


def test_foreign_byte_order_is_no_difference() -> None:
    a = np.array([1.0, 2.0], ">f4")
    assert measure(a, np.array([1.0, 2.5], ">f4")).max_abs == 0.5


def test_percentiles_are_as_good_as_said() -> None:
    rng = np.random.default_rng(1)
    d = rng.lognormal(-14, 3, 50_000)
    d[:10_000] = 0
    summary = measure(np.zeros(d.size), d)
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        exact = np.quantile(d, share, method="inverted_cdf")
        assert getattr(summary, name) == pytest.approx(exact, rel=RESOLUTION)


def test_percentiles_never_exceed_the_largest() -> None:
    summary = measure(np.zeros(3), np.full(3, 1.0))
    assert summary.p50 == summary.p99 == summary.max_abs == 1.0


def test_small_integer_percentiles_are_exact() -> None:
    summary = measure(np.zeros(100, np.int64), np.arange(100) % 8)
    assert (summary.p50, summary.p90, summary.p99) == (3, 7, 7)
    assert isinstance(summary.p50, int)


def test_summary_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        measure(np.zeros(1), np.zeros(1)).elements = 2  # type: ignore[misc]


def test_mean_is_the_exact_one() -> None:
    rng = np.random.default_rng(2)
    a = rng.standard_normal(100_000, dtype=np.float32)
    b = a + np.float32(1e-6) * rng.standard_normal(100_000, dtype=np.float32)
    d = b.astype(float) - a
    summary = measure(a, b)
    assert summary.mean_abs == pytest.approx(math.fsum(abs(d)) / d.size, rel=1e-15)
    assert summary.mean_signed == pytest.approx(math.fsum(d) / d.size, rel=1e-12)
    assert summary.max_abs == np.abs(d).max()
