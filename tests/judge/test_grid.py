from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from detaudit.judge.grid import Agreement, audited_grids, find_agreement
from tests.records import Plan, always, floats, make_record


def agree(*groups: list[list[int]], confidence: float = 0.95) -> Agreement:
    return find_agreement(np.array(groups), confidence)


def test_runs_lie_in_the_grid_where_they_were_made() -> None:
    plan = Plan(runs=4, sessions=3, processes=2, samples=2)

    def call(process: int, session: int, sample: int, run: int) -> dict[str, np.ndarray]:
        number = ((process * 3 + session) * 2 + sample) * 4 + run
        return {"steady": floats(0), "y": floats(number)}

    (grid,) = audited_grids(make_record({"cpu": call}, plan))
    assert grid.name == "cpu"
    assert grid.outcome.shape == (2, 3, 2, 4, 2)
    assert grid.seconds.shape == (2, 3, 2, 4)
    assert (grid.outcome[..., 0] == 0).all()
    # The k-th result of a sample has the number k in the order of processes, sessions and runs.
    for sample in range(2):
        assert grid.outcome[:, :, sample, :, 1].ravel().tolist() == list(range(24))
    assert grid.groups(1, "run").shape == (2, 6, 4)
    assert grid.groups(1, "run")[0].tolist() == np.arange(24).reshape(6, 4).tolist()
    assert grid.groups(1, "session").shape == (2, 2, 3)
    assert grid.groups(1, "session")[1].tolist() == [[0, 4, 8], [12, 16, 20]]
    assert grid.groups(1, "process").shape == (2, 1, 2)
    assert grid.groups(1, "process")[0].tolist() == [[0, 12]]
    assert [o.sample for o in grid.outcomes(1)] == [0, 1]


def test_only_targets_that_ran_can_be_judged() -> None:
    record = make_record({"cuda:0": "no driver", "cpu": always(floats(1))})
    assert [(grid.number, grid.name) for grid in audited_grids(record)] == [(1, "cpu")]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        # One group of three that are equal: two comparisons.
        ([[[0, 0, 0]]], Agreement(2, 3, 1, 1.0, False, 1 - 0.05**0.5)),
        # Two groups: each session of its own is compared with its first only.
        ([[[0, 0, 0], [1, 1, 1]]], Agreement(4, 3, 1, 1.0, False, 1 - 0.05**0.25)),
        # Samples share a session: they add no comparison.
        ([[[0, 0, 0]], [[0, 0, 0]]], Agreement(2, 3, 1, 1.0, False, 1 - 0.05**0.5)),
        ([[[0]]], Agreement(0, 1, 1, 1.0, False, None)),
        ([[[0, 1]]], Agreement(1, 2, 2, 0.5, False, None)),
        ([[[0, 1, 1, 1]]], Agreement(3, 4, 2, 0.75, True, None)),
        ([[[0, 1, 1, 1], [1, 1, 1, 1]]], Agreement(6, 4, 2, 0.75, True, None)),
        ([[[0, 1, 1, 1], [0, 0, 0, 1]]], Agreement(6, 4, 2, 0.75, False, None)),
        ([[[0, 0, 0, 1]]], Agreement(3, 4, 2, 0.75, False, None)),
        ([[[0, 1, 2, 3]]], Agreement(3, 4, 4, 0.25, False, None)),
        ([[[0, 0, 0, 0]], [[0, 1, 0, 1]]], Agreement(3, 4, 2, 0.5, False, None)),
        ([[[-1, 0, 0, 0]]], Agreement(3, 4, 2, 0.75, True, None)),
        ([[[-1, -1, -1]]], Agreement(2, 3, 1, 1.0, False, 1 - 0.05**0.5)),
    ],
)
def test_agreement(groups: list[list[list[int]]], expected: Agreement) -> None:
    found = find_agreement(np.array(groups), 0.95)
    assert found.bound == (None if expected.bound is None else pytest.approx(expected.bound))
    assert (
        found.comparisons,
        found.units,
        found.distinct,
        found.modal_share,
        found.first_differs,
    ) == (
        expected.comparisons,
        expected.units,
        expected.distinct,
        expected.modal_share,
        expected.first_differs,
    )


@pytest.mark.parametrize(
    ("units", "percent"), [(2, 95.0), (5, 52.7), (20, 14.6), (60, 4.95), (300, 1.0)]
)
def test_bounds_are_those_of_the_method(units: int, percent: float) -> None:
    """Section 2: with N equal units, instability is at most 1 - 0.05 ** (1 / (N - 1))."""
    bound = agree([[0] * units]).bound
    assert bound is not None
    assert bound * 100 == pytest.approx(percent, rel=5e-3)


def test_more_confidence_needs_a_wider_bound() -> None:
    bounds = [agree([[0] * 10], confidence=c).bound or 0 for c in (0.5, 0.9, 0.99)]
    assert bounds == sorted(bounds)
    assert len(set(bounds)) == 3


@given(
    groups=npst.arrays(
        np.int32,
        npst.array_shapes(min_dims=3, max_dims=3, max_side=4),
        elements=st.integers(0, 3),
    )
)
def test_agreement_is_that_of_a_slow_count(groups: np.ndarray) -> None:
    found = find_agreement(groups, 0.95)
    rows = groups.reshape(-1, groups.shape[-1]).tolist()
    assert found.distinct == max(len(set(row)) for row in rows)
    assert found.modal_share == min(max(row.count(v) for v in row) / len(row) for row in rows)
    varying = [row for row in rows if len(set(row)) > 1]
    first = bool(varying) and all(
        len(row) > 2 and len(set(row[1:])) == 1 and row[0] != row[1] for row in varying
    )
    assert found.first_differs == first
    assert (found.bound is None) == (bool(varying) or groups.shape[-1] == 1)
