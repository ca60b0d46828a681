"""What the builders promise, checked on the runtime itself: models that move."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests import builders
from tests.builders import torch_models
from tests.runtime import LEVELS, count_distinct, make_session, normal, run

RUN_LSTM = """
import sys
import numpy as np, onnxruntime
options = onnxruntime.SessionOptions()
options.enable_mem_pattern = sys.argv[2] == "on"
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
random = np.random.RandomState(0)
shapes = {"x": (2, 4, 8), "h0": (3, 4, 16), "c0": (3, 4, 16)}
feeds = {k: random.standard_normal(v).astype(np.float32) for k, v in shapes.items()}
runs = [session.run(None, feeds)[0] for _ in range(4)]
print(*(float(np.abs(run - runs[0]).max()) for run in runs))
"""


@pytest.mark.parametrize(
    "name",
    ["noisy", "noisy_with_seed", "noisy_in_if", "noisy_in_loop", "noisy_in_function"],
)
def test_noise_differs_in_each_run_and_not_in_fresh_sessions(tmp_path: Path, name: str) -> None:
    path = getattr(builders, name)(tmp_path)
    x = normal(2, 4)
    assert count_distinct(make_session(path), x) == 6
    first, again = (run(path, {"x": x})[0] for _ in range(2))
    assert first.tobytes() == again.tobytes()
    assert 0 < np.abs(first - x).max() < 1e-5


@pytest.mark.parametrize("op", builders.RANDOM_OPS)
def test_every_random_op_draws_at_every_level_that_keeps_it(tmp_path: Path, op: str) -> None:
    path = builders.random_op(tmp_path, op)
    x = np.random.RandomState(0).uniform(0.2, 0.8, (3, 4)).astype(np.float32)
    assert count_distinct(make_session(path, LEVELS.ORT_DISABLE_ALL), x) == 6


@pytest.mark.parametrize("name", ["random_times_zero", "random_unused", "dropout_inference"])
def test_ineffective_randomness_changes_nothing(tmp_path: Path, name: str) -> None:
    assert count_distinct(make_session(getattr(builders, name)(tmp_path)), normal(2, 4)) == 1


def test_random_length_varies(tmp_path: Path) -> None:
    session = make_session(builders.random_length(tmp_path))
    lengths = {session.run(None, {"x": normal(64)})[0].shape[1] for _ in range(20)}
    assert len(lengths) > 1


def test_scatter_is_steady_on_one_thread(tmp_path: Path) -> None:
    session = make_session(builders.scatter_add_duplicates(tmp_path))
    assert count_distinct(session, normal(16, 64)) == 1


def test_scatter_drifts_on_threads_sooner_or_later(tmp_path: Path) -> None:
    session = make_session(builders.scatter_add_duplicates(tmp_path), threads=4)
    x = {"x": normal(16, 64)}
    first = session.run(None, x)[0].tobytes()
    assert any(session.run(None, x)[0].tobytes() != first for _ in range(5000))


@pytest.mark.parametrize(
    ("name", "x", "low", "high", "size"),
    [
        ("qdq_conv", normal(1, 3, 16, 16), "BASIC", "EXTENDED", (0.19, 0.21)),
        ("conv_batchnorm", normal(1, 3, 32, 32), "DISABLE_ALL", "BASIC", (1e-7, 1e-3)),
        ("decomposed_gelu", normal(8, 64), "DISABLE_ALL", "EXTENDED", (1e-8, 1e-5)),
        ("decomposed_layernorm", normal(8, 64) + 1000, "DISABLE_ALL", "ALL", (1e-6, 1)),
    ],
)
def test_optimiser_moves_results(
    tmp_path: Path, name: str, x: np.ndarray, low: str, high: str, size: tuple[float, float]
) -> None:
    path = getattr(builders, name)(tmp_path)
    level = {
        "DISABLE_ALL": LEVELS.ORT_DISABLE_ALL,
        "BASIC": LEVELS.ORT_ENABLE_BASIC,
        "EXTENDED": LEVELS.ORT_ENABLE_EXTENDED,
        "ALL": LEVELS.ORT_ENABLE_ALL,
    }
    (plain,), (fused,) = (run(path, {"x": x}, level=level[key]) for key in (low, high))
    assert size[0] < np.abs(plain - fused).max() < size[1]


def test_batch_gives_what_single_rows_give(tmp_path: Path) -> None:
    path = builders.batch_invariant(tmp_path)
    x = normal(8, 64)
    (batch,) = run(path, {"x": x})
    rows = [run(path, {"x": x[i : i + 1]})[0] for i in range(8)]
    assert batch.tobytes() == np.concatenate(rows).tobytes()


def run_lstm(python: Path | str, path: Path, pattern: str) -> list[float]:
    done = subprocess.run(
        [python, "-c", RUN_LSTM, path, pattern], capture_output=True, text=True, check=True
    )
    return [float(text) for text in done.stdout.split()]


BUILD_LSTM = [
    builders.lstm_final_state,
    pytest.param(torch_models.lstm_from_torch, marks=pytest.mark.modern),
]


@pytest.mark.parametrize("build", BUILD_LSTM)
def test_old_runtime_spoils_all_runs_but_the_first(tmp_path: Path, old_python: Path, build) -> None:
    path = build(tmp_path)
    first, *others = run_lstm(old_python, path, "on")
    assert first == 0
    assert len(set(others)) == 1
    assert others[0] > 0.01
    assert run_lstm(old_python, path, "off") == [0, 0, 0, 0]


@pytest.mark.modern
@pytest.mark.parametrize("build", BUILD_LSTM)
def test_current_runtime_repeats_the_lstm(tmp_path: Path, build) -> None:
    assert run_lstm(sys.executable, build(tmp_path), "on") == [0, 0, 0, 0]


def test_builders_write_the_same_bytes_again(tmp_path: Path) -> None:
    for name in ("classifier", "lstm_final_state", "scatter_add_duplicates", "qdq_conv"):
        first, again = (getattr(builders, name)(tmp_path / side) for side in "ab")
        assert first.read_bytes() == again.read_bytes()
