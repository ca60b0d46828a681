"""Margins of decisions, and what they let expect."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.metrics.classes import Classes
from detaudit.metrics.margins import Margins


def test_no_margins() -> None:
    margins = Margins()
    assert margins.mean_shift is None
    assert margins.expect_flips(1.0) == (None, False)


def test_nothing_moved() -> None:
    margins = Margins()
    margins.add(np.array([1.0, 2.0]), np.zeros(2))
    assert margins.expect_flips(0.0) == (0.0, False)


def test_changes_of_small_margins_count_alone() -> None:
    margins = Margins()
    margins.add(np.arange(1.0, 16.0), np.full(15, 2.0))
    margins.add(np.arange(16.0, 1001.0), np.zeros(985))
    share, extrapolated = margins.expect_flips(15.9)
    # 15 of 1,000 margins lie below 16, so their density is 15 / 16,000 at a mean change of 2.
    assert share == pytest.approx(15 / 16_000 * 2 / 2)
    assert not extrapolated
    assert margins.mean_shift == 0.03


def test_one_margin_does_not_become_ten_by_repetition() -> None:
    classes, reference = Classes(), np.array([[1.0, 0.999]])
    for run in range(20):
        moved = reference + np.array([[0.0, 2e-3 + run * 1e-9]])
        classes.update(reference, moved, weight=3, sample="near")
    for sample in range(99):
        far = np.array([[5.0 + sample, 0.0]])
        classes.update(far, far, sample=sample)
    summary = classes.read()
    assert summary.extrapolated
    assert summary.within_largest_shift == 60


def test_only_infinite_margins() -> None:
    margins = Margins()
    margins.add(np.full(3, np.inf), np.ones(3))
    assert margins.expect_flips(1.0) == (0.0, True)


@pytest.mark.parametrize(("shift", "share"), [(0.0, 0.0), (1.0, 1.0)])
def test_margins_below_all_bins(shift: float, share: float) -> None:
    margins = Margins()
    margins.add(np.array([5e-324]), np.array([shift]))
    margins.add(np.array([1.0]), np.array([1.0]), seen=True)
    assert margins.expect_flips(1.0) == (share, True)


@pytest.mark.parametrize("squash", [False, True])
def test_saturated_scores_flip_as_often_as_their_logits(squash: bool) -> None:
    rng = np.random.default_rng(11)
    logits = 3 * rng.standard_normal((200_000, 2))
    moved = logits + 0.01 * rng.standard_normal(logits.shape)
    flips = np.mean((logits[:, 0] > logits[:, 1]) != (moved[:, 0] > moved[:, 1]))
    if squash:
        logits, moved = (np.exp(z) / np.exp(z).sum(1, keepdims=True) for z in (logits, moved))
    classes = Classes()
    classes.update(logits, moved, sample=0)
    assert classes.read().expected_flip_share == pytest.approx(flips, rel=0.2)


pieces = st.lists(
    st.tuples(
        st.lists(st.floats(0, 1e6, exclude_min=True), min_size=1, max_size=12),
        st.floats(0, 10),
        st.integers(1, 3),
        st.booleans(),
    ),
    max_size=5,
)


@given(pieces, pieces, st.floats(0, 100))
def test_merged_shards_are_one_pass(first: list, second: list, largest: float) -> None:
    one, two, both = Margins(), Margins(), Margins()
    for part, margins in ((first, one), (second, two)):
        for values, shift, weight, seen in part:
            for target in (margins, both):
                array = np.array(values)
                target.add(array, np.full(array.size, shift), weight, seen=seen)
    one.merge(two)
    assert one.expect_flips(largest) == both.expect_flips(largest)
    assert one.mean_shift == both.mean_shift
    assert one.count_within(largest) == both.count_within(largest)
