from __future__ import annotations

import pytest

from detaudit.errors import UsageError
from detaudit.models.model import TensorInfo
from tests.capture.hand import make, make_model, tensor


def shapes(model, **spec):
    return {name: array.shape for name, array in make(model, **spec).sample(0).items()}


@pytest.mark.parametrize(
    ("dtype", "declared", "chosen"),
    [
        ("float32", (), ()),
        ("float32", (2, 3), (2, 3)),
        ("float32", (1, "time"), (1, 16000)),
        ("float32", ("batch", "sequence_length"), (1, 16000)),
        ("float32", ("time",), (16000,)),
        ("float32", (None, 1, None), (1, 1, 16000)),
        ("float32", (-1, -1), (1, 16000)),
        ("float32", (18, "time"), (18, 100)),
        ("float32", ("batch", 80, None), (1, 80, 100)),
        ("float32", ("frames", 40), (100, 40)),
        ("float32", ("batch", "features"), (1, 16)),
        ("float32", ("batch", "sequence", 768), (1, 16, 768)),
        ("float32", ("batch", 3, "height", "width"), (1, 3, 224, 224)),
        ("float32", (None, None, None, 3), (1, 224, 224, 3)),
        ("uint8", (1, 3, "h", "w"), (1, 3, 224, 224)),
        ("float32", ("batch", 8, "past_sequence_length", 64), (1, 8, 16, 64)),
        ("int64", ("batch", "sequence"), (1, 16)),
        ("int64", ("batch", 128), (1, 128)),
        ("bool", (None, None), (1, 16)),
        ("float32", (0, 3), (0, 3)),
    ],
)
def test_usual_sizes(dtype, declared, chosen):
    assert shapes(make_model(tensor("x", dtype, *declared))) == {"x": chosen}


def test_duration_and_rate_make_the_length():
    signal = make_model(tensor("x", "float32", 1, "time"))
    assert shapes(signal, duration=0.25, sampling_rate=8000) == {"x": (1, 2000)}
    features = make_model(tensor("x", "float32", 18, "time"))
    assert shapes(features, duration=2.5) == {"x": (18, 250)}
    assert shapes(features, duration=1e-9) == {"x": (18, 1)}
    assert shapes(signal, duration=1e-9) == {"x": (1, 1)}


@pytest.mark.parametrize(("rate", "samples"), [(None, 576), (16000, 576), (8000, 288)])
def test_streaming_models_take_a_chunk(rate, samples):
    model = make_model(
        tensor("input", "float32", None, None),
        tensor("state", "float32", 2, None, 128),
        tensor("sr", "int64"),
    )
    inputs = make(model, sampling_rate=rate)
    assert inputs.sizes == {"input[0]": 1, "input[1]": samples, "state[1]": 1}
    assert inputs.sample(0)["sr"] == (rate or 16000)


def test_rate_given_by_value_makes_the_length():
    model = make_model(tensor("wav", "float32", 1, "time"), tensor("sr", "int64"))
    inputs = make(model, values=(("sr", "value:8000"),))
    assert inputs.sample(0)["wav"].shape == (1, 8000)
    assert inputs.sampling_rate == 8000


def test_equal_names_are_equal_sizes():
    model = make_model(
        tensor("x", "float32", "n", 3),
        tensor("z", "float32", "n", "m"),
        tensor("w", "float32", "m", "k"),
    )
    found = shapes(model, shapes=(("m", "7"), ("n", "5")))
    assert found == {"x": (5, 3), "z": (5, 7), "w": (7, 16)}


def test_equal_sizes_settle_all_open_axes_but_those_of_the_user():
    model = make_model(tensor("x", "float32", "N", 3), tensor("z", "float32", None, "M"))
    assert shapes(model, equal_sizes=4) == {"x": (4, 3), "z": (4, 4)}
    assert shapes(model, equal_sizes=4, shapes=(("M", "9"),)) == {"x": (4, 3), "z": (4, 9)}
    assert make(model, equal_sizes=4).sizes == {"N": 4, "z[0]": 4, "M": 4}


def test_position_tables_bound_sizes():
    model = make_model(tensor("x", "int64", 1, "tokens"), length_limits=(("tokens", 6),))
    assert shapes(model) == {"x": (1, 6)}
    longer = make(model, shapes=(("tokens", "8"),))
    assert longer.sample(0)["x"].shape == (1, 8)
    assert "--shape tokens=8: the model has only 6 positions for 'tokens'" in longer.notes
    generous = make_model(tensor("x", "int64", 1, "tokens"), length_limits=(("tokens", 512),))
    assert shapes(generous) == {"x": (1, 16)}


def test_sums_follow_their_parts():
    model = make_model(
        tensor("input_ids", "int64", "batch", "sequence"),
        tensor("attention_mask", "int64", "batch", "past + sequence"),
        tensor("more", "int64", "batch", "past + 1"),
        tensor("past", "float32", "batch", 8, "past", 64),
    )
    found = shapes(model, shapes=(("past", "5"),))
    assert found["attention_mask"] == (1, 21)
    assert found["more"] == (1, 6)
    pinned = shapes(model, shapes=(("past + 1", "9"),))
    assert pinned["more"] == (1, 9)


def test_sum_of_unknown_parts_is_an_ordinary_axis():
    model = make_model(tensor("mask", "int64", "batch", "here + elsewhere"))
    assert shapes(model) == {"mask": (1, 16)}


def test_unknown_rank():
    model = make_model(TensorInfo("x", "float32", None))
    inputs = make(model)
    assert inputs.sizes == {"x[0]": 1, "x[1]": 16}
    assert any("declares no rank" in note for note in inputs.notes)
    asked = make(model, shapes=(("x", "2x3x4"),))
    assert asked.sample(0)["x"].shape == (2, 3, 4)
    assert asked.notes == ()
    assert make(model, shapes=(("x", ""),)).sample(0)["x"].shape == ()


def test_chosen_sizes_are_told_without_a_batch_of_one():
    model = make_model(tensor("x", "float32", "batch", 18, "time"))
    assert make(model).notes == ("open axes: time = 100; set them with --shape AXIS=SIZE",)
    assert make(model, shapes=(("time", "50"),)).notes == ()
    assert "batch = 4, time = 4" in make(model, equal_sizes=4).notes[0]


@pytest.mark.parametrize("size", [10**15, 10**30])
def test_sizes_that_no_memory_holds(size):
    with pytest.raises(UsageError, match="would take"):
        make(make_model(tensor("x", "float32", "n")), shapes=(("n", str(size)),))
