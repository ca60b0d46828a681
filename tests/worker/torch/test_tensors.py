from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.worker.torch.tensors import read_tensor

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    "name",
    [
        *("float16", "float32", "float64", "complex64", "complex128", "bool"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    ],
)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_types_of_numpy_stay_as_they_are(name: str, shape: tuple[int, ...]) -> None:
    import torch

    array, declared = read_tensor(torch.ones(shape, dtype=getattr(torch, name)))
    assert (array.dtype.name, array.shape, declared) == (name, shape, "")
    assert (array == 1).all()


@pytest.mark.parametrize(
    ("name", "wider"),
    [
        ("bfloat16", "float32"),
        ("float8_e4m3fn", "float32"),
        ("float8_e5m2", "float32"),
        ("complex32", "complex64"),
    ],
)
def test_other_types_are_widened_and_declared(name: str, wider: str) -> None:
    import torch

    exact = torch.tensor([1.5, -2.0, 0.0]).to(getattr(torch, name))
    array, declared = read_tensor(exact)
    assert (array.dtype.name, declared) == (wider, name)
    assert array.tolist() == [1.5, -2.0, 0.0]


def views() -> dict[str, Any]:
    import torch

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return {
        "requires a gradient": x.clone().requires_grad_(),
        "transposed twice": x.t().contiguous().t(),
        "sparse": x.to_sparse(),
        "sparse by rows": x.to_sparse_csr(),
        "quantised": torch.quantize_per_tensor(x, 0.5, 0, torch.qint8),
        "conjugated": torch.complex(x, x).conj(),
        "negative bit": torch.complex(x, -x).conj().imag,
        "mkldnn": x.to_mkldnn(),
    }


@pytest.mark.parametrize(
    "kind",
    [
        *("requires a gradient", "transposed twice", "sparse", "sparse by rows", "quantised"),
        *("conjugated", "negative bit", "mkldnn"),
    ],
)
def test_every_kind_gives_its_values(kind: str) -> None:
    array, declared = read_tensor(views()[kind])
    expected = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert array.real.tolist() == expected.tolist()
    assert declared == ("qint8" if kind == "quantised" else "")
    if kind == "conjugated":
        assert array.imag.tolist() == (-expected).tolist()


def test_the_memory_is_its_own() -> None:
    import torch

    tensor = torch.zeros(2)
    array, _ = read_tensor(tensor)
    tensor.add_(1)
    assert array.tolist() == [0, 0]
    array[0] = 5
    assert tensor.tolist() == [1, 1]


def test_a_tensor_without_values_is_refused() -> None:
    import torch

    with pytest.raises(ValueError, match="it is on the device meta and holds no values"):
        read_tensor(torch.empty(2, device="meta"))
