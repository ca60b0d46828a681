from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from detaudit.judge.judge import judge
from detaudit.metrics.counts import find_upper_bound
from detaudit.report import Report
from detaudit.rows import Decimals, Rounding
from tests.records import Call, Plan, always, by_run, floats, make_record

OFF = "cpu[opt=off]"
ONCE = Plan(runs=1, sessions=1, processes=1)


def both(reference: Call, other: Call, plan: Plan | None = None, **options: Any) -> Report:
    return judge(make_record({"cpu": reference, OFF: other}, plan, **options))


def rounding(report: Report, target: str = OFF, reference: str = "cpu") -> list[Rounding]:
    return [r for r in report.rounding if (r.target, r.reference) == (target, reference)]


def decimals(report: Report, target: str = OFF, reference: str = "cpu") -> Decimals:
    (row,) = [
        r for r in report.decimals if (r.target, r.reference, r.label) == (target, reference, None)
    ]
    return row


def printed(array: np.ndarray, k: int) -> list[str]:
    texts = [format(float(x), f".{k}f") for x in array.ravel()]
    zero = format(0.0, f".{k}f")
    return [zero if text == f"-{zero}" else text for text in texts]


@given(
    pair=st.tuples(
        st.sampled_from([np.float16, np.float32, np.float64]), st.integers(1, 5)
    ).flatmap(
        lambda kind: st.tuples(
            *[
                npst.arrays(
                    kind[0],
                    (kind[1],),
                    elements=st.floats(-100, 100, width=np.dtype(kind[0]).itemsize * 8)
                    | st.sampled_from([0.125, 0.375, 0.5, -0.5, 2.5, 0.0, -0.0, 0.0625]),
                )
            ]
            * 2
        )
    )
)
def test_what_prints_differently_is_what_python_prints_differently(
    pair: tuple[np.ndarray, np.ndarray],
) -> None:
    one, other = pair
    for row in rounding(both(always(one), always(other), ONCE)):
        expected = sum(
            a != b
            for a, b in zip(printed(one, row.decimals), printed(other, row.decimals), strict=True)
        )
        assert (row.changed, row.values) == (expected, one.size)


@given(values=st.lists(st.lists(st.floats(-9, 9, width=32), min_size=3, max_size=3), min_size=2))
def test_any_two_of_all_runs_are_compared(values: list[list[float]]) -> None:
    arrays = [np.float32(value) for value in values]
    report = judge(make_record({"cpu": by_run(*arrays)}, Plan(runs=len(arrays))))
    found = {row.decimals: row.changed for row in rounding(report, "cpu")}
    for k in range(8):
        texts = [printed(array, k) for array in arrays]
        changed = sum(len(set(column)) > 1 for column in zip(*texts, strict=True))
        assert found.get(k, 0) == changed


def test_every_row() -> None:
    report = both(always(np.float64([0.25, 0.5])), always(np.float64([0.25, 0.5004])), ONCE)
    found = rounding(report)
    assert [row.decimals for row in found] == list(range(8))
    assert [row.changed for row in found] == [1, 0, 0, 0, 1, 1, 1, 1]
    row = found[3]
    assert row.expected_share == pytest.approx(0.4 / 2)
    # 0.25 and 0.5 both lie half a unit of the third decimal away from where printing changes.
    assert row.at_risk_share == 0
    assert found[4].at_risk_share == 1
    assert found[3].changed_upper_bound == pytest.approx(find_upper_bound(0, 2))
    assert found[4].changed_upper_bound == pytest.approx(find_upper_bound(1, 2))


def test_the_runs_of_both_targets_count() -> None:
    """Any two results: the reference moves down, the target moves up."""
    report = both(by_run(floats(0.54), floats(0.47)), by_run(floats(0.54), floats(0.61)))
    assert [row.changed for row in rounding(report)][:2] == [1, 1]
    assert [row.changed for row in rounding(report, "cpu")][:2] == [1, 0]


def test_two_ulp_are_told_at_the_seventh_decimal() -> None:
    report = both(always(floats(-1.8208287)), always(floats(-1.8208290)), ONCE)
    assert [row.changed for row in rounding(report)] == [0] * 7 + [1]


def test_only_the_decimals_asked_for() -> None:
    report = both(always(floats(1)), always(floats(2)), ONCE, decimals=(2, 4))
    assert [row.decimals for row in rounding(report)] == [2, 3, 4]


def test_equal_runs_need_no_table() -> None:
    report = judge(make_record({"cpu": always(floats(1))}))
    assert report.rounding == ()
    row = decimals(report, "cpu")
    assert (row.agree, row.safe_1pct, row.safe_01pct) == (None, None, None)
    assert row.resolution == 6


def test_equal_targets_have_a_table_without_changes() -> None:
    report = both(always(floats(1, 2)), always(floats(1, 2)))
    assert [row.changed for row in rounding(report)] == [0] * 8
    assert {row.at_risk_share for row in rounding(report)} == {0}


@pytest.mark.parametrize("value", [np.array([1]), np.array(["a"]), np.array([True])])
def test_only_floats_are_rounded(value: np.ndarray) -> None:
    report = both(always(value), always(value))
    assert report.rounding == ()
    assert report.decimals == ()


def test_a_nan_that_comes_or_goes_prints_differently() -> None:
    report = both(always(floats(1, 2)), always(floats(1, np.nan)), ONCE)
    assert [row.changed for row in rounding(report)] == [1] * 8
    report = judge(make_record({"cpu": by_run(floats(1, np.nan), floats(1, 2))}))
    assert [row.changed for row in rounding(report, "cpu")] == [1] * 8
    report = judge(make_record({"cpu": by_run(floats(np.nan), floats(2))}))
    assert [row.changed for row in rounding(report, "cpu")] == [1] * 8


def test_shapes_that_differ_are_not_rounded() -> None:
    assert rounding(both(always(floats(1)), always(floats(1, 2)))) == []


@pytest.mark.parametrize(
    ("step", "agree", "safe_1pct", "safe_01pct"),
    [(1e-6, 5, 4, 3), (1e-3, 2, 1, 0), (1.0, -1, -2, -3), (0.5, 0, -2, -3)],
)
def test_decimals_of_the_method(step: float, agree: int, safe_1pct: int, safe_01pct: int) -> None:
    """Section 4: E|d| = D = 1e-6 gives agree 5, safe 4 at 1 % and 3 at 0.1 %."""
    one = np.float64([0.0, 0.0])
    row = decimals(both(always(one), always(one + step), ONCE))
    assert (row.agree, row.safe_1pct, row.safe_01pct) == (agree, safe_1pct, safe_01pct)


def test_the_mean_decides_what_is_safe_and_the_largest_what_agrees() -> None:
    one = np.zeros(100)
    other = one.copy()
    other[7] = 1e-4
    row = decimals(both(always(one), always(other), ONCE))
    assert (row.agree, row.safe_1pct, row.safe_01pct) == (3, 4, 3)


def test_decimals_end_where_the_type_ends() -> None:
    one = floats(640, 1)
    row = decimals(both(always(one), always(np.nextafter(one, floats(0, 0))), ONCE))
    assert row.resolution == 4
    assert (row.agree, row.safe_1pct) == (3, 2)
    row = decimals(both(always(one), always(floats(640, 1 - 2**-24)), ONCE))
    assert (row.agree, row.safe_1pct, row.safe_01pct) == (4, 4, 4)


def test_two_runs_may_lie_further_apart_than_each_from_the_reference() -> None:
    other = by_run(np.float64([0.9]), np.float64([1.1]))
    report = both(always(np.float64([1.0])), other)
    assert decimals(report).agree == 0
    assert report.deviation[0].max_abs == pytest.approx(0.1)


def test_labels_have_decimals_of_their_own() -> None:
    report = both(
        always(np.float64([0.5, 0.5])),
        always(np.float64([0.5, 0.501])),
        ONCE,
        labels=(("y", ("a", "b")),),
    )
    found = {r.label: r.agree for r in report.decimals if r.reference != r.target}
    assert found == {None: 2, "a": None, "b": 2}


def test_arrays_are_not_read_again_for_every_label() -> None:
    def count(labels: int) -> int:
        names = tuple(str(number) for number in range(labels))
        steady = {
            "cpu": always(floats(*range(labels))),
            "cpu[opt=off]": always(np.ones(labels, "f4")),
        }
        record = make_record(steady, labels=(("y", names),))
        watched = Counted(record.arrays)
        judge(replace(record, arrays=watched))
        return watched.reads

    assert count(40) == count(80)


class Counted(dict[str, np.ndarray]):
    """Arrays that count how often they are read."""

    reads = 0

    def __getitem__(self, key: str) -> np.ndarray:
        self.reads += 1
        return super().__getitem__(key)
