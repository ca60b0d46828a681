from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from detaudit.worker.failures import Failed
from detaudit.worker.torch.calling import Call

pytestmark = pytest.mark.torch

X = np.array([1.0, 2.0], np.float32)
X.flags.writeable = False


def build(tree: dict[str, Any], values: dict[str, Any], dtype: str | None = None) -> Any:
    import torch

    kind = getattr(torch, dtype) if dtype else None
    return Call({"args": [], "kwargs": {}, **tree}, torch.device("cpu"), kind).build(values)


def test_inputs_and_constants_stand_where_the_tree_says() -> None:
    tree = {
        "args": [
            {"input": "x"},
            {"list": [{"input": "x"}, {"tuple": [{"constant": 3}]}]},
            {"dict": {"k": {"input": "x"}}},
        ],
        "kwargs": {"flag": {"constant": None}, "y": {"input": "y"}},
    }
    args, named = build(tree, {"x": X, "y": np.array(4)})
    assert args[0].tolist() == [1, 2]
    assert args[1][1] == (3,)
    assert args[2]["k"].tolist() == [1, 2]
    assert named["flag"] is None
    assert (named["y"].item(), named["y"].shape) == (4, ())


def test_what_has_no_array_is_left_out() -> None:
    tree = {"kwargs": {"x": {"input": "x"}, "mask": {"input": "mask"}}}
    assert build(tree, {"x": X})[1].keys() == {"x"}
    args, _ = build({"args": [{"input": "x"}, {"input": "mask"}]}, {"x": X})
    assert len(args) == 1
    args, _ = build({"args": [{"dict": {"a": {"input": "x"}, "b": {"input": "b"}}}]}, {"x": X})
    assert args[0].keys() == {"a"}
    with pytest.raises(Failed, match="an argument that others follow has no array"):
        build({"args": [{"input": "mask"}, {"input": "x"}]}, {"x": X})


def test_the_memory_is_shared_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (tensor,), _ = build({"args": [{"input": "x"}]}, {"x": X})
    assert tensor.data_ptr() == X.ctypes.data


def test_floating_point_inputs_are_cast_where_asked() -> None:
    tree = {"args": [{"input": "x"}, {"input": "ids"}]}
    (x, ids), _ = build(tree, {"x": X, "ids": np.array([1])}, "float64")
    assert (str(x.dtype), str(ids.dtype)) == ("torch.float64", "torch.int64")


def test_a_type_that_numpy_lacks_comes_from_the_tree() -> None:
    (x,), _ = build({"args": [{"input": "x", "dtype": "bfloat16"}]}, {"x": X})
    assert str(x.dtype) == "torch.bfloat16"
    (x,), _ = build({"args": [{"input": "x", "dtype": "bfloat16"}]}, {"x": X}, "float64")
    assert str(x.dtype) == "torch.float64"


def test_arrays_of_another_byte_order_are_taken() -> None:
    (x,), _ = build({"args": [{"input": "x"}]}, {"x": X.astype(">f4")})
    assert x.tolist() == [1, 2]


def test_text_is_refused() -> None:
    with pytest.raises(Failed, match="input 'x' is text, which torch has no tensors for"):
        build({"args": [{"input": "x"}]}, {"x": np.array(["a"], object)})
