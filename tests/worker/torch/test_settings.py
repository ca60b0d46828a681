from __future__ import annotations

import json
from typing import Any

import pytest

from detaudit.seeding.flags import read_flags
from detaudit.worker.torch import settings

pytestmark = pytest.mark.torch


def job(mode: str | None = None, *, seeded: bool = True) -> dict[str, Any]:
    options = {"deterministic": mode} if mode else {}
    return {
        "seeded": seeded,
        "seed": 5,
        "seed_runtime": False,
        "target": {"options": options},
    }


def effective(options: dict[str, str], model: Any = None) -> dict[str, Any]:
    import torch

    told = settings.read_effective(torch, model or len, torch.device("cpu"), options)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told


def test_seeding_repeats_what_is_drawn() -> None:
    import torch

    record = settings.seed(torch, job())
    assert (record["seed"], record["seeded"]["torch"], record["deterministic"]) == (5, 5, False)
    first = torch.rand(2)
    settings.seed(torch, job())
    assert torch.equal(torch.rand(2), first)


def test_without_a_seed_nothing_is_seeded_and_the_record_has_the_same_form() -> None:
    import torch

    with_seed = settings.seed(torch, job())
    torch.manual_seed(3)
    state = torch.get_rng_state()
    record = settings.seed(torch, job(seeded=False))
    assert torch.equal(torch.get_rng_state(), state)
    assert record.keys() == with_seed.keys()
    assert (record["seed"], record["seeded"]) == (None, {})
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize("mode", ["0", "1", "warn_only"])
def test_the_deterministic_mode_is_set_and_read_back(mode: str, seeded: bool) -> None:
    import torch

    record = settings.seed(torch, job(mode, seeded=seeded))
    told = effective({})
    assert told["deterministic"] == mode
    on = mode != "0"
    assert record["flags"]["deterministic_algorithms"] is on
    assert record["flags"]["warn_only"] is (mode == "warn_only")
    assert told["flags"]["cudnn_deterministic"] is on
    assert told["cublas_workspace"]["value"] == (":4096:8" if on else None)
    # Setting it once more must not switch the warnings to errors.
    settings.seed(torch, job(mode, seeded=seeded))
    assert effective({})["deterministic"] == mode


def test_threads_are_set_and_read_back() -> None:
    import torch

    settings.limit_threads(torch, {"threads": "1"})
    assert effective({})["threads"] == 1
    assert effective({})["inter_threads"] == torch.get_num_interop_threads()


@pytest.mark.parametrize("matmul", ["highest", "high", "medium"])
def test_the_precision_of_products_is_set_and_read_back(matmul: str) -> None:
    import torch

    settings.set_precision(torch, {"matmul": matmul})
    assert effective({})["matmul"] == matmul


PRECISION = """
import json, sys, torch
from detaudit.worker.torch import settings
settings.set_precision(torch, json.loads(sys.argv[1]))
torch.ones(2, 2) @ torch.ones(2, 2)
told = settings.read_effective(torch, len, torch.device("cpu"), {})
newer = hasattr(torch.backends.cuda.matmul, "fp32_precision")
print(json.dumps([told["flags"], told.get("mkldnn_matmul"), newer]))
"""


@pytest.mark.parametrize("matmul", [None, "highest", "medium"])
@pytest.mark.parametrize("tf32", ["0", "1"])
def test_tf32_is_set_by_one_kind_of_switch(tf32: str, matmul: str | None) -> None:
    # In a process of its own: torch lets nobody return to the older switches.
    import subprocess
    import sys
    from pathlib import Path

    options = {"tf32": tf32, **({"matmul": matmul} if matmul else {})}
    done = subprocess.run(
        [sys.executable, "-c", PRECISION, json.dumps(options)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).resolve().parents[3],
    )
    flags, mkldnn, newer = json.loads(done.stdout)
    kind = "tf32" if tf32 == "1" else "ieee"
    assert [flags[k] for k in ("cuda_matmul", "cudnn_conv", "cudnn_rnn")] == [kind] * 3
    if newer and matmul:
        assert mkldnn == {"highest": "ieee", "medium": "bf16"}[matmul]
    elif not newer:
        # The older switch is one and the same for both options.
        assert flags["float32_matmul_precision"] in ("highest", "high", matmul)


def test_types_and_autocast_are_read_back() -> None:
    import torch

    model = torch.nn.Linear(2, 1).to(torch.bfloat16)
    told = effective({"autocast": "bfloat16"}, model)
    assert (told["dtypes"], told["autocast"]) == ({"bfloat16": 2}, "bfloat16")
    assert effective({}, model)["autocast"] is None
    assert told["training"] is True
    assert told["cpu_capability"] == torch.backends.cpu.get_cpu_capability()


def test_what_the_code_changes_is_told() -> None:
    import torch

    settings.limit_threads(torch, {"threads": "2"})
    before = effective({})
    assert settings.compare_effective(before, effective({})) == []
    torch.set_num_threads(1)
    benchmark = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = not benchmark
    changed = (
        f"cudnn_benchmark was {benchmark} when the model was loaded and is"
        f" {not benchmark} after the runs"
    )
    try:
        assert settings.compare_effective(before, effective({})) == [
            "threads was 2 when the model was loaded and is 1 after the runs",
            changed,
        ]
    finally:
        torch.backends.cudnn.benchmark = benchmark
    assert read_flags(torch)["cudnn_benchmark"] is benchmark
