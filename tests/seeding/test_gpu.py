from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


def test_seeding_and_reading_initialise_nothing_and_seed_every_device(
    run_python: Callable[..., Any],
) -> None:
    code = """
import torch
from detaudit.seeding import get_seeds_state, isolated, set_seeds
count = torch.cuda.device_count()
record = set_seeds(5, deterministic=True)
waiting = get_seeds_state()["cuda"]
with isolated(6):
    pass
started = torch.cuda.is_initialized()
first = [torch.rand(1, device=f"cuda:{index}").item() for index in range(count)]
drawn = get_seeds_state()["cuda"]
before = get_seeds_state()
with isolated(6):
    inside = get_seeds_state()["cuda"]
    torch.randn(3, device="cuda")
after = get_seeds_state()
set_seeds(5, deterministic=True)
fresh = get_seeds_state()["cuda"]
again = [torch.rand(1, device=f"cuda:{index}").item() for index in range(count)]
print(json.dumps([count, record, waiting, started, first, drawn, inside, before, after, fresh,
                  again, get_seeds_state()["cuda"]]))
"""
    (count, record, waiting, started, first, drawn, inside, before, after, fresh, again, last) = (
        run_python(code)
    )
    assert count > 0
    assert record["seeded"]["cuda"] == [5] * count
    assert record["cublas_workspace"]["too_late"] is False
    assert [one[:8] for one in waiting] == ["pending-"] * count
    assert started is False
    assert first == again
    assert len(drawn) == count
    assert all(one != other for one, other in zip(drawn, fresh, strict=True))
    assert all(one != other for one, other in zip(drawn, inside, strict=True))
    assert before == after
    assert drawn == last


def test_a_block_in_which_cuda_starts_leaves_the_seed_that_was_waiting(
    run_python: Callable[..., Any],
) -> None:
    code = """
import torch
from detaudit.seeding import isolated, set_seeds
set_seeds(5)
with isolated(6):
    torch.rand(1, device="cuda")
first = torch.rand(1, device="cuda").item()
set_seeds(5)
print(json.dumps([first, torch.rand(1, device="cuda").item()]))
"""
    first, again = run_python(code)
    assert first == again


def test_a_variable_set_after_cuda_started_is_too_late(run_python: Callable[..., Any]) -> None:
    code = """
import os, torch
os.environ.pop("CUBLAS_WORKSPACE_CONFIG", None)
from detaudit.seeding import set_seeds
torch.rand(2, 2, device="cuda") @ torch.rand(2, 2, device="cuda")
print(json.dumps(set_seeds(5, deterministic=True)["cublas_workspace"]))
"""
    assert run_python(code)["too_late"] is True
