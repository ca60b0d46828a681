"""What the builders promise, checked on the runtime itself: kinds of outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests import builders
from tests.runtime import make_session, normal, run


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
