from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from detaudit.capture import fold as folding
from detaudit.judge.judge import judge
from detaudit.models.model import TensorInfo
from detaudit.rows import Deviation, Worst
from tests.records import Call, Plan, always, by_run, floats, make_model, make_record

OFF = "cpu[opt=off]"


def rows(reference: Call, other: Call, plan: Plan | None = None, **options: Any) -> list[Deviation]:
    return list(judge(make_record({"cpu": reference, OFF: other}, plan, **options)).deviation)


def test_equal_targets() -> None:
    (row,) = rows(always(floats(1, 2)), always(floats(1, 2)))
    assert row == Deviation(
        target=OFF,
        reference="cpu",
        output="y",
        label=None,
        identical=True,
        same_values=True,
        elements=2,
        finite=2,
        max_abs=0.0,
        mean_abs=0.0,
        mean_signed=0.0,
        p50=0.0,
        p90=0.0,
        p99=0.0,
        rel_norm=0.0,
        bits_kept=None,
        max_ulp=0,
        changed_share=0.0,
        nan_pattern_changed=False,
        structural=None,
        worst=None,
        explanation=None,
    )


def test_every_figure() -> None:
    one, other = floats(1, -2, 4, 0), floats(1, -2.5, 4.25, 0)
    (row,) = rows(always(one), always(other))
    assert (row.identical, row.same_values) == (False, False)
    assert (row.elements, row.finite) == (4, 4)
    assert (row.max_abs, row.mean_abs, row.mean_signed) == (0.5, 0.1875, -0.0625)
    assert row.changed_share == 0.5
    assert row.rel_norm == 0.125
    assert row.bits_kept == 3
    assert row.max_ulp == 2**21
    assert row.worst == Worst(sample=0, index=(1,), value=-2.5, reference_value=-2.0)
    assert (row.p50, row.p99) == (pytest.approx(0, abs=1e-9), pytest.approx(0.5, rel=1 / 16))


def test_all_samples_count_and_the_worst_is_named() -> None:
    def other(process: int, session: int, sample: int, run: int) -> dict[str, np.ndarray]:
        return {"y": floats(1 + 0.25 * sample, 1)}

    (row,) = rows(always(floats(1, 1)), other, Plan(samples=3))
    assert row.elements == 6
    assert row.mean_signed == pytest.approx(0.75 / 6)
    assert row.worst == Worst(2, (0,), 1.5, 1.0)


def test_every_result_counts_as_often_as_it_came() -> None:
    (row,) = rows(always(floats(1)), by_run(floats(1), floats(2)))
    assert row.mean_abs == 0.75
    assert row.max_abs == 1
    assert not row.identical


def test_a_reference_that_varies_is_its_first_result() -> None:
    (row,) = rows(by_run(floats(1), floats(2)), always(floats(1)))
    assert row.identical


def test_labels_have_rows_of_their_own() -> None:
    labels = (("y", ("cat", "dog")),)
    found = rows(always(np.float32([[1, 2]])), always(np.float32([[1.5, 2]])), labels=labels)
    assert [(row.label, row.identical, row.max_abs) for row in found] == [
        (None, False, 0.5),
        ("cat", False, 0.5),
        ("dog", True, 0.0),
    ]
    assert [row.elements for row in found] == [2, 1, 1]
    assert found[1].worst == Worst(0, (0, 0), 1.5, 1.0)


def test_keys_of_a_map_are_labels() -> None:
    found = rows(always([{"a": 1.0, "b": 2.0}]), always([{"a": 1.0, "b": 2.5}]))
    assert [(row.label, row.max_abs) for row in found] == [(None, 0.5), ("a", 0), ("b", 0.5)]


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (floats(1), floats(1, 2), "shape (2,) against (1,)"),
        (floats(1), np.array([1]), "type"),
        (floats(1), np.array(["1"]), "type"),
        ([{"a": 1.0}], [{"b": 1.0}], "keys b against a"),
    ],
)
def test_structures_cannot_be_compared(one: Any, other: Any, words: str) -> None:
    row = rows(always(one), always(other))[0]
    assert not row.identical
    assert not row.same_values
    assert row.structural is not None
    assert words in row.structural or row.structural == "shape (1,) against (2,)"
    assert (row.max_abs, row.mean_abs, row.max_ulp, row.explanation) == (None,) * 4


def test_outputs_that_only_one_side_has() -> None:
    found = rows(
        lambda *_: {"y": floats(1), "old": floats(1)}, lambda *_: {"y": floats(1), "new": floats(1)}
    )
    assert [(row.output, row.identical, row.structural) for row in found] == [
        ("y", True, None),
        ("new", False, "the reference has no such output"),
        ("old", False, "only the reference has this output"),
    ]


def test_special_values() -> None:
    one = floats(np.nan, np.inf, -np.inf, 1, 2)
    (row,) = rows(always(one), always(one.copy()))
    assert (row.identical, row.elements, row.finite) == (True, 5, 2)
    (row,) = rows(always(one), always(floats(np.nan, -np.inf, -np.inf, np.nan, 2.5)))
    assert row.nan_pattern_changed
    assert row.max_abs == 0.5
    assert row.finite == 1
    (row,) = rows(always(floats(np.inf)), always(floats(65504)))
    assert row.nan_pattern_changed
    assert row.max_abs is None


def test_the_sign_of_zero() -> None:
    (row,) = rows(always(floats(0.0)), always(floats(-0.0)))
    assert (row.identical, row.same_values, row.max_abs, row.max_ulp) == (False, True, 0, 0)


def test_integers_never_wrap() -> None:
    (row,) = rows(always(np.array([2], np.uint8)), always(np.array([1], np.uint8)))
    assert (row.max_abs, row.mean_signed) == (1, -1)
    (row,) = rows(always(np.array([2**53])), always(np.array([2**53 + 1])))
    assert row.max_abs == 1


def test_values_of_other_widths_are_compared_in_the_coarser_type() -> None:
    one = np.float32([1 / 3])
    (row,) = rows(always(one), always(one.astype(np.float64)))
    assert (row.identical, row.same_values, row.max_abs, row.max_ulp) == (False, True, 0, 0)
    (row,) = rows(always(np.array([1, 2], np.int32)), always(np.array([1, 2], np.int64)))
    assert row.same_values


def test_bfloat16_is_counted_on_its_own_grid() -> None:
    model = make_model("y")
    model = make_model("y", widened=("y",))
    declared = TensorInfo("y", "bfloat16", None)
    object.__setattr__(model, "outputs", (declared,))
    (row,) = rows(always(floats(1)), always(floats(1 + 2**-7)), model=model)
    assert row.max_ulp == 1
    (row,) = rows(always(floats(1)), always(floats(1 + 2**-7)))
    assert row.max_ulp == 2**16


def test_an_unusual_size_is_explained() -> None:
    (row,) = rows(always(floats(1, 2)), always(floats(1, 2.01)))
    assert row.explanation is not None
    assert "TF32" in row.explanation
    (row,) = rows(always(floats(1, 2)), always(floats(1, 2 + 2**-22)))
    assert row.explanation is None
    (row,) = rows(always(floats(1, 2)), always(floats(-2, 1)))
    assert row.explanation is not None
    assert "mismatch" in row.explanation


def test_results_beyond_the_limit_are_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first result is kept, and it has the bits of the reference."""
    monkeypatch.setattr(folding, "_KEPT_BYTES", 0)
    one = floats(1, 2, 3)
    (row,) = rows(always(one), by_run(one, floats(1, 2, 3.5), floats(1, 1.75, 3)))
    assert not row.identical
    assert not row.same_values
    assert row.max_abs == 0.5
    assert row.max_ulp == 2**21
    assert row.worst == Worst(0, (2,), 3.5, 3.0)
    assert math.isclose(row.rel_norm or 0, 0.5 / 3)


def test_text_beyond_the_limit_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "_KEPT_BYTES", 0)
    (row,) = rows(always(np.array(["a"])), by_run(np.array(["a"]), np.array(["b"])))
    assert not row.identical
    assert not row.same_values


def test_the_reference_can_be_any_target() -> None:
    record = make_record({"cpu": always(floats(1)), OFF: always(floats(1.5))}, reference=OFF)
    (row,) = judge(record).deviation
    assert (row.target, row.reference, row.mean_signed) == ("cpu", OFF, -0.5)


def test_nothing_is_compared_with_a_reference_that_did_not_run() -> None:
    record = make_record({"cuda:0": "no driver", "cpu": always(floats(1))})
    assert judge(record).deviation == ()
    record = make_record({"cpu": always(floats(1)), "cuda:0": "no driver"})
    assert judge(record).deviation == ()
