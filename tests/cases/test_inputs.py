"""H: making inputs that a model accepts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from detaudit.errors import UsageError
from detaudit.record import Record, array_key
from detaudit.report import Report
from tests import builders
from tests.builders.graphs import draw, value, write
from tests.cases.audits import (
    all_identical,
    audit_quickly,
    capture_quickly,
    message,
    statuses,
)

OK = {"cpu": "ok"}


def fed(report: Report) -> dict[str, tuple[str, tuple[int, ...], str]]:
    """Type, shape and filling of every input of the first sample."""
    return {
        array["name"]: (array["dtype"], tuple(array["shape"]), array["source"])
        for array in report.inputs["arrays"]
        if array["sample"] == 0
    }


def result(record: Record) -> np.ndarray:
    return record.arrays[array_key(0, 0, 0, 0)]


STEPS = [(), *((step,) for step in builders.STEPS), builders.STEPS]


@pytest.mark.parametrize("steps", STEPS, ids="+".join)
@pytest.mark.parametrize("rows", [1, 5])
def test_ids_stay_within_their_table(tmp_path: Path, steps: tuple[str, ...], rows: int) -> None:
    """H1: no id too large, the last one included, behind whatever leads to the table."""
    model = builders.gather_ids(tmp_path, rows, steps)
    record = capture_quickly(model, runs=1, shapes={"n": "500"})
    assert record.targets[0].status == "ok"
    assert len(np.unique(result(record).reshape(-1, 4), axis=0)) == rows


def test_ids_of_the_user_are_taken_as_they_are(tmp_path: Path) -> None:
    """H1: with a note where they leave the table, and the runtime's own words when it objects."""
    model = builders.gather_ids(tmp_path)
    report = audit_quickly(model, inputs={"ids": "int:7:7"})
    (row,) = report.targets
    assert row.status == "failed"
    assert "idx=7" in row.reason
    notes = [finding.message for finding in report.findings if finding.kind == "note"]
    assert "ids holds 7 to 7, but it indexes 'table' [5, 4], which allows 0 to 4" in notes
    assert statuses(audit_quickly(model, inputs={"ids": "int:-5:4"})) == OK


def test_each_input_has_the_range_of_its_own_table(tmp_path: Path) -> None:
    """H2: types may be 0 or 1 where words may be 0 to 4, and a mask is ones."""
    report = audit_quickly(builders.gather_two_tables(tmp_path))
    assert statuses(report) == OK
    assert {name: source for name, (_, _, source) in fed(report).items()} == {
        "input_ids": "integers 0 to 4",
        "token_type_ids": "integers 0 to 1",
        "attention_mask": "ones",
    }


def test_a_table_of_positions_bounds_the_length(tmp_path: Path) -> None:
    """H2: no longer than there are positions."""
    report = audit_quickly(builders.gather_positions(tmp_path))
    assert statuses(report) == OK
    assert fed(report)["input_ids"][1] == (1, 6)


@pytest.mark.parametrize("dtype", builders.DTYPES)
def test_values_are_made_in_the_type_of_the_input(tmp_path: Path, dtype: str) -> None:
    """H4: never by its width alone."""
    report = audit_quickly(builders.identity(tmp_path, dtype), shapes={"n": "50"})
    assert statuses(report) == OK
    names = {"float": "float32", "double": "float64"}
    assert fed(report)["x"][:2] == (names.get(dtype, dtype), (50, 3))


def test_masks_let_everything_through(tmp_path: Path) -> None:
    """H4: a mask of bools is true."""
    report = audit_quickly(builders.masked(tmp_path))
    assert fed(report)["mask"] == ("bool", (1, 3), "ones")


def test_axes_with_and_without_names(tmp_path: Path) -> None:
    """H5: a name, None and a size; and an input whose rank nobody declares."""
    report = audit_quickly(builders.mixed_axes(tmp_path))
    shapes = {name: shape for name, (_, shape, _) in fed(report).items()}
    assert shapes["x"][2] == 3
    assert shapes["x"][0] == 1
    assert statuses(report) == OK
    notes = " ".join(finding.message for finding in report.findings)
    assert "any: the model declares no rank" in notes


def test_one_name_is_one_size(tmp_path: Path) -> None:
    """H5: wherever it stands, and --shape sets it everywhere."""
    model = builders.equal_names(tmp_path)
    for shapes in ({}, {"N": "7"}):
        report = audit_quickly(model, shapes=shapes)
        assert statuses(report) == OK
        assert len({shape for _, shape, _ in fed(report).values()}) == 1


def test_two_names_that_must_agree(tmp_path: Path) -> None:
    """H5: the sizes are tried equal before anybody is told."""
    model = builders.unequal_names(tmp_path)
    report = audit_quickly(model)
    assert statuses(report) == OK
    assert len({shape for _, shape, _ in fed(report).values()}) == 1


def test_sizes_of_the_user_that_disagree(tmp_path: Path) -> None:
    """H5: are not mended behind their back; the runtime's own words are shown."""
    report = audit_quickly(builders.unequal_names(tmp_path), shapes={"N": "3", "M": "4"})
    (row,) = report.targets
    assert row.status == "failed"
    assert "3 by 4" in row.reason
    assert {shape for _, shape, _ in fed(report).values()} == {(3,), (4,)}


def test_a_fixed_batch_is_no_failure_of_the_model(tmp_path: Path) -> None:
    """H6: batches of it are not audited, with the reason; single inputs are."""
    report = audit_quickly(builders.fixed_batch(tmp_path), "cpu,cpu[batch=4]", samples=4)
    plain, batched = report.targets
    assert (plain.status, batched.status) == ("ok", "unavailable")
    assert "fixed batch size" in batched.reason
    assert "cpu[batch=4]" not in {row.target for row in report.deviation}


def test_declared_as_open_and_fixed_in_truth(tmp_path: Path) -> None:
    """H6: a model that says it takes any batch and does not."""
    model = write(
        tmp_path / "liar.onnx",
        [helper.make_node("Reshape", ["x", "shape"], ["y"])],
        [value("x", ("batch", 4))],
        [value("y", ("batch", 4))],
        {"shape": np.array([1, 4], np.int64)},
    )
    report = audit_quickly(model, "cpu,cpu[batch=2]", samples=2)
    plain, batched = report.targets
    assert (plain.status, batched.status) == ("ok", "failed")
    assert batched.reason
    assert not report.deviation


@pytest.mark.parametrize("ir", [3, 4, 8])
def test_weights_among_the_inputs_are_not_fed(tmp_path: Path, ir: int) -> None:
    """H8: old files list them; drawing them at random would be another model."""
    model = builders.weights_among_inputs(tmp_path, ir)
    report = audit_quickly(model)
    assert list(fed(report)) == ["x"]
    np.save(tmp_path / "x.npy", np.eye(4, dtype=np.float32))
    record = capture_quickly(model, inputs={"x": f"@{tmp_path / 'x.npy'}"})
    assert np.allclose(result(record), draw(2, 4, 2))


def test_weights_cannot_be_given_either(tmp_path: Path) -> None:
    """H8: they are no inputs."""
    with pytest.raises(UsageError, match="the model has no input 'W'"):
        audit_quickly(builders.weights_among_inputs(tmp_path), inputs={"W": "zeros"})


def test_text_is_made_up_or_given(tmp_path: Path) -> None:
    """H9: made up with a note, or taken from a file."""
    model = builders.string_input(tmp_path)
    report = audit_quickly(model)
    assert statuses(report) == OK
    assert all_identical(report)
    assert any("made-up words" in finding.message for finding in report.findings)
    np.save(tmp_path / "name.npy", np.array(["dog", "cat", "cow"]))
    record = capture_quickly(model, inputs={"name": f"@{tmp_path / 'name.npy'}"})
    assert result(record).tolist() == [1, 0, -1]
    record = capture_quickly(model, inputs={"name": "value:dog"}, shapes={"n": "2"})
    assert result(record).tolist() == [1, 1]


def test_a_scalar_has_rank_zero(tmp_path: Path) -> None:
    """H11: a keep probability of shape ()."""
    model = builders.scalar_input(tmp_path)
    report = audit_quickly(model, shapes={"n": "4"})
    assert statuses(report) == OK
    assert fed(report)["keep"][:2] == ("float32", ())
    record = capture_quickly(model, inputs={"keep": "value:0.5", "x": "value:3"}, shapes={"n": "2"})
    assert result(record).tolist() == [1.5, 1.5]


def test_a_model_that_takes_nothing(tmp_path: Path) -> None:
    """H: its result is a constant, which the optimiser folds; that is a run all the same."""
    report = audit_quickly(builders.no_input(tmp_path), "cpu,cpu[opt=off]")
    assert set(statuses(report).values()) == {"ok"}
    assert all_identical(report)
    assert report.inputs["arrays"] == []


@pytest.mark.parametrize(
    ("name", "inputs"),
    [("magika", {}), ("silero", {"sr": "value:16000"}), ("dnsmos", {})],
)
@pytest.mark.modern
def test_real_models_accept_what_is_made(
    request: pytest.FixtureRequest, name: str, inputs: dict[str, str]
) -> None:
    """H: without a word from the user, but for a rate that only they know."""
    report = audit_quickly(request.getfixturevalue(name), inputs=inputs)
    assert statuses(report) == OK
    assert all_identical(report)


def test_a_note_names_the_option_that_changes_it(tmp_path: Path) -> None:
    """H5: open axes are told with their size."""
    report = audit_quickly(builders.gather_ids(tmp_path))
    assert message(report, "note") == "open axes: n = 16; set them with --shape AXIS=SIZE"
