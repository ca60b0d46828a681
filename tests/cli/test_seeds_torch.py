"""The story of scripts that train with torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detaudit.cli import main

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

TRAIN = """\
import random, sys
import numpy as np
import torch
from torch import nn

def build():
    return nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))

def main(early):
    model = build() if early else None
    torch.manual_seed(3)
    model = model or build()
    data = torch.utils.data.TensorDataset(torch.zeros(8, 4))
    torch.backends.cudnn.benchmark = True
    for (x,) in torch.utils.data.DataLoader(data, batch_size=4, shuffle=True):
        model(x)

if __name__ == "__main__":
    main(early="early" in sys.argv)
"""


@pytest.fixture(autouse=True)
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TRAIN, "utf-8")


def tell(*arguments: str, code: int) -> dict[str, Any]:
    command = ["seeds", "--json", "s.json", "--quiet", "--repeat", "2", *arguments]
    assert main(command) == code
    story: dict[str, Any] = json.loads(Path("s.json").read_text("ascii"))
    return story


def own_lines(story: dict[str, Any], kind: str) -> dict[int, int]:
    """How often each line of the script did something."""
    found: dict[int, int] = {}
    for told in story["runs"][0]["told"]:
        event = told["event"]
        if event["kind"] == kind and event["file"].endswith("train.py"):
            found[event["line"]] = found.get(event["line"], 0) + event["count"]
    return found


def test_weights_that_are_drawn_before_the_seed_are_the_first_that_part() -> None:
    story = tell("train.py", "early", code=1)
    assert "4 draws from torch came before its first seed" in story["verdict"]["sentences"][0]
    (found,) = story["comparisons"]
    assert (found["generator"], found["kind"], found["same"]) == ("torch", "state", 0)
    assert found["first"]["line"] == 7
    assert found["again"] == sum(own_lines(story, "draw").values()) - 4
    assert found["because"][0] == "torch was not seeded by then"


def test_a_seed_before_the_model_makes_the_runs_one() -> None:
    story = tell("train.py", code=0)
    assert own_lines(story, "seed") == {11: 1}
    assert own_lines(story, "flag") == {14: 1}
    draws = own_lines(story, "draw")
    assert draws[7] == 4  # weight and bias of two layers
    assert draws[16] == 2  # dropout in each of two batches
    (found,) = story["comparisons"]
    assert (found["kind"], found["same"]) == ("", sum(draws.values()))
    assert "torch" in story["runs"][0]["versions"]


def test_workers_of_a_loader_are_out_of_reach() -> None:
    text = TRAIN.replace("shuffle=True", "shuffle=True, num_workers=1")
    Path("train.py").write_text(text, "utf-8")
    story = tell("train.py", code=0)
    assert len(story["runs"][0]["processes"]) == 1
    assert "in this process" in story["verdict"]["sentences"][0]
