from __future__ import annotations

import functools
from typing import Any

import pytest

from detaudit.worker.torch.parts import find_modules, find_weights, name_modules

pytestmark = pytest.mark.torch


def linear() -> Any:
    import torch

    return torch.nn.Linear(2, 1)


class Holder:
    """Keeps a module as an attribute."""

    def __init__(self) -> None:
        self.net = linear()
        self.other = 3

    def __call__(self, x: Any) -> Any:
        return self.net(x)

    def predict(self, x: Any) -> Any:
        return self.net(x)


def close_over(net: Any) -> Any:
    def call(x: Any) -> Any:
        return net(x)

    return call


def test_a_module_is_its_own_only_one() -> None:
    net = linear()
    assert find_modules(net) == {"": net}


def test_modules_behind_a_callable_are_found() -> None:
    holder, net = Holder(), linear()
    assert find_modules(holder) == {"net": holder.net}
    assert find_modules(holder.predict) == {"net": holder.net}
    assert find_modules(close_over(net)) == {"net": net}
    assert find_modules(functools.partial(print, net, end=net)) == {"0": net, "end": net}
    assert find_modules(functools.partial(close_over(net), 1)) == {"net": net}
    assert find_modules(lambda x: x) == {}
    assert find_modules(len) == {}


def test_weights_have_the_names_that_lead_to_them() -> None:
    import torch

    assert sorted(find_weights(Holder())) == ["net.bias", "net.weight"]
    net = torch.nn.Sequential(linear(), torch.nn.BatchNorm1d(1))
    net.register_buffer("extra", torch.ones(1), persistent=False)
    net.add_module("tied", net[0])
    names = find_weights(net)
    assert {"0.weight", "tied.weight", "1.running_mean", "extra"} <= set(names)
    assert names["0.weight"] is names["tied.weight"]


def test_modules_are_known_by_their_identity() -> None:
    import torch

    net = torch.nn.Sequential(linear())
    assert {path for path, _ in name_modules(net).values()} == {"", "0"}
    assert name_modules(net)[id(net[0])] == ("0", net[0])
