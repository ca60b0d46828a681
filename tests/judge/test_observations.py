from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.capture import fold as folding
from detaudit.judge.judge import judge
from detaudit.report import Finding
from detaudit.spec import JudgeSpec
from tests.records import Call, Plan, always, by_run, floats, make_record

OFF = "cpu[opt=off]"


def found(kind: str, reference: Call, other: Call | None = None, **options: Any) -> list[Finding]:
    targets = {"cpu": reference} if other is None else {"cpu": reference, OFF: other}
    report = judge(make_record(targets, **options))
    return [finding for finding in report.findings if finding.kind == kind]


def test_special_values_are_counted() -> None:
    (finding,) = found("special-values", always(floats(np.nan, np.inf, -np.inf, 1)))
    assert (finding.level, finding.target, finding.output) == ("info", "cpu", "y")
    assert finding.message.startswith("Contains 1 NaN and 2 infinite values of 4;")


@pytest.mark.parametrize("value", [floats(1), np.array([1]), np.array(["nan"]), np.zeros((0, 2))])
def test_no_special_values(value: np.ndarray) -> None:
    assert found("special-values", always(value)) == []


def test_results_that_were_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found("results-left-out", by_run(floats(1), floats(2))) == []
    monkeypatch.setattr(folding, "_KEPT_BYTES", 0)
    (finding,) = found("results-left-out", by_run(floats(1), floats(2)))
    assert (finding.target, finding.output) == ("cpu", "y")


def test_types_that_differ() -> None:
    one = np.array([1, 2], np.int32)
    (finding,) = found("type-differs", always(one), always(one.astype(np.int64)))
    assert finding.target == OFF
    assert finding.message.startswith("type int64 against int32:")
    assert found("type-differs", always(one), always(one)) == []


@pytest.mark.parametrize("other", [floats(1, 2), np.array([1, 2, 3], np.int64)])
def test_nothing_is_said_to_be_compared_by_value_where_it_could_not_be(other: np.ndarray) -> None:
    one = np.array([1, 2], np.int32)
    assert found("type-differs", always(one), always(other)) == []
    (finding,) = found("structure-differs", always(one), always(other))
    assert finding.message.startswith("Cannot be compared with cpu:")


def pair(values: Any, indices: Any) -> Call:
    return lambda *_: {"v": np.float32(values), "i": np.array(indices)}


@pytest.mark.parametrize(
    ("values", "mine", "theirs", "tied"),
    [
        ([3, 3], [0, 1], [1, 0], True),
        ([3, 2], [0, 1], [1, 0], False),
        ([3, 3, 2], [0, 1, 2], [1, 0, 2], True),
        ([3, 3, 2], [0, 1, 2], [0, 1, 5], False),
        ([[3, 3], [2, 1]], [[0, 1], [0, 1]], [[1, 0], [0, 1]], True),
        ([[3, 3], [2, 1]], [[0, 1], [0, 1]], [[1, 0], [1, 0]], False),
        ([3, 3], [0, 1], [0, 1], False),
        ([], [], [], False),
    ],
)
def test_indices_of_equal_values(values: Any, mine: Any, theirs: Any, tied: bool) -> None:
    findings = found("tied-indices", pair(values, theirs), pair(values, mine))
    assert [finding.output for finding in findings] == ["i"] * tied


def test_long_rows_of_indices_need_little_memory() -> None:
    size = 300_000
    values, indices = np.zeros(size, np.float32), np.arange(size)
    findings = found(
        "tied-indices",
        lambda *_: {"v": values, "i": indices},
        lambda *_: {"v": values, "i": indices[::-1].copy()},
        plan=Plan(runs=1, sessions=1, processes=1),
    )
    assert len(findings) == 1


def test_an_output_that_only_a_later_sample_has() -> None:
    """Detections: the first picture shows nothing, the second one thing."""

    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"boxes": [floats(np.nan, 2)] * sample, "ids": [np.array([1, 2])] * sample}

    plan = Plan(samples=2)
    report = judge(make_record({"cpu": call, OFF: call}, plan))
    assert [f.output for f in report.findings if f.kind == "special-values"] == ["boxes[0]"]
    assert all(row.identical for row in report.deviation)
    assert all(row.identical for row in report.repeatability if row.comparisons)


def test_an_output_that_the_reference_has_for_another_sample_only() -> None:
    def first(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"boxes": [floats(1, 2)] * (1 - sample)}

    def second(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"boxes": [floats(1, 2)] * sample}

    report = judge(make_record({"cpu": first, OFF: second}, Plan(samples=2)))
    rows = {row.output: row for row in report.deviation}
    assert not rows["len(boxes)"].identical
    assert not rows["boxes[0]"].identical


def test_another_reference_reaches_the_findings() -> None:
    """`show --reference` judges again: a note is then about the other target."""
    wide, narrow = always(np.array([1.5, 2.5])), always(np.array([1.5, 2.5], np.float32))
    record = make_record({"cpu": wide, "cpu[opt=off]": narrow}, Plan(runs=2))

    def noted(reference: str) -> list[str | None]:
        report = judge(record, JudgeSpec(reference=reference))
        return [note.target for note in report.findings if note.kind == "type-differs"]

    assert noted("cpu") == ["cpu[opt=off]"]
    assert noted("cpu[opt=off]") == ["cpu"]
