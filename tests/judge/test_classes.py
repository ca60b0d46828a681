from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.judge.classes import holds_labels
from detaudit.judge.judge import judge
from detaudit.metrics.counts import find_upper_bound
from detaudit.record import OutputFacts
from detaudit.report import Report
from detaudit.rows import Classes
from tests.records import Call, Plan, always, by_run, floats, make_model, make_record

OFF = "cpu[opt=off]"
SCORES = make_model("y", score_outputs=("y",))


def both(reference: Call, other: Call, plan: Plan | None = None, **options: Any) -> Report:
    options = {"model": SCORES, **options}
    return judge(make_record({"cpu": reference, OFF: other}, plan, **options))


def against(report: Report) -> Classes:
    (row,) = [row for row in report.classes if row.reference != row.target]
    return row


def test_a_flip() -> None:
    row = against(both(always(floats(0.4, 0.6)), always(floats(0.55, 0.45))))
    assert (row.target, row.reference, row.output) == (OFF, "cpu", "y")
    assert (row.samples, row.flips, row.ties, row.no_class) == (1, 1, 0, 0)
    assert row.flip_upper_bound == 1
    assert row.min_margin == pytest.approx(0.2)
    assert row.max_margin_shift == pytest.approx(0.3)
    assert row.at_risk == 1


def test_no_flip_in_n_samples() -> None:
    def scores(process: int, session: int, sample: int, run: int) -> dict[str, np.ndarray]:
        return {"y": floats(0.1, 0.9 - sample / 100)}

    row = against(both(scores, scores, Plan(samples=20)))
    assert (row.samples, row.flips, row.at_risk) == (20, 0, 0)
    assert row.flip_upper_bound == pytest.approx(1 - 0.05 ** (1 / 20))
    assert row.expected_flip_share == 0


def test_a_margin_that_is_not_clear_of_the_changes_is_at_risk() -> None:
    one = np.float64([[1.0, 0.999], [1.0, 0.5]])
    row = against(both(always(one), always(one - np.array([[0, 0.002], [0, 0]]))))
    assert (row.samples, row.flips, row.at_risk) == (2, 0, 1)
    assert row.min_margin == pytest.approx(0.001)
    assert row.extrapolated


def test_a_margin_of_one_ulp() -> None:
    one = np.float32([1.0, np.nextafter(np.float32(1), np.float32(2))])
    row = against(both(always(one), always(one[::-1])))
    assert (row.flips, row.ties) == (1, 0)


def test_ties_are_counted_apart() -> None:
    row = against(both(always(floats(1, 1)), always(floats(1, 1))))
    assert (row.samples, row.ties, row.flips) == (1, 1, 0)
    assert row.min_margin is None


def test_nan_has_no_class() -> None:
    row = against(both(always(floats(1, np.nan)), always(floats(1, np.nan))))
    assert (row.samples, row.no_class, row.flips) == (1, 1, 0)
    row = against(both(always(floats(1, 2)), always(floats(1, np.nan))))
    assert (row.no_class, row.flips) == (1, 1)


def test_every_step_of_a_sequence_decides() -> None:
    one = np.float32([[[1, 0], [1, 0], [0, 1]]])
    other = np.float32([[[1, 0], [0, 1], [0, 1]]])
    row = against(both(always(one), always(other)))
    assert (row.samples, row.flips) == (3, 1)
    # The steps of one input are not independent of each other.
    assert row.flip_upper_bound == find_upper_bound(1, 1)


def test_the_axis_of_the_classes() -> None:
    one, other = np.float32([[1, 5], [2, 4]]), np.float32([[2, 5], [1, 4]])
    assert against(both(always(one), always(other), classes=(("y", 0),))).flips == 1
    assert against(both(always(one), always(other), classes=(("y", -2),))).flips == 1
    assert against(both(always(one), always(other), classes=(("y", 1),))).flips == 0
    assert against(both(always(one), always(other))).flips == 0


def test_no_classes_when_told_so() -> None:
    assert both(always(floats(1, 0)), always(floats(0, 1)), classes=()).classes == ()


def test_embeddings_have_no_class() -> None:
    report = both(always(floats(1, 0)), always(floats(0, 1)), model=make_model("y"))
    assert report.classes == ()


def test_the_keys_of_a_map_are_classes() -> None:
    report = both(
        always([{"cat": 1.0, "dog": 0.0}]),
        always([{"cat": 0.0, "dog": 1.0}]),
        model=make_model("y"),
    )
    assert against(report).flips == 1


def test_squashed_values_do_not_compete() -> None:
    model = make_model("y", score_outputs=("y",), squashed_outputs=("y",))
    assert both(always(floats(1, 0)), always(floats(0, 1)), model=model).classes == ()


def test_a_single_score_is_no_choice_unless_told_so() -> None:
    one, other = np.float32([[0.4]]), np.float32([[0.6]])
    assert both(always(one), always(other)).classes == ()
    row = against(both(always(one), always(other), classes=(("y", -1),)))
    assert (row.flips, row.min_margin) == (1, pytest.approx(0.1))


def test_labels_are_classes_already() -> None:
    one, other = np.array(["cat", "dog"]), np.array(["cat", "owl"])
    row = against(both(always(one), always(other), model=make_model("y")))
    assert (row.samples, row.flips) == (2, 1)
    assert (row.min_margin, row.max_margin_shift, row.expected_flip_share) == (None,) * 3
    report = both(
        always(np.array([1, 2]), "label"),
        always(np.array([1, 3]), "label"),
        model=make_model("label"),
    )
    assert against(report).flips == 1


@pytest.mark.parametrize(
    ("path", "dtype", "expected"),
    [
        ("label", "int64", True),
        ("predicted_label", "int64", True),
        ("output_labels", "int32", True),
        ("classes", "uint8", True),
        ("Class:0", "int64", True),
        ("y", "string", True),
        ("classifier_steps", "int64", False),
        ("declassified", "int64", False),
        ("num_boxes", "int64", False),
        ("label", "float32", False),
        ("label", "bool", False),
    ],
)
def test_which_outputs_hold_labels(path: str, dtype: str, expected: bool) -> None:
    assert holds_labels(OutputFacts(path, dtype, (1,))) == expected


def test_flips_among_the_runs_of_one_target() -> None:
    report = judge(make_record({"cpu": by_run(floats(0.4, 0.6), floats(0.6, 0.4))}, model=SCORES))
    (row,) = report.classes
    assert (row.target, row.reference) == ("cpu", "cpu")
    # Each of the two results is one decision.
    assert (row.samples, row.flips) == (2, 1)


def test_shapes_that_differ_have_no_decisions() -> None:
    report = both(always(floats(1, 0)), always(floats(1, 0, 2)))
    assert [row for row in report.classes if row.reference != row.target] == []


def test_nothing_to_decide() -> None:
    empty = np.zeros((0, 3), np.float32)
    assert both(always(empty), always(empty)).classes == ()
