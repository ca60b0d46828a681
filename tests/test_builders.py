"""What the builders promise, checked on the runtime itself: the fixtures of all other tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tests import builders
from tests.builders import torch_models

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
LEVELS = onnxruntime.GraphOptimizationLevel


def make_session(
    path: Path, level: LEVELS = LEVELS.ORT_ENABLE_ALL, threads: int = 1
) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = level
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(path: Path, feeds: Mapping[str, np.ndarray], **options: object) -> list[object]:
    return make_session(path, **options).run(None, dict(feeds))


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def count_distinct(session: onnxruntime.InferenceSession, x: np.ndarray, runs: int = 6) -> int:
    return len({b"".join(y.tobytes() for y in session.run(None, {"x": x})) for _ in range(runs)})


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


@pytest.mark.parametrize("dtype", builders.DTYPES)
def test_identity_gives_what_it_gets(tmp_path: Path, dtype: str) -> None:
    path = builders.identity(tmp_path, dtype)
    kind = {"float": "float32", "double": "float64", "string": "object"}.get(dtype, dtype)
    values = [["a", "", "ü"]] if dtype == "string" else [[0, 1, 1]]
    x = np.array(values, dtype=kind)
    (y,) = run(path, {"x": x})
    assert y.dtype == x.dtype
    assert y.tolist() == x.tolist()


def test_bf16_has_no_numpy_type(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="No corresponding Numpy type"):
        run(builders.bf16_output(tmp_path), {"x": normal(2, 3)})


@pytest.mark.modern
@pytest.mark.parametrize("dtype", builders.NARROW_DTYPES)
def test_narrow_types_raise_or_come_as_codes(tmp_path: Path, dtype: str) -> None:
    session = make_session(builders.narrow_output(tmp_path, dtype))
    ones = {"x": np.ones((1, 4), np.float32)}
    if dtype == "float8e4m3fn":
        assert session.run(None, ones)[0].tolist() == [[56, 56, 56, 56]]
    else:
        with pytest.raises(RuntimeError, match="No corresponding Numpy type"):
            session.run(None, ones)


def test_special_values(tmp_path: Path) -> None:
    x = np.array([-1, 0, 1, np.inf], np.float32)
    (y,) = run(builders.log_specials(tmp_path), {"x": x})
    np.testing.assert_array_equal(y, [np.nan, -np.inf, 0, np.inf])
    (y,) = run(builders.fp16_overflow(tmp_path), {"x": np.full((1, 256), 6e4, np.float16)})
    assert y.tolist() == [[np.inf, np.inf]]


@pytest.mark.parametrize(
    ("labels", "keys"), [("ints", [0, 1, 2]), ("strings", ["cat", "dog", "owl"])]
)
def test_zipmap_gives_dictionaries(tmp_path: Path, labels: str, keys: list[object]) -> None:
    label, maps = run(builders.zipmap(tmp_path, labels), {"x": normal(2, 4)})
    assert [list(item) for item in maps] == [keys, keys]
    assert label.tolist() == [max(item, key=item.get) for item in maps]


def test_strings_in_and_out(tmp_path: Path) -> None:
    (names,) = run(builders.string_output(tmp_path), {"index": np.array([2, 0, 9])})
    assert names.tolist() == ["owl", "cat", "none"]
    (index,) = run(builders.string_input(tmp_path), {"name": names})
    assert index.tolist() == [-1, 0, -1]


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_split_gives_one_array_per_row(tmp_path: Path, rows: int) -> None:
    (y,) = run(builders.split_to_sequence(tmp_path), {"x": normal(rows, 2)})
    assert [part.tolist() for part in y] == normal(rows, 2).tolist()


def test_shapes_that_the_data_decide(tmp_path: Path) -> None:
    path = builders.nonzero(tmp_path)
    assert run(path, {"x": np.zeros(4, np.float32)})[0].shape == (1, 0)
    assert run(path, {"x": np.ones(4, np.float32)})[0].shape == (1, 4)
    assert run(builders.scalar_output(tmp_path), {"x": np.ones(5, np.float32)})[0].shape == ()
    assert run(builders.wrong_declared_shape(tmp_path), {"x": normal(2, 3)})[0].shape == (2, 3)


def test_optionals_hold_something_or_none(tmp_path: Path) -> None:
    (y,) = run(builders.optional_output(tmp_path), {"x": normal(2, 3)})
    assert y.tolist() == normal(2, 3).tolist()
    y, z = run(builders.empty_optional_output(tmp_path), {"x": np.ones(3, np.float32)})
    assert y is None
    assert z.tolist() == [1, 1, 1]


def test_classes(tmp_path: Path) -> None:
    x = np.array([[1, np.nan, 2]], np.float32)
    assert run(builders.argmax(tmp_path), {"x": x})[0].tolist() == [2]
    x = np.array([[3, 2, 3, 2, 1, 1]], np.float32)
    values, indices = run(builders.topk(tmp_path), {"x": x})
    assert (values.tolist(), indices.tolist()) == ([[3, 3]], [[0, 2]])
    assert run(builders.classifier(tmp_path, 5), {"x": normal(2, 16)})[0].shape == (2, 5)


@pytest.mark.parametrize(
    "steps", [(), *((step,) for step in builders.STEPS), tuple(builders.STEPS)]
)
def test_ids_outside_the_table_are_refused(tmp_path: Path, steps: tuple[str, ...]) -> None:
    session = make_session(builders.gather_ids(tmp_path, steps=steps))
    dtype = np.int32 if "Cast" in steps else np.int64
    assert session.run(None, {"ids": np.array([0, 4], dtype)})[0].shape[-2:] == (2, 4)
    with pytest.raises(Exception, match="out of data bounds"):
        session.run(None, {"ids": np.array([0, 5], dtype)})


def test_each_table_has_a_range_of_its_own(tmp_path: Path) -> None:
    session = make_session(builders.gather_two_tables(tmp_path))
    four, one = np.full((1, 3), 4), np.ones((1, 3), np.int64)
    feeds = {"input_ids": four, "token_type_ids": one, "attention_mask": one}
    assert session.run(None, feeds)[0].shape == (1, 3, 4)
    with pytest.raises(Exception, match="out of data bounds"):
        session.run(None, {**feeds, "token_type_ids": four})


def test_positions_bound_the_length(tmp_path: Path) -> None:
    session = make_session(builders.gather_positions(tmp_path))
    assert session.run(None, {"input_ids": np.zeros((1, 6), np.int64)})[0].shape == (1, 6, 4)
    with pytest.raises(Exception, match=r"out of data bounds|broadcast"):
        session.run(None, {"input_ids": np.zeros((1, 7), np.int64)})


@pytest.mark.parametrize("ir", [3, 4, 8])
def test_old_models_need_no_weights_fed(tmp_path: Path, ir: int) -> None:
    session = make_session(builders.weights_among_inputs(tmp_path, ir))
    assert [item.name for item in session.get_inputs()] == ["x"]
    assert session.run(None, {"x": normal(2, 4)})[0].shape == (2, 2)


def test_particular_inputs(tmp_path: Path) -> None:
    ones = np.ones(3, np.float32)
    feeds = {"x": ones, "keep": np.array(0.5, np.float32)}
    assert run(builders.scalar_input(tmp_path), feeds)[0].tolist() == [0.5, 0.5, 0.5]
    assert run(builders.no_input(tmp_path), {})[0].tolist() == [0, 0, 1]
    feeds = {"mask": np.array([[True, False, True]]), "x": ones[None]}
    assert run(builders.masked(tmp_path), feeds)[0].tolist() == [[1, 0, 1]]
    assert run(builders.same_pass_twice(tmp_path), {"x": ones})[0].tolist() == [2, 2, 2]


@pytest.mark.parametrize("name", ["equal_names", "unequal_names"])
def test_sizes_that_must_agree(tmp_path: Path, name: str) -> None:
    session = make_session(getattr(builders, name)(tmp_path))
    tail = (3,) if name == "equal_names" else ()
    x, z = np.ones((4, *tail), np.float32), np.ones((3, *tail), np.float32)
    assert session.run(None, {"x": x, "z": x})[0].shape == x.shape
    with pytest.raises(Exception, match="broadcast"):
        session.run(None, {"x": x, "z": z})


def test_axes_are_told_as_the_runtime_tells_them(tmp_path: Path) -> None:
    session = make_session(builders.mixed_axes(tmp_path))
    assert [item.shape for item in session.get_inputs()] == [["batch", None, 3], []]
    session = make_session(builders.fixed_batch(tmp_path))
    with pytest.raises(Exception, match="Got: 2 Expected: 1"):
        session.run(None, {"x": normal(2, 64)})


@pytest.mark.parametrize("name", ["external_data", "non_ascii_path"])
def test_external_data_is_found_by_path_only(tmp_path: Path, name: str) -> None:
    path = getattr(builders, name)(tmp_path)
    assert run(path, {"x": normal(1, 64)})[0].shape == (1, 8)
    with pytest.raises(Exception, match=r"\.bin"):
        onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("external_data_missing", r"external_data_missing\.bin|External data"),
        ("ir_version_99", "99"),
        ("unknown_domain", "my.ops:Nope"),
        ("double_conv", "Could not find an implementation for Conv"),
        ("truncated", "Protobuf parsing failed"),
        ("not_onnx", "Protobuf parsing failed"),
        ("empty_file", "[Nn]o graph was found|not have a graph"),
    ],
)
def test_broken_files_do_not_load(tmp_path: Path, name: str, message: str) -> None:
    path = getattr(builders, name)(tmp_path)
    with pytest.raises(Exception, match=message):
        make_session(path)


@pytest.mark.modern
def test_current_runtime_refuses_what_lies_outside(tmp_path: Path) -> None:
    for location in ("../secret.bin", str(tmp_path / "secret.bin")):
        path = builders.external_data_escaping(tmp_path, location)
        with pytest.raises(Exception, match="External data path"):
            make_session(path)


@pytest.mark.modern
def test_current_runtime_refuses_a_short_bias(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="bias"):
        run(builders.bad_conv_bias(tmp_path), {"x": normal(1, 4, 8, 8)})


def test_plain_arithmetic(tmp_path: Path) -> None:
    y, z = run(builders.double_scaler(tmp_path), {"x": np.ones((1, 3))})
    assert y.tolist() == [[1 / 3, 1 / 7, 1 / 11]]
    assert z.tolist() == y.astype(np.float32).tolist()
    x = np.ones((2, 64), np.float16)
    assert run(builders.fp16_matmul(tmp_path), {"x": x})[0].dtype == np.float16
    x = np.ones((1, 256, 6, 6), np.float32)
    assert set(run(builders.wide_conv(tmp_path), {"x": x})[0].ravel()) == {2304.0}


@pytest.mark.modern
def test_wav2vec_takes_any_duration(wav2vec: Path) -> None:
    session = make_session(wav2vec)
    for samples in (8000, 16_000):
        shapes = [y.shape for y in session.run(None, {"signal": normal(1, samples)})]
        assert shapes == [(1, 64), (1, 3)]


@pytest.mark.modern
def test_audonnx_reads_the_folder(tmp_path: Path) -> None:
    import audonnx

    model = audonnx.load(builders.audonnx_folder(tmp_path, ["a", "b"]))
    assert model.labels("logits") == ["a", "b"]
    assert model(normal(1, 16), 16_000).shape == (1, 2)


def test_builders_write_the_same_bytes_again(tmp_path: Path) -> None:
    for name in ("classifier", "lstm_final_state", "scatter_add_duplicates", "qdq_conv"):
        first, again = (getattr(builders, name)(tmp_path / side) for side in "ab")
        assert first.read_bytes() == again.read_bytes()
