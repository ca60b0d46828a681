from __future__ import annotations

import numpy as np
import pytest

from detaudit.models.model import IdRange
from tests.capture.hand import make, make_model, tensor


def fill(name, dtype, *shape, others=(), **facts):
    return make(make_model(tensor(name, dtype, *shape), *others, **facts)).sample(0)[name]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_are_standard_normal(dtype):
    array = fill("x", dtype, 10000)
    assert array.dtype == dtype
    assert abs(array.astype("float64").mean()) < 0.05
    assert abs(array.astype("float64").std() - 1) < 0.05


def test_ids_stay_within_their_table():
    found = fill("ids", "int64", 1, 1000, id_ranges=(IdRange("ids", 0, 4, "indexes 'E' [5, 4]"),))
    assert set(found.ravel()) == {0, 1, 2, 3, 4}


def test_range_per_input():
    ranges = (IdRange("input_ids", 0, 4, "words"), IdRange("token_type_ids", 0, 1, "kinds"))
    model = make_model(
        tensor("input_ids", "int64", 1, 1000),
        tensor("token_type_ids", "int64", 1, 1000),
        id_ranges=ranges,
    )
    sample = make(model).sample(0)
    assert sample["input_ids"].max() == 4
    assert sample["token_type_ids"].max() == 1


@pytest.mark.parametrize(
    ("dtype", "low", "high", "expected"),
    [
        ("uint8", 0, 100000, (0, 255)),
        ("int8", -200, 3, (-128, 3)),
        ("int16", 5, 6, (5, 6)),
        ("int32", 0, 256, (0, 256)),
        ("float32", 0, 2, (0, 2)),
    ],
)
def test_ranges_in_the_type(dtype, low, high, expected):
    array = fill("ids", dtype, 10000, id_ranges=(IdRange("ids", low, high, "a table"),))
    assert array.dtype == dtype
    assert (array.min(), array.max()) == expected
    assert np.array_equal(array, np.round(array))


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("uint8", 0, 255), ("int8", -128, 127)]
    + [(f"{sign}int{bits}", 0, 9) for sign in ("", "u") for bits in (16, 32, 64)],
)
def test_integers_without_a_table(dtype, low, high):
    array = fill("x", dtype, 10000)
    assert array.dtype == dtype
    assert (array.min(), array.max()) == (low, high)


def test_unbounded_integers_are_told():
    (note,) = make(make_model(tensor("x", "int64", 3))).notes
    assert note.startswith("x: no table bounds its integers, 0 to 9 are used")


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool", "float32"])
@pytest.mark.parametrize("name", ["mask", "attention_mask", "input_mask:0", "encoder/attnMask"])
def test_masks_are_ones(name, dtype):
    array = fill(name, dtype, 1, 8)
    assert array.dtype == dtype
    assert array.all()


def test_padding_masks_are_zeros():
    assert not fill("key_padding_mask", "bool", 1, 8).any()


def test_masks_within_their_range():
    array = fill("mask", "int64", 8, id_ranges=(IdRange("mask", 0, 0, "indexes 'E' [1, 4]"),))
    assert not array.any()


def test_booleans_are_random():
    assert set(fill("bool_masked_pos", "bool", 100)) == {False, True}


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("name", ["sr", "sampling_rate", "sampleRate", "fs"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "float32"])
def test_sampling_rates(name, shape, dtype):
    np.testing.assert_array_equal(fill(name, dtype, *shape), np.full(shape, 16000, dtype))


def test_sampling_rate_that_does_not_fit():
    assert fill("sr", "int8") == 127


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_lengths_are_those_of_what_they_belong_to(dtype):
    model = make_model(
        tensor("text", "int64", "batch", "tokens"),
        tensor("audio_features", "float32", "batch", "frames", 80),
        tensor("audio_features_lens", dtype, "batch"),
        tensor("text_length", dtype),
    )
    sample = make(model, shapes=(("tokens", "7"), ("batch", "2"))).sample(0)
    np.testing.assert_array_equal(sample["audio_features_lens"], [100, 100])
    assert sample["text_length"] == 7


def test_length_of_a_fixed_axis():
    assert fill("x_len", "int64", 1, others=(tensor("x", "float32", "n", 144160),)) == 144160


def test_length_beside_nothing():
    assert fill("length", "int64", 1) in range(10)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
def test_rank_zero_is_one(dtype):
    array = fill("keep", dtype)
    assert (array.shape, array.dtype, array.item()) == ((), dtype, 1)


def test_rank_zero_id_is_drawn_from_its_table():
    array = fill("speaker", "int64", id_ranges=(IdRange("speaker", 3, 3, "indexes 'S'"),))
    assert array == 3


def test_strings_are_words_with_a_note():
    inputs = make(make_model(tensor("name", "string", 2, 2)))
    array = inputs.sample(0)["name"]
    assert (array.shape, array.dtype.kind) == ((2, 2), "U")
    assert inputs.notes[0].startswith("name holds made-up words")


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "string"])
def test_zero_size(dtype):
    assert fill("x", dtype, 0, 3).shape == (0, 3)


def test_state_is_normal_unless_asked():
    model = make_model(tensor("x", "float32", 1, 576), tensor("state", "float32", 2, 1, 128))
    assert make(model).sample(0)["state"].std() > 0.5
    assert not make(model, values=(("state", "zeros"),)).sample(0)["state"].any()


def test_source_lists_each_way_once():
    model = make_model(
        tensor("a", "float32", 3),
        tensor("b", "float32", 4),
        tensor("sr", "int64"),
        tensor("mask", "int64", 3),
    )
    assert make(model).source == "normal(0, 1), value 16000, ones"
