"""What the builders promise, checked on the runtime itself: kinds of inputs and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tests import builders
from tests.runtime import make_session, normal, run


@pytest.mark.parametrize(
    "steps", [(), *((step,) for step in builders.STEPS), tuple(builders.STEPS)]
)
def test_ids_outside_the_table_are_refused(tmp_path: Path, steps: tuple[str, ...]) -> None:
    session = make_session(builders.gather_ids(tmp_path, steps=steps))
    dtype = np.int32 if "Cast" in steps else np.int64
    assert session.run(None, {"ids": np.array([0, 4], dtype)})[0].shape[-2:] == (2, 4)
    with pytest.raises(Exception, match="out of data bounds"):
        session.run(None, {"ids": np.array([0, 5], dtype)})


def test_each_table_has_a_range_of_its_own(tmp_path: Path) -> None:
    session = make_session(builders.gather_two_tables(tmp_path))
    four, one = np.full((1, 3), 4), np.ones((1, 3), np.int64)
    feeds = {"input_ids": four, "token_type_ids": one, "attention_mask": one}
    assert session.run(None, feeds)[0].shape == (1, 3, 4)
    with pytest.raises(Exception, match="out of data bounds"):
        session.run(None, {**feeds, "token_type_ids": four})


def test_positions_bound_the_length(tmp_path: Path) -> None:
    session = make_session(builders.gather_positions(tmp_path))
    assert session.run(None, {"input_ids": np.zeros((1, 6), np.int64)})[0].shape == (1, 6, 4)
    with pytest.raises(Exception, match=r"out of data bounds|broadcast"):
        session.run(None, {"input_ids": np.zeros((1, 7), np.int64)})


@pytest.mark.parametrize("ir", [3, 4, 8])
def test_old_models_need_no_weights_fed(tmp_path: Path, ir: int) -> None:
    session = make_session(builders.weights_among_inputs(tmp_path, ir))
    assert [item.name for item in session.get_inputs()] == ["x"]
    assert session.run(None, {"x": normal(2, 4)})[0].shape == (2, 2)


def test_particular_inputs(tmp_path: Path) -> None:
    ones = np.ones(3, np.float32)
    feeds = {"x": ones, "keep": np.array(0.5, np.float32)}
    assert run(builders.scalar_input(tmp_path), feeds)[0].tolist() == [0.5, 0.5, 0.5]
    assert run(builders.no_input(tmp_path), {})[0].tolist() == [0, 0, 1]
    feeds = {"mask": np.array([[True, False, True]]), "x": ones[None]}
    assert run(builders.masked(tmp_path), feeds)[0].tolist() == [[1, 0, 1]]
    assert run(builders.same_pass_twice(tmp_path), {"x": ones})[0].tolist() == [2, 2, 2]


@pytest.mark.parametrize("name", ["equal_names", "unequal_names"])
def test_sizes_that_must_agree(tmp_path: Path, name: str) -> None:
    session = make_session(getattr(builders, name)(tmp_path))
    tail = (3,) if name == "equal_names" else ()
    x, z = np.ones((4, *tail), np.float32), np.ones((3, *tail), np.float32)
    assert session.run(None, {"x": x, "z": x})[0].shape == x.shape
    with pytest.raises(Exception, match="broadcast"):
        session.run(None, {"x": x, "z": z})


def test_axes_are_told_as_the_runtime_tells_them(tmp_path: Path) -> None:
    session = make_session(builders.mixed_axes(tmp_path))
    assert [item.shape for item in session.get_inputs()] == [["batch", None, 3], []]
    session = make_session(builders.fixed_batch(tmp_path))
    with pytest.raises(Exception, match="Got: 2 Expected: 1"):
        session.run(None, {"x": normal(2, 64)})


@pytest.mark.parametrize("name", ["external_data", "non_ascii_path"])
def test_external_data_is_found_by_path_only(tmp_path: Path, name: str) -> None:
    path = getattr(builders, name)(tmp_path)
    assert run(path, {"x": normal(1, 64)})[0].shape == (1, 8)
    with pytest.raises(Exception, match=r"\.bin"):
        onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("external_data_missing", r"external_data_missing\.bin|External data"),
        ("ir_version_99", "99"),
        ("unknown_domain", "my.ops:Nope"),
        ("double_conv", "Could not find an implementation for Conv"),
        ("truncated", "Protobuf parsing failed"),
        ("not_onnx", "Protobuf parsing failed"),
        ("empty_file", "[Nn]o graph was found|not have a graph"),
    ],
)
def test_broken_files_do_not_load(tmp_path: Path, name: str, message: str) -> None:
    path = getattr(builders, name)(tmp_path)
    with pytest.raises(Exception, match=message):
        make_session(path)


@pytest.mark.modern
def test_current_runtime_refuses_what_lies_outside(tmp_path: Path) -> None:
    for location in ("../secret.bin", str(tmp_path / "secret.bin")):
        path = builders.external_data_escaping(tmp_path, location)
        with pytest.raises(Exception, match="External data path"):
            make_session(path)


@pytest.mark.modern
def test_current_runtime_refuses_a_short_bias(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="bias"):
        run(builders.bad_conv_bias(tmp_path), {"x": normal(1, 4, 8, 8)})
