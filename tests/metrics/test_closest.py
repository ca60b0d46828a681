"""The samples most at risk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from detaudit.metrics.closest import Closest, Kept
from detaudit.metrics.risks import (
    DecisionRisk,
    ValueRisk,
    find_decision_risk,
    find_value_risk,
)


def decide(a: object, b: object, **kwargs: object) -> DecisionRisk:
    risk = find_decision_risk(np.asarray(a), np.asarray(b), **kwargs)
    assert risk is not None
    return risk


def test_the_rival_that_moved_counts_not_the_nearest() -> None:
    assert decide([[4.0, 3.0, 2.0]], [[4.0, 3.0, 3.5]]) == DecisionRisk(
        room=0.5, index=(0,), margin=2.0, shift=1.5, winner=0, rival=2, other=0
    )


def test_a_flip_has_no_room() -> None:
    risk = decide([[1.0, 0.0], [0.5, 0.25]], [[1.0, 0.0], [0.5, 1.0]])
    assert (risk.index, risk.winner, risk.other, risk.room) == ((1,), 0, 1, -0.5)


def test_ties_are_at_risk() -> None:
    risk = decide([[1.0, 1.0]], [[1.0, 1.0]])
    assert (risk.room, risk.margin) == (0.0, 0.0)


def test_axis_of_the_classes() -> None:
    a = np.zeros((2, 3))
    a[0] = [1.0, 2.0, 0.5]
    risk = decide(a, a, axis=0)
    assert (risk.index, risk.room) == ((2,), 0.5)


def test_threshold_of_each_score() -> None:
    risk = decide([[0.1, 0.75]], [[0.1, 0.25]], threshold=0.5)
    assert risk == DecisionRisk(
        room=-0.25, index=(0, 1), margin=0.25, shift=0.5, winner=1, rival=0, other=0
    )
    assert decide([[0.25]], [[0.25]]).room == 0.25


def test_scores_without_a_margin() -> None:
    nan = np.array([[np.nan, 1.0]])
    assert find_decision_risk(nan, nan) is None
    assert find_decision_risk(np.zeros((0, 2)), np.zeros((0, 2))) is None
    risk = decide([[np.nan, 1.0], [3.0, 1.0]], [[0.0, 1.0], [3.0, 1.0]])
    assert risk.index == (1,)


def test_a_margin_that_is_infinite_no_more() -> None:
    risk = decide([[np.inf, 1.0]], [[0.0, 1.0]])
    assert (risk.room, risk.winner, risk.other) == (-np.inf, 0, 1)
    assert decide([[3.0, 1.0, -np.inf]], [[3.0, 1.0, -np.inf]]).room == 2.0


def test_value_whose_difference_reaches_the_boundary() -> None:
    a = np.array([[1.0, 1.24], [1.0, 1.0]])
    b = np.array([[1.01, 1.26], [1.0, np.nan]])
    risk = find_value_risk(a, b, 1)
    assert risk is not None
    assert (risk.index, risk.value, risk.other, risk.changed) == ((0, 1), 1.24, 1.26, True)
    assert risk.distance == pytest.approx(0.01)
    assert risk.shift == pytest.approx(0.02)
    assert risk.room == pytest.approx(0.5)


def test_a_difference_away_from_the_boundary_is_at_risk_all_the_same() -> None:
    risk = find_value_risk(np.array([1.24]), np.array([1.22]), 1)
    assert risk is not None
    assert (risk.room < 1, risk.changed) == (True, False)


def test_values_that_did_not_move_have_no_risk() -> None:
    assert find_value_risk(np.array([0.5, np.nan]), np.array([0.5, 1.0]), 0) is None


def test_values_beyond_all_decimals() -> None:
    risk = find_value_risk(np.array([1e300]), np.array([1.1e300]), 20)
    assert risk is not None
    assert risk.changed


def test_what_cannot_be_compared() -> None:
    with pytest.raises(TypeError, match="only floats"):
        find_value_risk(np.zeros(1, int), np.zeros(1, int), 0)
    for find in (find_value_risk, find_decision_risk):
        with pytest.raises(ValueError, match="cannot be compared"):
            find(np.zeros((1, 2)), np.zeros((2, 1)), 0)
    with pytest.raises(ValueError, match="at least one"):
        Closest(0)
    with pytest.raises(ValueError, match="cannot join"):
        Closest(1).merge(Closest(2))


@given(
    hnp.arrays(np.float32, (3, 4), elements=st.floats(-4, 4, width=32)),
    hnp.arrays(np.float32, (3, 4), elements=st.floats(-1, 1, width=32)),
)
def test_positive_room_means_no_flip(a: np.ndarray, shift: np.ndarray) -> None:
    b = a + shift
    risk = decide(a, b)
    if risk.room > 0:
        assert (a.argmax(1) == b.argmax(1)).all()


@given(
    hnp.arrays(np.float64, 5, elements=st.floats(-9, 9)),
    hnp.arrays(np.float64, 5, elements=st.floats(-0.1, 0.1)),
    st.integers(0, 4),
)
def test_room_above_one_means_no_other_print(a: np.ndarray, shift: np.ndarray, k: int) -> None:
    risk = find_value_risk(a, a + shift, k)
    if risk is None or risk.room > 1 + 1e-6:
        shown = [[float(format(value, f".{k}f")) for value in z] for z in (a, a + shift)]
        assert shown[0] == shown[1]


updates = st.lists(st.tuples(st.integers(0, 6), st.none() | st.integers(0, 5)), max_size=20)


def keep(what: list[tuple[int, int | None]], first: int = 0) -> Closest[ValueRisk]:
    closest: Closest[ValueRisk] = Closest(3)
    for number, (sample, room) in enumerate(what, first):
        risk = None
        if room is not None:
            risk = ValueRisk(float(room), (number,), 0.0, 1.0, 2, 0.5, 0.5, changed=False)
        closest.update(risk, sample=sample)
    return closest


@given(updates)
def test_kept_are_the_first_of_all(what: list) -> None:
    least: dict[int, tuple[int, int]] = {}
    for number, (sample, room) in enumerate(what):
        if room is not None and (room, number) < least.get(sample, (99, 0)):
            least[sample] = room, number
    expected = sorted((*entry, sample) for sample, entry in least.items())[:3]
    found = keep(what).read()
    assert all(isinstance(kept, Kept) for kept in found)
    assert [(kept.risk.room, kept.risk.index[0], kept.sample) for kept in found] == expected


@given(updates, updates)
def test_merged_shards_are_one_pass(first: list, second: list) -> None:
    merged = keep(first)
    merged.merge(keep(second, len(first)))
    assert merged.read() == keep(first + second).read()
