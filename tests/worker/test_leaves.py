from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from detaudit.worker.leaves import Leaf, leaves


def walk(value: Any, path: str = "y") -> dict[str, Any]:
    return {leaf.path: leaf.array.tolist() for leaf in leaves(path, value)}


def digest(value: Any, keys: tuple[str, ...] = ()) -> str:
    return Leaf("y", np.asarray(value), keys).digest()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.arange(3), {"y": [0, 1, 2]}),
        (np.float32(0.5), {"y": 0.5}),
        (1.5, {"y": 1.5}),
        ("text", {"y": "text"}),
        (True, {"y": True}),
        (None, {"present(y)": False}),
        (np.zeros((1, 0)), {"y": [[]]}),
        ([], {"len(y)": 0}),
        ([np.arange(2), np.arange(1)], {"len(y)": 2, "y[0]": [0, 1], "y[1]": [0]}),
        ((np.arange(1),), {"len(y)": 1, "y[0]": [0]}),
        (["a", "b"], {"len(y)": 2, "y[0]": "a", "y[1]": "b"}),
        ([[1], []], {"len(y)": 2, "len(y[0])": 1, "y[0][0]": 1, "len(y[1])": 0}),
        ([None, 1], {"len(y)": 2, "present(y[0])": False, "y[1]": 1}),
        ({}, {"len(y)": 0}),
        ({"cat": 0.25, "dog": 0.75}, {"y": [0.25, 0.75]}),
        ([{"cat": 0.25, "dog": 0.75}], {"y": [[0.25, 0.75]]}),
        ([{0: 0.25, 1: 0.75}, {0: 1.0, 1: 0.0}], {"y": [[0.25, 0.75], [1.0, 0.0]]}),
        ({1: "a", 2: "b"}, {"y": ["a", "b"]}),
        (
            [{"cat": 1.0}, {"dog": 1.0}],
            {'y[0]["cat"]': 1.0, 'y[1]["dog"]': 1.0, "len(y[0])": 1, "len(y[1])": 1},
        ),
        (
            {"a": np.arange(2), "b": [1]},
            {"len(y)": 2, 'y["a"]': [0, 1], 'len(y["b"])': 1, 'y["b"][0]': 1},
        ),
        ({'qu"ote': [1]}, {"len(y)": 1, 'len(y["qu\\"ote"])': 1, 'y["qu\\"ote"][0]': 1}),
    ],
)
def test_every_structure_is_walked(value: Any, expected: dict[str, Any]) -> None:
    assert walk(value) == expected


def test_the_order_in_which_a_map_was_built_does_not_matter() -> None:
    (leaf,) = leaves("z", [{"owl": 0.25, "cat": 0.75}, {"cat": 1.0, "owl": 0.0}])
    assert leaf.keys == ("cat", "owl")
    assert leaf.array.tolist() == [[0.75, 0.25], [1.0, 0.0]]
    (leaf,) = leaves("z", {10: 0.25, 9: 0.75})
    assert leaf.keys == ("9", "10")
    assert leaf.array.tolist() == [0.75, 0.25]
    nested = [walk({"b": [1], "a": [2]}), walk({"a": [2], "b": [1]})]
    assert list(nested[0].items()) == list(nested[1].items())


def test_the_float32_of_a_map_comes_back_as_float32() -> None:
    (leaf,) = leaves("z", [{"a": float(np.float32(0.1)), "b": float("nan")}])
    assert leaf.array.dtype == np.float32
    (leaf,) = leaves("z", [{"a": 0.1}])
    assert leaf.array.dtype == np.float64
    (leaf,) = leaves("z", [{"a": 1}])
    assert leaf.array.dtype == np.int64


def test_text_of_the_runtime_becomes_text() -> None:
    (leaf,) = leaves("y", np.array(["cat", "owl"], object))
    assert leaf.array.dtype == np.dtype("U3")


def test_paths_are_unique() -> None:
    value = [{"a": [1, 2]}, {"b": None}, [{"c": 1.0}], np.arange(2), None]
    paths = [leaf.path for leaf in leaves("y", value)]
    assert len(paths) == len(set(paths))


@given(
    array=st.sampled_from(["f2", "f4", "f8", "i4", "u8", "bool", "c8"]).flatmap(
        lambda dtype: npst.arrays(dtype, npst.array_shapes(min_dims=0, min_side=0, max_side=3))
    )
)
def test_a_digest_is_of_values_and_not_of_their_place_in_memory(array: np.ndarray) -> None:
    assert digest(array) == digest(array.copy(order="F"))
    assert digest(array) == digest(np.repeat(array[..., None], 2, -1)[..., 0])
    assert digest(array) == digest(array.astype(array.dtype.newbyteorder(">")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.float32([1]), np.float64([1])),
        (np.int64([1]), np.uint64([1])),
        (np.int32([1]), np.float32([1])),
        (np.float32([0.0]), np.float32([-0.0])),
        (np.float32([1, 2]), np.float32([2, 1])),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.zeros(0), np.zeros((0, 1))),
        (np.float32(1), np.float32([1])),
        (np.array(["a", "b"]), np.array(["ab", ""])),
        (np.array(["1"]), np.array([1])),
        (np.array(["a"]), np.array(["a", "a"])),
        (np.bool_([True]), np.int8([1])),
        (np.float32([np.nan]), np.uint32([0x7FC00001]).view(np.float32)),
    ],
)
def test_what_differs_has_another_digest(one: np.ndarray, other: np.ndarray) -> None:
    assert digest(one) != digest(other)


def test_the_keys_of_a_map_are_part_of_its_digest() -> None:
    assert digest([1.0, 2.0], ("a", "b")) != digest([1.0, 2.0], ("b", "a"))
    assert digest([1.0, 2.0], ("a", "b")) != digest([1.0, 2.0])


def test_text_is_told_apart_by_its_characters_only() -> None:
    assert digest(np.array(["a", "b"], "U1")) == digest(np.array(["a", "b"], "U9"))
    assert digest(np.array(["a", "b"], object)) != digest(np.array(["a", "c"], "U1"))
