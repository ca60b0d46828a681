"""What varies within a group of repetitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.metrics.distance import Distance
from detaudit.metrics.spread import Spread, SpreadSummary
from tests.metrics.strategies import FLOATS, INTEGERS, SHAPES, arrays


def spread_of(*members: np.ndarray) -> Spread:
    spread = Spread()
    for member in members:
        spread.update(member)
    return spread


def measure(*members: object) -> SpreadSummary:
    return spread_of(*map(np.asarray, members)).read()


def test_equal_members_hold_one_array_only() -> None:
    first = np.array([1.0, np.nan])
    spread = spread_of(first, first.copy(), first.copy())
    assert spread.low is first
    assert spread.high is first
    summary = spread.read()
    assert summary.comparisons == 2
    assert summary.identical
    assert (summary.max_abs, summary.mean_abs, summary.changed, summary.pairs) == (0.0, 0.0, 0, 2)


def test_nan_from_the_second_run_on_is_drift() -> None:
    nan = [np.nan, np.nan]
    summary = measure([1.0, 2.0], nan, nan)
    assert summary.nan_pattern_changed
    assert not summary.identical
    assert summary.changed == 2
    assert summary.max_abs is None
    assert summary.mean_abs is None


@pytest.mark.parametrize("members", list(itertools.permutations([1.0, np.inf, np.nan, -np.inf], 2)))
def test_any_change_of_kind_is_seen_in_any_order(members: tuple[float, float]) -> None:
    for column in (members, members[::-1], (members[0], *members), (*members, members[0])):
        summary = measure(*([value, 1.0] for value in column))
        assert summary.nan_pattern_changed
        assert summary.changed == 1
        assert summary.max_abs == 0.0


def test_special_values_that_stay_poison_nothing() -> None:
    summary = measure([np.nan, np.inf, 1.0], [np.nan, np.inf, 1.5])
    assert not summary.nan_pattern_changed
    assert (summary.changed, summary.max_abs, summary.mean_abs) == (1, 0.5, 0.5)


def test_element_that_was_special_once_is_left_out() -> None:
    summary = measure([1.0, 0.0], [np.nan, 0.25], [100.0, 0.0])
    assert summary.max_abs == 0.25
    assert summary.changed == 2
    assert summary.nan_pattern_changed


def test_largest_difference_is_between_any_two() -> None:
    summary = measure([0.0], [1.0], [-1.0])
    assert summary.max_abs == 2.0
    assert summary.mean_abs == 1.0
    assert summary.max_ulp == 2 * int(np.float64(1.0).view(np.int64))


def test_first_run_that_differs_from_the_rest() -> None:
    summary = measure([0.0, 1.0], *[[0.5, 1.0]] * 3)
    assert summary.comparisons == 3
    assert (summary.changed, summary.changed_share) == (1, 0.5)
    assert (summary.max_abs, summary.mean_abs) == (0.5, 0.25)


def test_shape_and_type_that_change_are_told_in_words() -> None:
    assert measure(np.zeros(2), np.zeros(3)).structural == "shape (2,) against (3,)"
    assert measure(np.zeros(2), np.zeros(2, "f4")).structural == "type float64 against float32"
    summary = measure([0.0], [0.0, 1.0], [0.5])
    assert summary.structural == "shape (1,) against (2,)"
    assert not summary.identical
    assert (summary.max_abs, summary.comparisons) == (0.5, 2)


def test_noted_difference_of_structure() -> None:
    spread = spread_of(np.zeros(1), np.zeros(1))
    spread.note_structure("absent in some runs")
    summary = spread.read()
    assert summary.structural == "absent in some runs"
    assert not summary.identical


def test_strings_of_any_length() -> None:
    spread = spread_of(np.array(["a", "b"]), np.array(["a", "longer"]))
    summary = spread.read()
    assert (summary.changed, summary.max_abs, summary.max_ulp) == (1, None, None)
    assert spread.high.tolist() == ["a", "longer"]


def test_booleans_and_integers() -> None:
    assert measure([True, False], [True, True]).changed == 1
    summary = measure(np.array([1, 255], np.uint8), np.array([2, 0], np.uint8))
    assert (summary.max_abs, summary.mean_abs, summary.max_ulp) == (255, 128.0, None)


def test_complex_members() -> None:
    summary = measure(np.array([1 + 1j]), np.array([1 + 3j]))
    assert (summary.max_abs, summary.elements) == (2.0, 2)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_scalars_and_empty_members(shape: tuple[int, ...]) -> None:
    summary = measure(np.zeros(shape), np.zeros(shape))
    assert summary.identical
    assert summary.max_abs == 0.0
    changed = measure(np.zeros(shape), np.ones(shape), np.zeros(shape))
    assert changed.changed == int(np.prod(shape))


def test_nothing_seen_yet() -> None:
    summary = Spread().read()
    assert (summary.comparisons, summary.elements, summary.identical) == (0, 0, True)
    with pytest.raises(ValueError, match="no member"):
        Spread().low  # noqa: B018


def test_members_are_not_changed_by_later_ones() -> None:
    first, second = np.zeros(2), np.ones(2)
    spread_of(first, second, np.full(2, -1.0)).merge(spread_of(np.full(2, 9.0)))
    assert first.tolist() == [0.0, 0.0]
    assert second.tolist() == [1.0, 1.0]


def test_keys_stand_for_the_bits() -> None:
    spread = Spread()
    spread.update(np.zeros(2), key="a")
    spread.update(np.zeros(2), key="a", weight=3)
    assert spread.read().identical
    spread.update(np.ones(2), key="b")
    assert spread.read().changed == 2
    assert spread.read().comparisons == 4


def test_known_members_come_again_without_their_array() -> None:
    plain, keyed = Spread(), Spread()
    whole = {"a": np.zeros(2), "b": np.array([1.0, np.nan]), "c": np.zeros(3)}
    for key in "abacbbc":
        plain.update(whole[key])
        if keyed.knows(key):
            keyed.repeat(key)
        else:
            keyed.update(whole[key], key=key)
    assert keyed.read() == plain.read()
    adopted = Spread()
    adopted.merge(keyed)
    adopted.repeat("b", weight=2)
    assert adopted.read().comparisons == 8
    for unknown in ("d", None):
        assert not adopted.knows(unknown)
        with pytest.raises(KeyError):
            adopted.repeat(unknown)


members = st.sampled_from((*FLOATS, *INTEGERS, "bool")).flatmap(
    lambda dtype: SHAPES.flatmap(
        lambda shape: st.lists(arrays(dtype, shape), min_size=1, max_size=6)
    )
)


@given(members)
def test_ends_answer_for_all_pairs(group: list[np.ndarray]) -> None:
    spread = spread_of(*group)
    summary = spread.read()
    summaries = []
    for a, b in itertools.combinations(group, 2):
        distance = Distance()
        distance.update(a, b)
        summaries.append(distance.read()[0])
    assert summary.nan_pattern_changed == any(s.nan_pattern_changed for s in summaries)
    assert (summary.changed > 0) == any(s.changed for s in summaries)
    finite = np.all([np.isfinite(member) for member in group], axis=0)
    if group[0].dtype.kind != "b" and finite.any():
        stack = [member[finite] for member in group]
        largest = Distance()
        for a, b in itertools.combinations(stack, 2):
            largest.update(a, b)
        expected = largest.read()[0]
        assert summary.max_abs == expected.max_abs
        assert summary.max_ulp == expected.max_ulp or len(group) == 1


@given(members, st.integers(0, 6))
def test_merged_shards_are_one_pass(group: list[np.ndarray], cut: int) -> None:
    merged = spread_of(*group[:cut])
    merged.merge(spread_of(*group[cut:]))
    one, other = merged.read(), spread_of(*group).read()
    for name in SpreadSummary.__dataclass_fields__:
        if name not in ("mean_abs", "pairs"):
            assert getattr(one, name) == getattr(other, name), name


@given(members, st.integers(0, 6))
def test_shards_with_one_first_member_merge_exactly(group: list[np.ndarray], cut: int) -> None:
    first, tail = group[0], group[cut:]
    merged = spread_of(first, *group[:cut])
    merged.merge(spread_of(first, *tail))
    assert merged.read() == spread_of(first, *group[:cut], first, *tail).read()


@given(members, st.integers(1, 5))
def test_weight_is_repetition(group: list[np.ndarray], weight: int) -> None:
    weighted = Spread()
    for member in group:
        weighted.update(member, weight)
    repeated = spread_of(*(member for member in group for _ in range(weight)))
    assert weighted.read() == repeated.read()


def test_groups_add_up() -> None:
    still = measure([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    moving = measure([1.0], [2.0], [1.0])
    both = still.combine(moving)
    assert both.comparisons == 3
    assert not both.identical
    assert (both.elements, both.changed, both.changed_share) == (4, 1, 0.25)
    assert (both.max_abs, both.pairs) == (1.0, 5)
    assert both.mean_abs == pytest.approx(1.0 / 5)
    assert both.max_ulp == moving.max_ulp


def test_groups_without_distance_do_not_hide_those_with_one() -> None:
    lost = measure([1.0], [np.nan])
    moving = measure([1.0], [1.5])
    for both in (lost.combine(moving), moving.combine(lost)):
        assert both.nan_pattern_changed
        assert both.max_abs == 0.5
        assert both.mean_abs == 0.5
