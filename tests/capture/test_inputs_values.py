from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.capture.wording import split_value
from detaudit.errors import UsageError
from detaudit.models.model import IdRange
from tests.capture.hand import make, make_model, tensor


def fill(text, dtype="float32", *shape, **facts):
    model = make_model(tensor("x", dtype, *(shape or (1000,))), **facts)
    inputs = make(model, values=(("x", text),))
    return inputs.sample(0)["x"], inputs


@pytest.mark.parametrize(
    ("text", "dtype", "expected", "source"),
    [
        ("zeros", "float32", 0, "zeros"),
        ("zeros", "uint8", 0, "zeros"),
        ("zeros", "bool", False, "zeros"),
        ("ones", "float16", 1, "ones"),
        ("ones", "int64", 1, "ones"),
        ("ones", "bool", True, "ones"),
        ("value:0.5", "float64", 0.5, "value 0.5"),
        ("value:-3", "int8", -3, "value -3"),
        ("value:18446744073709551615", "uint64", 2**64 - 1, "value 18446744073709551615"),
        ("value:true", "bool", True, "value true"),
        ("value:0", "bool", False, "value 0"),
        ("value:a:b=c", "string", "a:b=c", "value a:b=c"),
        ("value:inf", "float32", np.inf, "value inf"),
        ("value:nan", "float32", np.nan, "value nan"),
    ],
)
def test_constants(text, dtype, expected, source):
    array, inputs = fill(text, dtype, 2, 3)
    np.testing.assert_array_equal(array, np.full((2, 3), expected))
    assert inputs.source == source
    assert array.dtype == dtype or dtype == "string"


def test_normal_with_mean_and_deviation():
    array, inputs = fill("normal:10:0.1")
    assert array.dtype == np.float32
    assert abs(array.mean() - 10) < 0.02
    assert abs(array.std() - 0.1) < 0.02
    assert inputs.source == "normal(10, 0.1)"


def test_plain_normal_is_the_usual():
    usual = make(make_model(tensor("x", "float32", 1000))).sample(0)["x"]
    assert fill("normal")[0].tobytes() == usual.tobytes() == fill("normal:0:1")[0].tobytes()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_uniform(dtype):
    array, inputs = fill("uniform:-1:3", dtype)
    assert array.dtype == dtype
    assert array.min() >= -1
    assert array.max() < 3
    assert abs(array.astype("float64").mean() - 1) < 0.2
    assert inputs.source == "uniform(-1, 3)"


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64", "float16", "float32"])
def test_int(dtype):
    array, inputs = fill("int:2:5", dtype)
    assert array.dtype == dtype
    assert set(array) == {2, 3, 4, 5}
    assert inputs.source == "integers 2 to 5"


@pytest.mark.parametrize("text", ["int:0:7", "value:7", "int:-1:2"])
def test_leaving_the_table_is_allowed_and_told(text):
    ranges = (IdRange("x", 0, 4, "indexes 'E' [5, 4]"),)
    _, inputs = fill(text, "int64", 1000, id_ranges=ranges)
    assert "it indexes 'E' [5, 4], which allows 0 to 4" in inputs.notes[0]


def test_staying_in_the_table_is_not_told():
    ranges = (IdRange("x", 0, 4, "indexes 'E' [5, 4]"),)
    assert fill("int:0:4", "int64", 3, id_ranges=ranges)[1].notes == ()


@pytest.mark.parametrize(
    ("text", "dtype", "message"),
    [
        ("unifrom:0:1", "float32", "unknown way to fill an input; known ways: zeros, ones"),
        ("", "float32", "unknown way"),
        ("zeros:1", "float32", "unknown way"),
        ("value", "float32", "unknown way"),
        ("normal:1", "float32", "unknown way"),
        ("uniform:1", "float32", "unknown way"),
        ("int:1:2:3", "int64", "unknown way"),
        ("normal", "int64", "normal gives floating-point values, x int64"),
        ("uniform:0:1", "bool", "uniform gives floating-point values"),
        ("int:0:1", "bool", "int gives integers"),
        ("int:0:1", "string", "int gives integers"),
        ("ones", "string", "takes text; write x=value:TEXT"),
        ("normal:a:1", "float32", "'a' is no number"),
        ("normal:0:-1", "float32", "do not suit"),
        ("normal:0:inf", "float32", "'inf' is not finite"),
        ("uniform:2:1", "float32", "2 to 1 is no range"),
        ("uniform:0:1e6", "float16", "no range of float16"),
        ("int:5:2", "int64", "5 is larger than 2"),
        ("int:0:256", "uint8", "uint8 holds integers from 0 to 255"),
        ("int:0:1.5", "int64", "'1.5' is no integer"),
        ("value:-1", "uint8", "uint8 holds integers from 0 to 255"),
        ("value:1.5", "int64", "'1.5' is no integer"),
        ("value:x", "float32", "'x' is no number"),
        ("value:1e6", "float16", "too large for float16"),
        ("value:2", "bool", "takes true or false"),
    ],
)
def test_mistakes(text, dtype, message):
    with pytest.raises(UsageError, match=message) as error:
        fill(text, dtype)
    assert str(error.value).startswith(f"--input x={text}: ")


def test_unknown_name():
    model = make_model(tensor("x", "float32", 3), tensor("y:0", "float32", 3))
    with pytest.raises(UsageError, match="no input 'z'; inputs of the model: x, y:0"):
        make(model, values=(("z", "ones"),))


def test_name_given_twice():
    with pytest.raises(UsageError, match="--input x is given twice"):
        make(make_model(tensor("x", "float32", 3)), values=(("x", "ones"), ("x", "zeros")))


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("x=zeros", (), ("x", "zeros")),
        ("serving_default_input_2:0=value:1", (), ("serving_default_input_2:0", "value:1")),
        ("a/b=@/data/x=1.npy", (), ("a/b", "@/data/x=1.npy")),
        ("a=b=ones", (), ("a=b", "ones")),
        ("a=b=@x=y.npy", ("a", "a=b"), ("a=b", "@x=y.npy")),
        ("a=value:b=ones", (), ("a", "value:b=ones")),
        ("x=wrong", (), ("x", "wrong")),
        ("a=wrong=too", ("a",), ("a", "wrong=too")),
    ],
)
def test_split_value(text, names, expected):
    assert split_value(text, names) == expected


@pytest.mark.parametrize("text", ["", "zeros", "voice.wav", "=zeros"])
def test_split_value_without_a_name(text):
    with pytest.raises(UsageError, match="write NAME=SPEC"):
        split_value(text)


@given(st.text(min_size=1), st.text())
def test_split_value_finds_a_known_name(name, spec):
    assert split_value(f"{name}={spec}", [name]) == (name, spec)
