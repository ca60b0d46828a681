from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from detaudit.worker.failures import Failed, Misuse
from detaudit.worker.torch.outputs import list_tensors, name_outputs, walk_outputs

pytestmark = pytest.mark.torch


@dataclass
class Pair:
    first: Any
    second: Any = None


class Named(NamedTuple):
    low: Any
    high: Any


def one(value: float = 1.0) -> Any:
    import torch

    return torch.tensor([value])


def paths(value: Any, asked: list[str] | None = None) -> list[str]:
    return [leaf.path for leaf in walk_outputs(value, asked or [])]


def structures() -> dict[str, tuple[Any, list[str]]]:
    return {
        "tensor": (one(), ["output"]),
        "number": (1.5, ["output"]),
        "none": (None, ["present(output)"]),
        "tuple": ((one(), one()), ["output[0]", "output[1]"]),
        "list": ([one()], ["output[0]"]),
        "empty": ([], ["len(output)"]),
        "dict": ({"b": one(), "a": one()}, ["b", "a"]),
        "map": (OrderedDict(logits=one()), ["logits"]),
        "numbered": ({0: one(), 1: one()}, ["output[0]", "output[1]"]),
        "empty dict": ({}, ["len(output)"]),
        "dataclass": (Pair(one(), None), ["first", "present(second)"]),
        "named tuple": (Named(one(), one()), ["low", "high"]),
        "nested": (
            {"aux": {"a": [one(), one()]}, "rest": ()},
            ['aux["a"][0]', 'aux["a"][1]', "len(rest)"],
        ),
        "nested classes": (
            [Pair(Named(one(), 2), {"k": None})],
            [
                "output[0].first.low",
                "output[0].first.high",
                'present(output[0].second["k"])',
            ],
        ),
        "inner key": ({"a": {3: one()}}, ["a[3]"]),
    }


@pytest.mark.parametrize(
    "kind",
    [
        *("tensor", "number", "none", "tuple", "list", "empty", "dict", "map", "numbered"),
        *("empty dict", "dataclass", "named tuple", "nested", "nested classes", "inner key"),
    ],
)
def test_every_structure_is_walked_by_path(kind: str) -> None:
    value, expected = structures()[kind]
    assert paths(value) == expected


def test_what_torch_returns_is_named() -> None:
    import torch

    value = torch.max(torch.tensor([[1.0, 3.0]]), 1)
    assert paths(value) == ["values", "indices"]


def test_a_model_output_of_transformers_leaves_out_what_is_none() -> None:
    from transformers.modeling_outputs import BaseModelOutput

    value = BaseModelOutput(last_hidden_state=one(), hidden_states=(one(), one()))
    assert paths(value) == ["last_hidden_state", "hidden_states[0]", "hidden_states[1]"]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (3, "int64"),
        (0.5, "float64"),
        (1j, "complex128"),
        (np.float16(2), "float16"),
        (np.arange(3, dtype=np.int8), "int8"),
    ],
)
def test_numbers_and_arrays_are_outputs(value: Any, dtype: str) -> None:
    (leaf,) = walk_outputs({"y": value})
    assert (leaf.path, leaf.array.dtype.name) == ("y", dtype)
    assert (leaf.array == value).all()


def test_text_is_an_output() -> None:
    (leaf,) = walk_outputs({"y": "cat"})
    assert leaf.array.tolist() == "cat"


def test_a_wider_type_is_declared() -> None:
    import torch

    (leaf,) = walk_outputs(torch.tensor([1.5]).bfloat16())
    assert (leaf.array.tolist(), leaf.declared) == ([1.5], "bfloat16")


def test_the_parts_of_a_nested_tensor_are_outputs() -> None:
    import torch

    parts = [torch.zeros(2), torch.ones(3)]
    for layout in (torch.strided, torch.jagged):
        leaves = list(walk_outputs(torch.nested.nested_tensor(parts, layout=layout)))
        assert [leaf.path for leaf in leaves] == ["output[0]", "output[1]"]
        assert [leaf.array.tolist() for leaf in leaves] == [[0, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [{1, 2}]}, r"the output a\[0\] is of the type set; what can be compared"),
        ((x for x in ()), "the output is of the type generator"),
        ({"a": np.array([object()])}, "the output a is of the type ndarray"),
    ],
)
def test_what_cannot_be_compared_is_named(value: Any, message: str) -> None:
    with pytest.raises(Failed, match=message):
        list(walk_outputs(value))


def test_a_tensor_that_cannot_be_read_is_named() -> None:
    import torch

    with pytest.raises(
        Failed, match=r"the output y, a Tensor of float32, cannot be read: it is on"
    ):
        list(walk_outputs({"y": torch.empty(1, device="meta")}))


def test_outputs_that_are_not_asked_for_are_not_converted() -> None:
    value = {"y": one(), "odd": {1, 2}, "z": [one(), {1, 2}], "zz": object()}
    assert paths(value, ["y"]) == ["y"]
    assert paths(value, ["z[0]"]) == ["z[0]"]
    assert paths({"a": [one(), one()], "b": one()}, ["a"]) == ["a[0]", "a[1]"]
    assert paths((one(), one()), ["output[1]"]) == ["output[1]"]
    assert paths((one(), one()), ["output"]) == ["output[0]", "output[1]"]
    assert paths({"a": None, "b": []}, ["a", "b"]) == ["present(a)", "len(b)"]


def test_an_output_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Misuse, match="the model returns no output 'q'; it returns: y, aux"):
        paths({"y": one(), "aux": [one()]}, ["q"])


def test_tensors_are_found_everywhere() -> None:
    value = {"a": [one(1), Pair(one(2), "text")], "b": Named(3, one(4))}
    assert [t.item() for t in list_tensors(value)] == [1, 2, 4]


def test_names_of_a_structure_are_told_without_values() -> None:
    assert name_outputs({"y": 0, "aux": [1, (2, 3)]}) == ["y", "aux[0]", "aux[1][0]", "aux[1][1]"]
    assert name_outputs(0) == ["output"]
