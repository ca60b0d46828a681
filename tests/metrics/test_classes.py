"""Decisions that scores lead to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from detaudit.metrics.classes import Classes, ClassesSummary, Flip
from detaudit.metrics.flips import cantelli_flip_bound


def measure(a: object, b: object, **kwargs: object) -> ClassesSummary:
    classes = Classes()
    classes.update(np.asarray(a), np.asarray(b), sample="x", **kwargs)
    return classes.read()


def test_margin_of_one_step_is_at_risk() -> None:
    up = np.nextafter(np.float32(1), np.float32(2))
    scores = np.array([[1.0, up]], np.float32)
    summary = measure(scores, scores[:, ::-1])
    assert (summary.flips, summary.ties) == (1, 0)
    assert summary.min_margin == 2.0**-23
    assert summary.at_risk == 1
    assert summary.first_flip == Flip("x", (0,), 1, 0)


def test_tie_is_counted_apart() -> None:
    summary = measure([[1.0, 1.0]], [[1.0, 1.0]])
    assert (summary.ties, summary.tie_changes, summary.flips) == (1, 0, 0)
    assert summary.min_margin is None
    assert summary.expected_flip_share is None


@pytest.mark.parametrize(
    ("a", "b", "changes"),
    [([1.0, 1.0], [1.0, 2.0], 1), ([1.0, 2.0], [2.0, 2.0], 1), ([2.0, 1.0], [2.0, 2.0], 0)],
)
def test_order_of_a_tie_on_either_side_is_no_flip(a: list, b: list, changes: int) -> None:
    summary = measure([a], [b])
    assert (summary.ties, summary.tie_changes, summary.flips) == (1, changes, 0)
    assert summary.samples_changed == 0


def test_softmax_next_to_a_tie() -> None:
    summary = measure(np.array([[0.5, 0.50000006]], "f4"), np.array([[0.50000006, 0.5]], "f4"))
    assert summary.flips == 1
    assert summary.min_margin == pytest.approx(6e-8, rel=0.01)


def test_far_rivals_clear_what_twice_the_change_does_not() -> None:
    # The largest change is that of the last class, which is too far away to win.
    summary = measure([[1.0, 0.9, -9.0]], [[1.0, 0.9, -8.0]])
    assert summary.max_abs == 1.0
    assert summary.max_margin_shift == 1.0
    assert summary.at_risk == 0


def test_common_shift_moves_no_margin() -> None:
    summary = measure([[1.0, 0.5]], [[2.0, 1.5]])
    assert summary.max_abs == 1.0
    assert summary.max_margin_shift == 0.0
    assert summary.at_risk == 0
    assert summary.expected_flip_share == 0.0


def test_change_that_widened_the_margin_could_have_closed_it() -> None:
    summary = measure([[1.0, 0.9]], [[1.2, 0.8]])
    assert (summary.flips, summary.at_risk) == (0, 1)


@pytest.mark.parametrize(
    ("a", "b", "lost"),
    [
        ([1, np.nan, 2], [1, np.nan, 2], 0),
        ([1, 0, 2], [1, np.nan, 2], 1),
        ([1, np.nan, 2], [1, 0, 2], 1),
    ],
)
def test_nan_has_no_class(a: list, b: list, lost: int) -> None:
    summary = measure([a], [b])
    assert (summary.decisions, summary.unclassed, summary.class_lost) == (1, 1, lost)
    assert summary.flips == 0
    assert summary.samples_changed == lost


def test_nan_leaves_the_other_rows_in_place() -> None:
    summary = measure([[np.nan, 0], [1, 0], [0, 1]], [[np.nan, 0], [1, 0], [1, 0]])
    assert summary.first_flip == Flip("x", (2,), 1, 0)


def test_infinite_scores() -> None:
    summary = measure([[np.inf, 1, -np.inf]], [[np.inf, 2, -np.inf]])
    assert (summary.flips, summary.ties, summary.at_risk) == (0, 0, 0)
    summary = measure([[np.inf, np.inf]], [[np.inf, np.inf]])
    assert summary.ties == 1
    summary = measure([[np.inf, 1]], [[0, 1]])
    assert (summary.flips, summary.at_risk) == (1, 1)


def test_steps_of_a_sequence() -> None:
    a = np.array([[3, 1, 2], [1, 3, 2], [0, 1, 5]], np.float32)
    b = np.array([[3, 1, 2], [3, 1, 2], [5, 1, 0]], np.float32)
    classes = Classes()
    classes.update(a, b, sample=0)
    classes.update(a, a, sample=1)
    summary = classes.read()
    assert (summary.decisions, summary.flips) == (6, 2)
    assert (summary.samples, summary.samples_changed) == (2, 1)
    assert summary.flip_share == 1 / 3
    assert summary.first_flip == Flip(0, (1,), 1, 0)


def test_axis_of_the_classes() -> None:
    a = np.zeros((2, 3, 4))
    a[0] = 1
    b = a.copy()
    b[1, 2, 3] = 2
    summary = measure(a, b, axis=0)
    assert (summary.decisions, summary.flips) == (12, 1)
    assert summary.first_flip == Flip("x", (2, 3), 0, 1)
    with pytest.raises(ValueError, match="no axis 3"):
        measure(a, b, axis=3)


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_one_column_is_compared_with_a_threshold(threshold: float | None) -> None:
    summary = measure([[0.4], [0.8], [0.5]], [[0.6], [0.75], [0.4]], threshold=threshold)
    assert summary.decisions == 3
    assert (summary.flips, summary.ties, summary.tie_changes) == (1, 1, 1)
    assert summary.min_margin == pytest.approx(0.1)
    assert summary.at_risk == 1
    assert summary.first_flip == Flip("x", (0,), False, True)


def test_labels_that_do_not_exclude_each_other() -> None:
    summary = measure([[0.9, 0.4, 0.9]], [[0.9, 0.6, 0.2]], threshold=0.5)
    assert (summary.decisions, summary.flips) == (3, 2)
    assert summary.first_flip == Flip("x", (0, 1), False, True)


@pytest.mark.parametrize("dtype", [object, "U"])
def test_string_labels(dtype: object) -> None:
    classes = Classes()
    classes.update_labels(np.array(["cat"], dtype), np.array(["dog"], dtype), sample=1)
    classes.update_labels(np.array(["cat"], dtype), np.array(["cat"], dtype), sample=2)
    summary = classes.read()
    assert (summary.decisions, summary.flips, summary.samples_changed) == (2, 1, 1)
    assert summary.first_flip == Flip(1, (0,), "cat", "dog")
    assert summary.min_margin is None
    assert summary.expected_flip_share is None


def test_integer_labels() -> None:
    classes = Classes()
    classes.update_labels(np.array([[1, 2]]), np.array([[1, 3]], np.int32), weight=3, sample=1)
    summary = classes.read()
    assert (summary.decisions, summary.flips, summary.samples) == (6, 3, 1)
    assert summary.first_flip == Flip(1, (0, 1), 2, 3)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0,)])
def test_no_scores_no_decisions(shape: tuple[int, ...]) -> None:
    summary = measure(np.zeros(shape), np.zeros(shape))
    assert (summary.decisions, summary.flips, summary.samples) == (0, 0, 1)


def test_scalars_have_no_classes() -> None:
    with pytest.raises(ValueError, match="no axis"):
        measure(1.0, 1.0)


def test_shapes_must_match() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        measure(np.zeros((1, 2)), np.zeros((1, 3)))
    with pytest.raises(ValueError, match="cannot be compared"):
        Classes().update_labels(np.zeros(1, int), np.zeros(2, int), sample=0)


def test_nothing_seen_yet() -> None:
    summary = Classes().read()
    assert (summary.samples, summary.decisions, summary.flip_upper_bound) == (0, 0, None)


def test_no_flip_in_many_samples_has_a_bound() -> None:
    classes = Classes()
    for sample in range(60):
        classes.update(np.array([[1.0, 0.0]]), np.array([[1.1, 0.0]]), weight=5, sample=sample)
    assert classes.read().flip_upper_bound == pytest.approx(1 - 0.05 ** (1 / 60))


def test_expected_share_is_what_a_simulation_shows() -> None:
    rng = np.random.default_rng(5)
    n, sigma = 400_000, 2e-3
    scores = np.zeros((n, 2))
    scores[:, 0] = rng.standard_normal(n)
    noise = sigma * rng.standard_normal((40, n))
    share = np.mean((scores[:, 0] >= 0) != (scores[:, 0] + noise >= 0))
    classes = Classes()
    moved = scores.copy()
    moved[:, 0] += noise[0]
    classes.update(scores, moved, sample=0)
    summary = classes.read()
    assert summary.expected_flip_share == pytest.approx(share, rel=0.05)
    assert not summary.extrapolated


def test_expected_share_of_one_column_has_no_other_factor() -> None:
    rng = np.random.default_rng(6)
    n, sigma = 400_000, 2e-3
    x = rng.random((n, 1))
    noise = sigma * rng.standard_normal((40, n, 1))
    share = np.mean((x >= 0.5) != (x + noise >= 0.5))
    classes = Classes()
    classes.update(x, x + noise[0], sample=0)
    assert classes.read().expected_flip_share == pytest.approx(share, rel=0.05)


def test_few_small_margins_make_an_extrapolation() -> None:
    margins = np.arange(1, 101)[:, None] / 100
    scores = np.hstack([margins, np.zeros_like(margins)])
    summary = measure(scores, scores + np.array([0.001, 0.0]))
    assert summary.extrapolated
    assert summary.within_largest_shift == 0
    assert summary.expected_flip_share == pytest.approx(0.001 / 2, rel=0.2)


def test_share_within_the_largest_shift_spans_samples() -> None:
    classes = Classes()
    classes.update(np.array([[1.0, 0.9]]), np.array([[1.0, 0.9]]), sample="close")
    classes.update(np.array([[5.0, 0.0]]), np.array([[5.2, 0.0]]), sample="moved")
    summary = classes.read()
    assert summary.at_risk == 0
    assert summary.within_largest_shift == 1
    assert summary.closest == "close"


def test_cantelli_bound_holds_where_it_is_reached() -> None:
    # The two-point law that reaches the bound: margin 3, standard deviation 1.
    p = cantelli_flip_bound(1.0, 3.0)
    values, weights = np.array([0.0, 3 + 1 / 3]), np.array([p, 1 - p])
    mean = (values * weights).sum()
    assert mean == pytest.approx(3.0)
    assert ((values - mean) ** 2 * weights).sum() == pytest.approx(1.0)
    assert cantelli_flip_bound(0.0, 0.0) == 0.0
    assert cantelli_flip_bound(2.0, 0.0) == 1.0


scores = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 4), st.integers(2, 4)),
    elements=st.sampled_from([-np.inf, -1, 0, 0.5, 1, 1.25, np.inf, np.nan]),
)


@st.composite
def score_pairs(draw: st.DrawFn) -> list[tuple[np.ndarray, np.ndarray]]:
    firsts = draw(st.lists(scores, min_size=1, max_size=5))
    return [
        (a, draw(hnp.arrays(a.dtype, a.shape, elements=st.sampled_from([0, 1, 2])))) for a in firsts
    ]


@given(score_pairs(), st.integers(0, 5), st.integers(1, 3), st.sampled_from([None, 0.5]))
def test_merged_shards_and_weights_are_one_pass(
    what: list, cut: int, weight: int, threshold: float | None
) -> None:
    one, first, second = Classes(), Classes(), Classes()
    for i, (a, b) in enumerate(what):
        for _ in range(weight):
            one.update(a, b, threshold=threshold, sample=i)
        part = first if i < cut else second
        part.update(a, b, threshold=threshold, weight=weight, sample=i)
    first.merge(second)
    assert first.read() == one.read()


@given(score_pairs())
def test_each_decision_is_of_one_sort(what: list) -> None:
    for a, b in what:
        summary = measure(a, b)
        assert summary.decisions == len(a)
        assert summary.flips <= summary.at_risk
        assert summary.flips + summary.ties + summary.unclassed <= summary.decisions
        assert summary.class_lost <= summary.unclassed


@given(score_pairs())
def test_certain_decisions_do_not_flip(what: list) -> None:
    for a, b in what:
        for x, y in zip(a, b, strict=True):
            summary = measure(x, y)
            if summary.min_margin is not None and summary.min_margin > 2 * summary.max_abs:
                assert summary.flips == summary.at_risk == 0
