"""G, C10, fact 5: comparing what a runtime can return."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from detaudit.models.model import TensorInfo
from detaudit.render.json_report import render_json
from detaudit.render.terminal import print_report
from detaudit.report import Report
from tests import builders
from tests.cases.audits import (
    all_identical,
    audit_quickly,
    capture_quickly,
    kinds,
    message,
    only,
    read_strictly,
)
from tests.cases.replay import in_one_session, replay

FLOATS = ("float16", "float32", "float64")
LEVELS = "cpu,cpu[opt=off]"


def compare(reference: object, other: object, **options: object) -> Report:
    return replay({"cpu": in_one_session(reference), "openvino": in_one_session(other)}, **options)


def given(folder: Path, array: np.ndarray) -> dict[str, dict[str, str]]:
    np.save(folder / "x.npy", array)
    return {"inputs": {"x": f"@{folder / 'x.npy'}"}}


def test_nan_equals_nan_and_is_noted(tmp_path: Path) -> None:
    """G1: Log gives [nan, -inf, 0, inf] twice."""
    options = given(tmp_path, np.float32([-1, 0, 1, np.inf]))
    report = audit_quickly(builders.log_specials(tmp_path), LEVELS, **options)
    assert all_identical(report)
    row = only(report.deviation)
    assert (row.max_abs, row.elements, row.finite, row.nan_pattern_changed) == (0, 4, 1, False)
    assert "1 NaN and 2 infinite values of 4" in message(report, "special-values")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_a_number_against_a_special_value_is_drift(dtype: str, special: float) -> None:
    """G2: although every comparison with a NaN is false; in both directions."""
    whole, spoiled = np.array([1, 2], dtype), np.array([1, special], dtype)
    for reference, other in ((whole, spoiled), (spoiled, whole)):
        report = compare(reference, other, requirement="max_abs=1e9")
        row = only(report.deviation)
        assert (row.identical, row.same_values, row.nan_pattern_changed) == (False, False, True)
        assert (row.elements, row.finite, row.changed_share) == (2, 1, 0.5)
        assert (row.max_abs, row.max_ulp) == (0, 0)
        assert row.worst.index == (1,)
        assert "nan-differs" in kinds(report)
        assert report.verdict.met is False
        assert all(r.changed == 1 for r in report.rounding if r.target == "openvino")


@pytest.mark.parametrize("dtype", FLOATS)
def test_infinities(dtype: str) -> None:
    """G3: equal ones are equal, others are drift, and the figures are over what is finite."""
    top = np.finfo(dtype).max
    inf = np.array([np.inf, 1.0], dtype)
    same = only(compare(inf, np.array([np.inf, 1.5], dtype)).deviation)
    assert (same.nan_pattern_changed, same.max_abs, same.finite) == (False, 0.5, 1)
    for other in (-np.inf, top):
        row = only(compare(inf, np.array([other, 1.5], dtype)).deviation)
        assert (row.nan_pattern_changed, row.max_abs, row.finite) == (True, 0.5, 1)
        assert row.changed_share == 1.0


def test_a_sum_that_overflows(tmp_path: Path) -> None:
    """G3: infinite in float16 on every run and level, which is the same."""
    report = audit_quickly(builders.fp16_overflow(tmp_path), LEVELS, inputs={"x": "value:60000"})
    assert all_identical(report)
    assert only(report.deviation).finite == 0
    assert "0 NaN and 2 infinite values of 2" in message(report, "special-values")


def test_values_near_zero_are_not_gross() -> None:
    """G4: twice a value of 1e-12 is nothing beside values of 1."""
    reference, other = np.float32([1e-12, 1, -0.5]), np.float32([2e-12, 1, -0.5])
    report = compare(reference, other)
    row = only(report.deviation)
    assert row.max_abs == pytest.approx(1e-12)
    assert row.rel_norm == pytest.approx(1e-12)
    assert row.max_ulp > 1_000_000
    assert row.explanation is None
    assert "unusual-size" not in kinds(report)


@pytest.mark.parametrize("values", [[np.nan, np.inf], [-np.inf, 1.0], [np.nan, np.nan]])
def test_special_values_in_a_report(values: list[float]) -> None:
    """G6: JSON stays JSON and the tables render."""
    report = compare(np.float32([1.0, 2.0]), np.float32(values))
    told = read_strictly(render_json(report))
    assert told["deviation"][0]["nan_pattern_changed"] is True
    text = io.StringIO()
    print_report(report, text)
    assert "NaN or infinity" in " ".join(text.getvalue().split())


@pytest.mark.parametrize(("labels", "names"), [("ints", "012"), ("strings", ["cat", "dog", "owl"])])
def test_lists_of_maps_become_a_table(tmp_path: Path, labels: str, names: list[str]) -> None:
    """G7, G8: a ZipMap's keys are labels in order, its values float32."""
    record = capture_quickly(builders.zipmap(tmp_path, labels), shapes={"n": "3"})
    label, scores = record.targets[0].outputs
    assert (label.path, label.dtype) == ("label", {"ints": "int64", "strings": "string"}[labels])
    assert (scores.path, scores.dtype, scores.shape) == ("z", "float32", (3, 3))
    assert scores.keys == tuple(names)
    report = audit_quickly(builders.zipmap(tmp_path, labels), LEVELS)
    assert all_identical(report)
    assert [r.label for r in report.deviation if r.output == "z"] == [None, *names]
    assert {row.output for row in report.classes} == {"label", "z"}


def test_floats_in_maps_drift_like_any_other() -> None:
    """G7: by key, whatever the order in which a map was built."""
    report = compare([{"cat": 0.25, "dog": 0.75}], [{"dog": 0.75, "cat": 0.5}])
    assert only(report.deviation, label=None).max_abs == 0.25
    assert only(report.deviation, label="cat").max_abs == 0.25
    assert only(report.deviation, label="dog").identical


@pytest.mark.parametrize(
    "other",
    [
        [{"cat": 1.0, "owl": 2.0}],
        [{"cat": 1.0}],
        [{"cat": 1.0, "dog": 2.0, "owl": 3.0}],
        [{"cat": 1.0, "dog": 2.0}, {"cat": 1.0, "dog": 2.0}],
    ],
    ids=["renamed", "fewer", "more", "longer"],
)
def test_other_keys_are_another_structure(other: object) -> None:
    """G7: between targets and between runs, never compared by position."""
    first = [{"cat": 1.0, "dog": 2.0}]
    report = compare(first, other, requirement="max_abs=100")
    assert only(report.deviation, label=None, output="y").structural
    assert "structure-differs" in kinds(report)
    assert not [row for row in report.classes if row.target == "openvino"]
    assert report.verdict.met is False
    runs = replay({"cpu": in_one_session(first, other)})
    row = only(runs.repeatability, scope="run", output="y")
    assert (row.identical, row.same_values) == (False, False)
    assert row.structural
    assert "structure-varies" in kinds(runs)


def test_text_is_compared_exactly() -> None:
    """G8: a change is another class, and has no ULPs."""
    report = compare(
        {"label": np.array(["cat", "dog"], object)}, {"label": np.array(["cat", "owl"], object)}
    )
    row = only(report.deviation)
    assert (row.identical, row.max_abs, row.max_ulp, row.changed_share) == (False, None, None, 0.5)
    assert (row.worst.value, row.worst.reference_value) == ("owl", "dog")
    flips = only(report.classes, target="openvino")
    assert (flips.samples, flips.flips) == (2, 1)
    assert "1 of 2 classes of label changed" in report.verdict.sentence


def test_text_that_repeats(tmp_path: Path) -> None:
    """G8: through the whole pipeline."""
    report = audit_quickly(builders.string_output(tmp_path), LEVELS, inputs={"index": "int:0:2"})
    assert all_identical(report)
    assert only(report.classes, target="cpu[opt=off]").flips == 0


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_sequences_are_audited_item_by_item(tmp_path: Path, rows: int) -> None:
    """G9: with their length, which is all there is of an empty one."""
    model = builders.split_to_sequence(tmp_path)
    report = audit_quickly(model, LEVELS, shapes={"n": str(rows)})
    paths = {"len(y)", *(f"y[{i}]" for i in range(rows))}
    assert {row.output for row in report.repeatability} == paths
    assert all_identical(report)
    assert only(report.values, output="len(y)", target="cpu", run=0).value == rows


def test_nothing_found_is_a_result(tmp_path: Path) -> None:
    """G10: a shape of no elements is identical, 0 apart, and no class is looked for."""
    report = audit_quickly(
        builders.nonzero(tmp_path), LEVELS, inputs={"x": "zeros"}, classes={"y": 1}
    )
    row = only(report.deviation)
    assert (row.identical, row.elements, row.max_abs, row.changed_share) == (True, 0, 0, 0)
    assert all_identical(report)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool", "U3"])
@pytest.mark.parametrize("shape", [(0,), (1, 0), (0, 4), (2, 0, 3)])
def test_results_of_no_elements(dtype: str, shape: tuple[int, ...]) -> None:
    """G10: of every type, alone and against one another."""
    empty = np.zeros(shape, dtype)
    report = replay(
        {"cpu": in_one_session(empty, empty), "openvino": in_one_session(empty, empty)},
        classes=(("y", len(shape) - 1),),
    )
    assert all_identical(report)
    assert not report.findings
    read_strictly(render_json(report))


def test_bfloat16_is_widened_and_said_so(tmp_path: Path) -> None:
    """G12, fact 5: although the runtime itself raises, ULPs are those of bfloat16."""
    report = audit_quickly(builders.bf16_output(tmp_path), LEVELS)
    assert all_identical(report)
    assert "y (bfloat16): compared as float32 behind an added Cast" in message(report, "widened")
    declared = {output["name"]: output["dtype"] for output in report.model["outputs"]}
    assert declared == {"y": "bfloat16", "z": "float32"}
    assert only(report.decimals, target="cpu[opt=off]", reference="cpu", output="z")


def test_units_of_bfloat16() -> None:
    """G12: neighbours in bfloat16 are one step apart, though float32 has 65536 between."""
    facts = {"widened": ("y",), "outputs": (TensorInfo("y", "bfloat16", None),)}
    row = only(compare(np.float32([1]), np.float32([1 + 2**-7]), facts=facts).deviation)
    assert (row.max_ulp, row.max_abs) == (1, 2**-7)


@pytest.mark.modern
@pytest.mark.parametrize("dtype", builders.NARROW_DTYPES)
def test_other_types_that_numpy_lacks(tmp_path: Path, dtype: str) -> None:
    """G12: named as what they are."""
    report = audit_quickly(builders.narrow_output(tmp_path, dtype))
    assert all_identical(report)
    assert f"y ({dtype})" in message(report, "widened")


@pytest.mark.parametrize(
    ("reference", "other"),
    [("int64", "int32"), ("int32", "int64"), ("uint8", "int64"), ("int8", "int16")],
)
def test_integers_of_another_width_are_compared_by_value(reference: str, other: str) -> None:
    """G13: a provider that narrows is noted, not called different."""
    x, y = np.array([1, 2, 3], reference), np.array([1, 2, 3], other)
    report = compare(x, y)
    row = only(report.deviation)
    assert (row.structural, row.same_values, row.max_abs) == (None, True, 0)
    assert f"type {other} against {reference}" in message(report, "type-differs")
    moved = only(compare(x, y + np.array([0, 0, 4], other)).deviation)
    assert (moved.same_values, moved.max_abs) == (False, 4)


def test_integers_against_floats_are_another_structure() -> None:
    """G13: labels against scores cannot be compared by value."""
    row = only(compare(np.array([1, 2]), np.float32([1, 2])).deviation)
    assert row.structural == "type float32 against int64"
    assert not row.identical


def test_every_target_gets_the_same_bytes(tmp_path: Path) -> None:
    """G15: made once, with their digest in the report; the seed alone decides them."""
    model = builders.classifier(tmp_path)
    report = audit_quickly(model, LEVELS, samples=2)
    assert len(report.inputs["sha256"]) == 64
    assert [array["sample"] for array in report.inputs["arrays"]] == [0, 1]
    digests = {array["sha256"] for array in report.inputs["arrays"]}
    assert len(digests) == 2
    again = audit_quickly(model, "cpu", samples=2)
    assert again.inputs["sha256"] == report.inputs["sha256"]
    other = audit_quickly(model, "cpu", samples=2, seed=2)
    assert other.inputs["sha256"] != report.inputs["sha256"]


@pytest.mark.parametrize(
    ("requirement", "met"),
    [
        ("a:max_abs=0.01,b:max_abs=1", True),
        ("max_abs=0.01", False),
        ("b:max_abs=0.01", False),
        ("a:identical", False),
        ("a:ulp=1", True),
    ],
)
def test_tolerances_by_output(requirement: str, met: bool) -> None:
    """G15: a large output does not set the limit of a small one."""
    step = np.spacing(np.float32(1))
    report = compare(
        {"a": np.float32([1]), "b": np.float32([300])},
        {"a": np.float32([1]) + step, "b": np.float32([300.5])},
        requirement=requirement,
    )
    assert report.verdict.met is met


@pytest.mark.parametrize("dtype", builders.DTYPES)
def test_every_type_goes_through(tmp_path: Path, dtype: str) -> None:
    """G, H4: in and out, run after run."""
    report = audit_quickly(builders.identity(tmp_path, dtype))
    assert all_identical(report)
    assert {row.output for row in report.repeatability} == {"y"}


def test_optional_outputs(tmp_path: Path) -> None:
    """G9: present or not, a structure like any other."""
    assert all_identical(audit_quickly(builders.optional_output(tmp_path)))
    gone = replay({"cpu": in_one_session(np.float32([1]), None)})
    assert not only(gone.repeatability, output="y", scope="run").identical
    assert "structure-varies" in kinds(gone)


@pytest.mark.modern
def test_an_optional_output_that_holds_nothing(tmp_path: Path) -> None:
    """G9: its absence is the result."""
    report = audit_quickly(builders.empty_optional_output(tmp_path))
    assert {row.output for row in report.repeatability} == {"present(y)", "z"}
    assert all_identical(report)


def test_a_shape_that_was_declared_wrongly(tmp_path: Path) -> None:
    """G: the real one counts."""
    record = capture_quickly(builders.wrong_declared_shape(tmp_path), shapes={"x": "2x3"})
    assert record.targets[0].outputs[0].shape == (2, 3)


def test_a_scalar(tmp_path: Path) -> None:
    """G: rank 0 has a value and no label."""
    report = audit_quickly(builders.scalar_output(tmp_path), LEVELS)
    assert only(report.deviation).elements == 1
    assert only(report.values, target="cpu", run=0).label == ""
