from __future__ import annotations

from typing import Any

import pytest

from detaudit.worker.torch.weights import digest_weights, has_open_weights, join_digests

pytestmark = pytest.mark.torch


def digest(model: Any) -> str:
    return join_digests(digest_weights(model))


def net(seed: int = 1) -> Any:
    import torch

    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    model.register_buffer("hidden", torch.zeros(2), persistent=False)
    return model


def test_equal_weights_have_an_equal_digest() -> None:
    assert digest(net()) == digest(net())
    assert digest(net()) != digest(net(2))


def change(model: Any, how: str) -> None:
    import torch

    with torch.no_grad():
        if how == "one bit":
            model[0].weight.view(torch.int32)[0, 0] ^= 1
        elif how == "a buffer":
            model[1].running_mean += 1
        elif how == "a buffer that is not saved":
            model.hidden += 1
        elif how == "the sign of a zero":
            model.hidden.neg_()
        elif how == "the type":
            model.hidden = model.hidden.double()
        elif how == "the shape":
            model.hidden = model.hidden.reshape(1, 2)
        elif how == "the name":
            model.register_buffer("other", model.hidden)
            del model.hidden


@pytest.mark.parametrize(
    "how",
    [
        *("one bit", "a buffer", "a buffer that is not saved", "the sign of a zero", "the type"),
        *("the shape", "the name"),
    ],
)
def test_every_change_is_seen(how: str) -> None:
    model = net()
    before = digest(model)
    change(model, how)
    assert digest(model) != before


def test_the_order_of_the_names_does_not_count() -> None:
    assert join_digests({"a": "1", "b": "2"}) == join_digests({"b": "2", "a": "1"})
    assert join_digests({"a": "1", "b": "2"}) != join_digests({"a": "2", "b": "1"})


def test_models_without_weights_are_all_the_same() -> None:
    import torch

    assert digest(lambda x: x) == digest(torch.nn.ReLU()) == join_digests({})
    assert len(join_digests({})) == 64


def test_weights_that_come_later_have_no_values_yet() -> None:
    import torch

    lazy = torch.nn.LazyLinear(2)
    before = digest_weights(lazy)
    assert has_open_weights(lazy)
    assert has_open_weights(lambda x: lazy(x))
    lazy(torch.ones(1, 3))
    assert not has_open_weights(lazy)
    assert not has_open_weights(len)
    assert {name for name, value in digest_weights(lazy).items() if value != before[name]} == {
        "weight",
        "bias",
    }
    assert digest(torch.nn.Linear(1, 1, device="meta"))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn"])
def test_narrow_weights_are_told_apart(dtype: str) -> None:
    import torch

    def hold(value: float) -> Any:
        model = torch.nn.Module()
        model.register_buffer("b", torch.tensor([value]).to(getattr(torch, dtype)))
        return model

    assert digest(hold(1.0)) == digest(hold(1.0))
    assert digest(hold(1.0)) != digest(hold(2.0))
