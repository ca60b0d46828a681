from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from detaudit.worker.torch.ops import OpWatch

pytestmark = pytest.mark.torch


def watch(model: Any, *args: Any) -> OpWatch:
    import torch

    watching = OpWatch(model)
    with torch.no_grad(), watching.watching():
        model(*args)
    return watching


def test_random_operators_are_named_with_their_module() -> None:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))
    found = watch(model, torch.ones(1, 2))
    assert list(found.random) == [("aten.bernoulli_", "1 (Dropout)")]
    assert list(watch(model.eval(), torch.ones(1, 2)).random) == []


def test_a_draw_in_the_model_itself_has_no_module() -> None:
    import torch

    class Noise(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x + torch.rand(2) + torch.rand(2)

    assert list(watch(Noise(), torch.ones(2)).random) == [("aten.rand", "")]
    assert list(watch(lambda x: x + torch.rand(2), torch.ones(2)).random) == [("aten.rand", "")]


def test_torchscript_and_exported_programs_are_seen_into() -> None:
    import torch

    model = torch.nn.Dropout(0.5)
    x = torch.ones(2)
    scripted = torch.jit.script(model)
    torch.compiler.reset()
    exported = torch.export.export(model, (x,)).module()
    for found in (watch(scripted, x), watch(exported, x)):
        assert [op for op, _ in found.random] == ["aten.bernoulli_"]


def test_attention_that_drops_nothing_draws_nothing() -> None:
    import torch

    def attend(x: Any, p: float) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=p)

    x = torch.ones(1, 1, 4, 8)
    assert list(watch(attend, x, 0.0).random) == []
    assert len(watch(attend, x, 0.5).random) > 0


def test_a_generator_of_its_own_is_random_too() -> None:
    import torch

    own = torch.Generator()
    assert list(watch(lambda: torch.rand(2, generator=own)).random) == [("aten.rand", "")]


def test_an_error_leaves_no_hook_behind() -> None:
    import torch

    model = torch.nn.Linear(2, 2)
    with pytest.raises(RuntimeError):
        watch(model, torch.ones(3))
    before = OpWatch(model)
    model(torch.ones(2))
    assert before._stack == []
    assert not torch.nn.modules.module._global_forward_hooks
    assert not torch.nn.modules.module._global_forward_pre_hooks


def calls() -> dict[str, tuple[Callable[[], Any], list[str]]]:
    import torch

    same, other = torch.tensor([1, 1]), torch.tensor([0, 1])
    two, one = torch.tensor([1.0, 2.0]), torch.tensor(5.0)

    def put(index: Any, value: Any) -> Any:
        x = torch.zeros(3)
        x[index] = value
        return x

    def put_two(rows: Any, columns: Any) -> Any:
        x = torch.zeros(3, 3)
        x[rows, columns] = two
        return x

    def put_behind(index: Any) -> Any:
        x = torch.zeros(2, 3)
        x[:, index] = torch.ones(2, 2)
        return x

    def put_mask() -> Any:
        x = torch.zeros(3)
        x[torch.tensor([True, False, True])] = two
        return x

    z = torch.zeros
    return {
        "scatter": (lambda: z(3).scatter(0, same, two), ["aten.scatter"]),
        "scatter in place": (lambda: z(3).scatter_(0, same, two), ["aten.scatter_"]),
        "scatter to places of its own": (lambda: z(3).scatter(0, other, two), []),
        "scatter of one value": (lambda: z(3).scatter(0, same, 4.0), []),
        "scatter that adds": (lambda: z(3).scatter_add(0, same, two), []),
        "scatter that reduces": (lambda: z(3).scatter(0, same, two, reduce="add"), []),
        "scatter in rows": (lambda: z(2, 3).scatter(1, torch.stack([other, other]), z(2, 2)), []),
        "scatter in columns": (
            lambda: z(2, 3).scatter(0, torch.stack([other, other]), z(2, 2)),
            ["aten.scatter"],
        ),
        "index_put": (lambda: put(same, two), ["aten.index_put_"]),
        "index_put by negative numbers": (
            lambda: put(torch.tensor([2, -1]), two),
            ["aten.index_put_"],
        ),
        "index_put to places of its own": (lambda: put(other, two), []),
        "index_put of one value": (lambda: put(same, one), []),
        "index_put that adds": (lambda: z(3).index_put((same,), two, accumulate=True), []),
        "index_put on two axes": (lambda: put_two(same, same), ["aten.index_put_"]),
        "index_put on two axes, apart": (lambda: put_two(same, other), []),
        "index_put behind a full axis": (lambda: put_behind(same), ["aten.index_put_"]),
        "index_put by a mask": (put_mask, []),
        "index_copy": (lambda: z(3).index_copy(0, same, two), ["aten.index_copy"]),
        "index_copy apart": (lambda: z(3).index_copy(0, other, two), []),
        "put": (lambda: z(3).put_(same, two), ["aten.put_"]),
        "put apart": (lambda: z(3).put_(other, two), []),
        "put that adds": (lambda: z(3).put_(same, two, accumulate=True), []),
        "no index": (lambda: z(3).scatter(0, z(0, dtype=torch.int64), z(0)), []),
    }


@pytest.mark.parametrize(
    "kind",
    [
        *("scatter", "scatter in place", "scatter to places of its own", "scatter of one value"),
        *("scatter that adds", "scatter that reduces", "scatter in rows", "scatter in columns"),
        *("index_put", "index_put by negative numbers", "index_put to places of its own"),
        *("index_put of one value", "index_put that adds", "index_put on two axes"),
        *("index_put on two axes, apart", "index_put behind a full axis", "index_put by a mask"),
        *("index_copy", "index_copy apart", "put", "put apart", "put that adds", "no index"),
    ],
)
def test_an_open_order_is_told_where_places_are_the_same(kind: str) -> None:
    call, expected = calls()[kind]
    assert [op for op, _ in watch(call).unordered] == expected
