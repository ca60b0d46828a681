"""Class flips and rounding on a few numbers: margins of one step, ties, thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.report import Report
from detaudit.rows import Classes
from tests.cases.audits import kinds, message, only
from tests.cases.replay import in_one_session, on_samples, replay

SCORES = {"score_outputs": ("y",)}
FLOATS = ("float16", "float32", "float64")


def compare(reference: Any, other: Any, **judging: Any) -> Report:
    return replay(
        {"cpu": in_one_session(reference), "openvino": in_one_session(other)}, SCORES, **judging
    )


def classes(report: Report) -> Classes:
    return only(report.classes, target="openvino", reference="cpu")


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_margin_of_one_step(dtype: str) -> None:
    """It flips as soon as anything moves, and is at risk before."""
    up = np.nextafter(np.array(1, dtype), np.array(2, dtype))
    logits = np.array([[1, up]], dtype)
    same = classes(compare(logits, logits))
    assert (same.flips, same.ties, same.at_risk) == (0, 0, 0)
    assert same.min_margin == float(up) - 1
    flipped = compare(logits, logits[:, ::-1].copy(), requirement="no-class-flip")
    row = classes(flipped)
    assert (row.flips, row.max_margin_shift) == (1, 2 * (float(up) - 1))
    assert flipped.verdict.met is False


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_tie_is_no_flip(dtype: str) -> None:
    """Its index tells nothing, and the lower one stands for it."""
    tied, broken = np.array([[1, 1]], dtype), np.array([[1, 1.5]], dtype)
    row = classes(compare(tied, tied))
    assert (row.ties, row.flips) == (1, 0)
    report = compare(tied, broken)
    row = classes(report)
    assert (row.ties, row.flips) == (1, 0)
    assert "tie" in message(report, "ties", target="openvino")


def test_close_probabilities_print_alike() -> None:
    """0.5 and 0.50000006 are one class apart and equal at seven decimals but one."""
    half, more = np.float32([[0.5, 0.49999997]]), np.float32([[0.50000006, 0.5]])
    report = compare(half, more)
    assert classes(report).flips == 0
    changed = {row.decimals: row.changed for row in report.rounding if row.target == "openvino"}
    assert changed[6] == 0
    assert changed[7] == 1


def test_zero_flips_come_with_their_bound() -> None:
    """Zero in 4 inputs supports no more than 53 %."""
    logits = np.float32([[1, 2, 3]])
    calls = on_samples(*[logits] * 4)
    report = replay({"cpu": calls, "openvino": calls}, SCORES, requirement="flip-rate=0.5")
    row = classes(report)
    assert row.flip_upper_bound == pytest.approx(1 - 0.05 ** (1 / 4))
    assert report.verdict.met is False
    assert "a rate of at most 0.53" in report.verdict.failures[0]


def test_runs_among_themselves_flip_too() -> None:
    """Without any other target."""
    a, b = np.float32([[1, 1.001]]), np.float32([[1.002, 1]])
    report = replay({"cpu": in_one_session(a, b, a)}, SCORES)
    row = only(report.classes)
    assert (row.target, row.reference, row.flips) == ("cpu", "cpu", 1)
    assert "class-flips" in kinds(report)


def test_one_score_is_compared_with_its_threshold_when_asked() -> None:
    """A single column has no rival."""
    report = replay(
        {
            "cpu": in_one_session(np.float32([[0.49]])),
            "openvino": in_one_session(np.float32([[0.51]])),
        },
        classes=(("y", 1),),
    )
    row = classes(report)
    assert row.flips == 1
    assert row.min_margin == pytest.approx(0.01, abs=1e-6)


def test_embeddings_have_no_class() -> None:
    """No flips are reported where nothing says that classes are there."""
    x, y = np.float32([[1, 2]]), np.float32([[2, 1]])
    report = replay({"cpu": in_one_session(x), "openvino": in_one_session(y)})
    assert not report.classes
    unknown = replay(
        {"cpu": in_one_session(x), "openvino": in_one_session(y)}, requirement="no-class-flip"
    )
    assert unknown.verdict.met is False


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_labels_that_change_are_flips(dtype: str) -> None:
    """An output that holds classes already."""
    x, y = np.array([3, 1], dtype), np.array([3, 2], dtype)
    report = replay({"cpu": in_one_session({"label": x}), "openvino": in_one_session({"label": y})})
    row = classes(report)
    assert (row.samples, row.flips, row.min_margin) == (2, 1, None)
