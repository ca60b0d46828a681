from __future__ import annotations

import pytest

from detaudit.models.model import TensorInfo
from tests.capture.hand import make, make_model, tensor


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        (("batch", "time"), 0),
        (("N", 144160), 0),
        ((None, 2048), 0),
        ((None, None), 0),
        (("unk__749", 43844, 1), 0),
        (("input_dynamic_axes_1", 3), 0),
        (("time", "batch", 40), 1),
        (("batch_size",), 0),
    ],
)
def test_open_axis_of_the_batch(shape, axis):
    inputs = make(make_model(tensor("x", "float32", *shape)))
    assert inputs.batch_axes == {"x": axis}
    assert inputs.sample(0)["x"].shape[axis] == 1


@pytest.mark.parametrize(
    "shape", [(1, "time"), ("frames", 40), ("time",), (None,), ("n",), (), (3, 4), (1, 3, 8, 8)]
)
def test_no_open_axis_of_the_batch(shape):
    model = make_model(tensor("x", "float32", *shape), outputs=(tensor("y", "float32", None, 3),))
    inputs = make(model)
    assert inputs.batch_axes == {}
    assert inputs.batch_outputs == {}


@pytest.mark.parametrize("axis", ["n", None])
def test_state_has_the_batch_second(axis):
    model = make_model(
        tensor("input", "float32", axis, 576),
        tensor("state", "float32", 2, axis, 128),
        tensor("sr", "int64"),
        outputs=(tensor("output", "float32", axis, 1), tensor("stateN", "float32", *[None] * 3)),
    )
    inputs = make(model)
    assert inputs.batch_axes == {"input": 0, "state": 1}
    assert inputs.batch_outputs == {"output": 0, "stateN": 1}
    assert inputs.sample(0)["state"].shape == (2, 1, 128)


def test_lengths_count_items_too():
    model = make_model(
        tensor("audio", "float32", "batch", "time"), tensor("audio_lens", "int64", None)
    )
    assert make(model).batch_axes == {"audio": 0, "audio_lens": 0}


def test_axis_that_occurs_twice_cannot_be_stacked():
    model = make_model(
        tensor("x", "float32", "batch", 3), tensor("distance", "float32", "batch", "batch")
    )
    assert make(model).batch_axes == {}


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        (("batch", 3), 0),
        (("time", "batch", 3), 1),
        (("unk__750", 88), 0),
        ((None,), 0),
        (None, 0),
        ((2, 3), None),
        ((1, 3), None),
        (("time", 3), None),
        ((), None),
    ],
)
def test_outputs(shape, axis):
    model = make_model(
        tensor("x", "float32", "batch", 4), outputs=(TensorInfo("y", "float32", shape),)
    )
    assert make(model).batch_outputs == ({} if axis is None else {"y": axis})
