from __future__ import annotations

import pytest

from detaudit.capture.pairing import pair_inputs
from detaudit.errors import ModelError
from detaudit.models.model import TensorInfo
from tests.capture.hand import make, make_model, tensor

AUDIT = make(make_model(tensor("x", "float32", 1, 4), tensor("ids", "int64", 1, 7)))


def test_inputs_are_paired_by_name_whatever_their_order() -> None:
    other = make_model(tensor("ids", "int64", "batch", "tokens"), tensor("x", "float32", 1, 4))
    pairing = pair_inputs(AUDIT, other)
    assert (pairing.names, pairing.note) == ({"ids": "ids", "x": "x"}, "")
    assert pairing.rename({"x": 1, "ids": 2}) == {"x": 1, "ids": 2}


def test_what_is_left_is_paired_by_order_and_said() -> None:
    other = make_model(tensor("input_0", "float32", 1, 4), tensor("ids", "int64", 1, 7))
    pairing = pair_inputs(AUDIT, other)
    assert pairing.names == {"x": "input_0", "ids": "ids"}
    assert pairing.note == "inputs matched by order: input_0 takes x"
    assert pairing.rename({"x": 1, "ids": 2}) == {"input_0": 1, "ids": 2}


def test_an_input_that_the_other_model_does_not_take_is_left_out_and_said() -> None:
    pairing = pair_inputs(AUDIT, make_model(tensor("x", "float32", 1, 4)))
    assert pairing.names == {"x": "x"}
    assert pairing.note == "takes no input ids"
    assert pairing.rename({"x": 1, "ids": 2}) == {"x": 1}


def test_an_optional_input_is_taken_only_by_name() -> None:
    mask = tensor("mask", "optional(tensor(float32))", 1, 4)
    other = make_model(tensor("x", "float32", 1, 4), tensor("ids", "int64", 1, 7), mask)
    assert set(pair_inputs(AUDIT, other).names) == {"x", "ids"}


def test_an_input_of_unknown_type_and_rank_takes_what_comes() -> None:
    unknown = TensorInfo("x", "", None), TensorInfo("ids", "optional(tensor())", None)
    assert pair_inputs(AUDIT, make_model(*unknown)).names == {"x": "x", "ids": "ids"}
    others = TensorInfo("a", "", None), TensorInfo("b", "", None)
    assert pair_inputs(AUDIT, make_model(*others)).names == {"x": "a", "ids": "b"}


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ([tensor("x", "float64", 1, 4), tensor("ids", "int64", 1, 7)], "x float64 [1, 4]"),
        ([tensor("x", "float32", 2, 4), tensor("ids", "int64", 1, 7)], "x float32 [2, 4]"),
        ([tensor("x", "float32", 1, 4, 1), tensor("ids", "int64", 1, 7)], "x float32 [1, 4, 1]"),
        ([tensor("ids", "int64", 1, 7), tensor("a", "int64", 1, 4)], "a int64 [1, 4]"),
        ([tensor("a", "float32", 1, 4), tensor("b", "int64", 1), tensor("x")], "a, b are none"),
    ],
)
def test_what_does_not_fit_is_named(inputs: list, told: str) -> None:
    with pytest.raises(ModelError) as caught:
        pair_inputs(AUDIT, make_model(*inputs))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_with_a_transform_takes_no_arrays() -> None:
    with pytest.raises(ModelError, match="turns a signal into its input"):
        pair_inputs(AUDIT, make_model(tensor("x", "float32", 1, 4), transform=True))
