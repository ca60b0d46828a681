from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from detaudit.worker.torch.training import find_training

pytestmark = pytest.mark.torch

MASK = "draws a new mask at every call (p=0.5)"
MASKS = "draws new dropout masks at every call (dropout=0.2)"
CHANGES = "normalises by the batch, and changes its running statistics at every call"
WITHOUT = "normalises by the batch, since it has no running statistics"
PLAIN = "is in training mode, which its code may ask for"

CASES: dict[str, tuple[Callable[[Any], Any], list[str], list[str]]] = {
    "dropout": (lambda nn: nn.Dropout(0.5), [MASK], []),
    "dropout 2d": (lambda nn: nn.Dropout2d(0.5), [MASK], []),
    "alpha dropout": (lambda nn: nn.AlphaDropout(0.5), [MASK], []),
    "dropout of nothing": (lambda nn: nn.Dropout(0.0), [PLAIN], []),
    "batch norm": (lambda nn: nn.BatchNorm1d(2), [CHANGES], []),
    "batch norm without statistics": (
        lambda nn: nn.BatchNorm2d(2, track_running_stats=False),
        [WITHOUT],
        [WITHOUT],
    ),
    "instance norm": (lambda nn: nn.InstanceNorm1d(2), [PLAIN], []),
    "instance norm with statistics": (
        lambda nn: nn.InstanceNorm1d(2, track_running_stats=True),
        ["normalises by each sample, and changes its running statistics at every call"],
        [],
    ),
    "rrelu": (lambda nn: nn.RReLU(), ["draws new slopes at every call"], []),
    "rrelu of one slope": (lambda nn: nn.RReLU(0.2, 0.2), [PLAIN], []),
    "lstm": (lambda nn: nn.LSTM(2, 2, 2, dropout=0.2), [MASKS], []),
    "lstm without dropout": (lambda nn: nn.LSTM(2, 2, 2), [PLAIN], []),
    "attention": (lambda nn: nn.MultiheadAttention(2, 1, dropout=0.2), [MASKS], []),
    "linear": (lambda nn: nn.Linear(2, 2), [PLAIN], []),
}


@pytest.mark.parametrize("kind", [*CASES])
def test_modules_that_matter_are_named(kind: str) -> None:
    import torch

    make, training, evaluating = CASES[kind]
    model = make(torch.nn)
    assert [row["effect"] for row in find_training(model)] == training
    assert [row["effect"] for row in find_training(model.eval())] == evaluating


def test_each_is_named_with_its_path_and_type() -> None:
    import torch

    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(0.25)), nn.BatchNorm1d(2))
    expected = [
        {
            "module": "1.0",
            "type": "Dropout",
            "effect": "draws a new mask at every call (p=0.25)",
        },
        {"module": "2", "type": "BatchNorm1d", "effect": CHANGES},
    ]
    assert find_training(model) == expected
    assert find_training(torch.jit.script(model)) == expected
    model.eval()
    model[1].train()
    assert find_training(model) == expected[:1]


def test_dropout_of_other_libraries_is_known() -> None:
    import torch

    class DropPath(torch.nn.Module):
        def __init__(self, drop_prob: float) -> None:
            super().__init__()
            self.drop_prob = drop_prob

    class MyDrop(torch.nn.Dropout):
        pass

    assert [row["effect"] for row in find_training(DropPath(0.5))] == [MASK]
    assert [row["type"] for row in find_training(MyDrop(0.5))] == ["MyDrop"]


def test_a_program_has_no_mode() -> None:
    import torch

    traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    assert traced.training
    assert find_training(traced) == []


def test_a_module_behind_a_function_is_looked_at() -> None:
    import torch

    drop = torch.nn.Dropout(0.5)
    assert [row["module"] for row in find_training(lambda x: drop(x))] == ["drop"]
    assert find_training(lambda x: x) == []
