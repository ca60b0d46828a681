from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.errors import UsageError
from detaudit.judge.judge import judge
from detaudit.judge.matching import find_base, match_outputs, tells_structure
from detaudit.record import Record
from detaudit.report import Finding
from detaudit.target_row import OtherModel
from tests.records import Call, Facts, floats, make_model, make_torch_record

EXPORT = "cpu[model=export.onnx]"


def giving(**outputs: Any) -> Call:
    return lambda *_: outputs


def named(**outputs: Any) -> Call:
    """Names that are no identifiers: ``_`` stands before a number in brackets."""
    return giving(
        **{name.replace("_0", "[0]").replace("_1", "[1]"): v for name, v in outputs.items()}
    )


def record(mine: Call, theirs: Call, **options: Any) -> Record:
    facts = {EXPORT: Facts(model=make_model("y", path="export.onnx"))}
    return make_torch_record({"cpu": mine, EXPORT: theirs}, facts=facts, **options)


def paths(record: Record) -> list[str]:
    matched, _ = match_outputs(record)
    return [facts.path for facts in matched.targets[1].outputs]


def told(record: Record) -> tuple[Finding, ...]:
    return match_outputs(record)[1]


def test_outputs_of_the_same_names_are_matched_by_them() -> None:
    made = record(
        giving(logits=floats(1), hidden=floats(2)), giving(hidden=floats(2.5), logits=floats(1))
    )
    assert paths(made) == ["hidden", "logits"]
    assert told(made) == ()
    sizes = {row.output: row.max_abs for row in judge(made).deviation}
    assert sizes == {"hidden": 0.5, "logits": 0.0}


def test_outputs_of_other_names_are_matched_by_order() -> None:
    made = record(named(output_0=floats(1), output_1=floats(2)), giving(y=floats(1), z=floats(2.5)))
    assert paths(made) == ["output[0]", "output[1]"]
    message = (
        "Outputs of other names are matched by order: y stands for output[0], z stands for"
        " output[1]."
    )
    assert told(made) == (Finding("info", "matched-by-order", EXPORT, None, message),)
    report = judge(made)
    assert {row.output: row.max_abs for row in report.deviation} == {
        "output[0]": 0.0,
        "output[1]": 0.5,
    }
    assert {row.output for row in report.repeatability} == {"output[0]", "output[1]"}


def test_only_what_no_name_matches_is_matched_by_order() -> None:
    """Order alone would compare hidden with logits."""
    made = record(giving(hidden=floats(2), logits=floats(1)), giving(logits=floats(1), h=floats(2)))
    assert paths(made) == ["logits", "hidden"]
    assert "h stands for hidden." in told(made)[0].message
    assert all(row.identical for row in judge(made).deviation)


def test_lengths_and_presences_are_left_aside() -> None:
    """ONNX tells the length of a sequence, torch names the items alone."""
    made = record(
        named(boxes_0=floats(1), boxes_1=floats(2)), giving(seq=[floats(1), floats(2)], gone=None)
    )
    assert paths(made) == ["len(seq)", "boxes[0]", "boxes[1]", "present(gone)"]
    report = judge(made)
    assert [(row.output, row.identical) for row in report.deviation] == [
        ("boxes[0]", True),
        ("boxes[1]", True),
    ]
    other_way = record(giving(seq=[floats(1)]), giving(y=floats(1)))
    assert [row.output for row in judge(other_way).deviation] == ["seq[0]"]


def test_what_cannot_be_matched_is_told_and_never_meets_a_requirement() -> None:
    made = record(
        giving(logits=floats(1), hidden=floats(2)),
        giving(logits=floats(1), a=floats(2), b=floats(3)),
        requirement="identical",
    )
    assert paths(made) == ["logits", "a", "b"]
    report = judge(made)
    message = (
        "No counterpart is found for a, b, hidden: neither the names nor the number of outputs are"
        " those of cpu. Only outputs of the same name are compared."
    )
    assert report.findings == (Finding("warning", "outputs-unmatched", EXPORT, None, message),)
    rows = [(row.output, row.identical, row.structural) for row in report.deviation]
    assert rows == [
        ("logits", True, None),
        ("a", False, "the reference has no such output"),
        ("b", False, "the reference has no such output"),
        ("hidden", False, "only the reference has this output"),
    ]
    assert report.verdict.met is False


def test_outputs_that_were_not_asked_for_are_passed_over() -> None:
    made = record(
        giving(logits=floats(1)),
        giving(logits=floats(1), a=floats(2)),
        asked={"outputs": ("logits",)},
        requirement="identical",
    )
    report = judge(made)
    assert report.findings == ()
    assert [row.output for row in report.deviation] == ["logits"]
    assert report.verdict.met is True


def test_shapes_and_types_come_before_values() -> None:
    made = record(
        named(output_0=floats(1, 2), output_1=floats(1)),
        giving(y=floats(1), z=np.array([1], np.float64)),
    )
    report = judge(made)
    kinds = [(f.kind, f.output) for f in report.findings]
    assert ("structure-differs", "output[0]") in kinds
    assert ("type-differs", "output[1]") in kinds


def test_the_names_are_those_of_the_audited_model_whatever_is_the_reference() -> None:
    made = record(giving(y=floats(1)), giving(z=floats(1.5)), reference=EXPORT)
    (row,) = judge(made).deviation
    assert (row.target, row.reference, row.output, row.max_abs) == ("cpu", EXPORT, "y", 0.5)


def test_without_a_run_of_the_audited_model_the_reference_gives_the_names() -> None:
    calls: dict[str, Call | str] = {
        "cpu": "no torch",
        EXPORT: giving(z=floats(1)),
        "cpu[model=other.onnx]": giving(y=floats(1)),
    }
    made = make_torch_record(calls, facts={EXPORT: Facts(), "cpu[model=other.onnx]": Facts()})
    base = find_base(made)
    assert base is not None
    assert base.target.name == EXPORT
    report = judge(made)
    assert {row.output for row in report.repeatability} == {"z"}
    assert find_base(make_torch_record({"cpu": "no torch"})) is None


def test_targets_of_the_audited_model_are_left_as_they_are() -> None:
    made = make_torch_record(
        {"cpu": giving(y=floats(1)), "cpu[threads=1]": giving(z=floats(1))}, outputs=("y",)
    )
    assert paths(made) == ["z"]
    assert told(made) == ()


def test_labels_belong_to_the_audited_model() -> None:
    names = ("a", "b")
    made = record(
        giving(output=floats(1, 2)),
        giving(y=floats(1, 3)),
        labels=(("", names),),
        outputs=("output",),
    )
    labels = [row.label for row in judge(made).deviation]
    assert labels == [None, *names]
    other = record(
        giving(logits=floats(1, 2)),
        giving(a=floats(1), b=floats(1)),
        labels=(("logits", names),),
        outputs=("logits",),
    )
    assert judge(other).targets[1].status == "ok"
    with pytest.raises(UsageError, match="the model has no output 'y'"):
        judge(record(giving(output=floats(1, 2)), giving(y=floats(1, 3)), labels=(("y", names),)))


def test_labels_without_a_name_pass_over_lengths() -> None:
    names = ("a", "b")
    paths = ("len(output)", "output[0]")
    made = make_torch_record(
        {"cpu": giving(output=[floats(1, 2)])}, outputs=paths, labels=(("", names),)
    )
    values = {(value.output, value.label) for value in judge(made).values}
    assert {("output[0]", "a"), ("output[0]", "b")} <= values


def test_classes_of_a_path() -> None:
    made = make_torch_record(
        {
            "cpu": named(output_0=floats(0, 1)),
            "cpu[threads=1]": named(output_0=floats(1, 0)),
        },
        outputs=("output[0]",),
        classes=(("output[0]", -1),),
    )
    (row,) = judge(made).classes
    assert (row.output, row.flips) == ("output[0]", 1)


def test_the_other_model_stands_in_its_row() -> None:
    rows = judge(record(giving(y=floats(1)), giving(y=floats(1)))).targets
    assert [row.model for row in rows] == [None, OtherModel("export.onnx", "onnx", "ab" * 32)]
    assert [row.backend for row in rows] == ["torch", "ort"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("len(x)", True), ("present(a[0])", True), ("length", False), ("len(x)[0]", False)],
)
def test_structure_is_told_by_the_path(path: str, expected: bool) -> None:
    assert tells_structure(path) is expected
