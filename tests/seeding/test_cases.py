"""Cases that need nothing but the torch that is installed (D4, J5, J13).

J1 is in test_check, J3 and J4 in test_determinism and test_torch_determinism.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.torch


def test_without_a_gpu_there_is_no_cuda_generator(run_python: Callable[..., Any]) -> None:
    """J13: none is listed, and neither seeding nor reading starts CUDA."""
    code = """
import torch
from detaudit import get_seeds_state, set_seeds
record = set_seeds(5, deterministic=True)
print(json.dumps([record["seeded"]["cuda"], get_seeds_state()["cuda"],
                  torch.cuda.is_initialized()]))
"""
    assert run_python(code, CUDA_VISIBLE_DEVICES="") == [[], [], False]


def test_the_slow_mode_is_off_until_asked_for_and_listed(run_python: Callable[..., Any]) -> None:
    """J5: with the filling of memory that makes it slow."""
    code = """
import torch
from detaudit import get_seeds_state, set_seeds
set_seeds(1)
off = get_seeds_state()["flags"]
set_seeds(1, deterministic=True)
print(json.dumps([[flags["deterministic_algorithms"], flags["fill_uninitialized_memory"]]
                  for flags in (off, get_seeds_state()["flags"])]))
"""
    assert run_python(code) == [[False, True], [True, True]]


def test_every_switch_of_tf32_is_in_the_state(run_python: Callable[..., Any]) -> None:
    """D4: those of matrices and convolutions, and the precision of products."""
    code = """
import torch
from detaudit import get_seeds_state
def read():
    flags = get_seeds_state()["flags"]
    return [flags[key] for key in ("cuda_matmul", "cudnn_conv", "float32_matmul_precision")]
before = read()
torch.backends.cudnn.allow_tf32 = False
torch.backends.cuda.matmul.allow_tf32 = True
print(json.dumps([before, read()]))
"""
    before, after = run_python(code)
    assert before[1] == "tf32"
    assert before[2] == "highest"
    assert after[0] == "tf32"
    assert after[1] != "tf32"
