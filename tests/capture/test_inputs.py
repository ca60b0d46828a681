from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from detaudit.capture.inputs import write_inputs
from detaudit.errors import ModelError
from detaudit.models.model import IdRange
from detaudit.worker.feeds import Feeds, hash_bytes
from tests.capture.hand import make, make_model, tensor

SIGNAL = tensor("signal", "float32", "batch", "time")
IDS = tensor("ids", "int64", "batch", "tokens")
TEXT = tensor("text", "string", 2)


def test_samples_are_deterministic_and_differ():
    inputs = make(make_model(SIGNAL), samples=2)
    first, again, second = inputs.sample(0), inputs.sample(0), inputs.sample(1)
    assert first["signal"].tobytes() == again["signal"].tobytes()
    assert first["signal"].tobytes() != second["signal"].tobytes()


def test_seed_changes_the_values():
    model = make_model(SIGNAL)
    one, two = make(model, seed=1).sample(0), make(model, seed=2).sample(0)
    assert one["signal"].tobytes() != two["signal"].tobytes()


def test_another_input_or_sample_changes_nothing():
    alone = make(make_model(IDS))
    among = make(make_model(tensor("before", "float32", 3), IDS, TEXT), samples=5)
    assert alone.sample(0)["ids"].tobytes() == among.sample(0)["ids"].tobytes()
    fewer = make(make_model(IDS), samples=2).sample(1)
    assert fewer["ids"].tobytes() == among.sample(1)["ids"].tobytes()


def test_filling_one_input_changes_no_other():
    model = make_model(SIGNAL, IDS)
    asked = make(model, values=(("ids", "int:0:3"),)).sample(0)
    assert asked["signal"].tobytes() == make(model).sample(0)["signal"].tobytes()


def test_order_is_that_of_the_model():
    assert list(make(make_model(IDS, SIGNAL)).sample(0)) == ["ids", "signal"]


@pytest.mark.parametrize("index", [-1, 2])
def test_sample_out_of_range(index):
    with pytest.raises(IndexError):
        make(make_model(SIGNAL), samples=2).sample(index)


@pytest.mark.parametrize("value", ["normal", "zeros"])
def test_arrays_are_read_only(value):
    array = make(make_model(SIGNAL), values=(("signal", value),)).sample(0)["signal"]
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 1


def test_samples_are_read_only_mappings():
    with pytest.raises(TypeError):
        make(make_model(SIGNAL)).sample(0)["signal"] = np.zeros(1)


def test_model_without_inputs():
    inputs = make(make_model())
    assert dict(inputs.sample(0)) == {}
    assert inputs.source == "no inputs"
    assert inputs.batch_axes == {}


# Bytes that every machine and every version of NumPy has to give.
GOLDEN = {
    "signal": "21d4bf58766597cbb6f76be7d6a11759171f1f2f14a8fa43d500026053509f92",
    "half": "d3adbd1ff5c96d2aa2a36cd5beef5d5504f5f05b40bbf8746f2051947e288669",
    "double": "bdc95f7177de0e34a0f7b77ec3d4a36c8e78c91a03ea9ce30858d1c1231b1662",
    "ids": "1e612572a03c8d13140716ddc2df66ab71298d26456ad9a6af209939a8ae11d2",
    "pixels": "6f23ee10407d6b5777aaa085947ffc3b5190d23e379a3dffa24dc8434d337aa0",
    "flags": "43c7cc9c726940a794334f4a53c06f1c79311b0ae83fbd6b1d3fb783d2ea7c5e",
    "words": "676d21ff4f1f043909188c9f4a28f2f5aa6d168c2d27a7ee52bacb964bb9fc15",
    "scaled": "4bf117d6eeb6d003a0f0b77b9c50832a92cf472864ac6fea68eeb5a51861ab62",
    "between": "fdf88b3ecdbaf5d7846b71a75cee4d5c20362bc05c682e98d923d3de6f900983",
}
TOTAL = "4594babc69452b97134dbd8e7ed64bfe4a57621dd228aec7b1417daf42aed657"


def test_golden_bytes(tmp_path):
    model = make_model(
        tensor("signal", "float32", 1, "time"),
        tensor("half", "float16", 2, 3),
        tensor("double", "float64", 2, 3),
        tensor("ids", "int64", 1, 16),
        tensor("pixels", "uint8", 1, 3, 4),
        tensor("flags", "bool", 16),
        tensor("words", "string", 4),
        tensor("scaled", "float32", 1000),
        tensor("between", "float32", 1000),
        id_ranges=(IdRange("ids", 0, 30521, "indexes 'words' [30522, 768]"),),
    )
    asked = (("scaled", "normal:1:0.1"), ("between", "uniform:-1:1"))
    inputs = make(model, seed=7, samples=2, values=asked)
    facts, total, _ = write_inputs(inputs, tmp_path)
    assert {fact.name: fact.sha256 for fact in facts if fact.sample == 1} == GOLDEN
    assert total == TOTAL


def test_written_files_are_what_workers_check(tmp_path):
    inputs = make(make_model(SIGNAL, IDS, TEXT, tensor("keep", "float32")), samples=2)
    facts, _, samples = write_inputs(inputs, tmp_path)
    assert [(fact.sample, fact.name) for fact in facts] == [
        (sample, name) for sample in (0, 1) for name in ("signal", "ids", "text", "keep")
    ]
    for index, sample in enumerate(samples):
        feeds = Feeds(sample["files"], sample["digests"])
        for name, array in inputs.sample(index).items():
            np.testing.assert_array_equal(feeds.values[name], array)
            assert feeds.values[name].shape == array.shape
    assert [fact.sha256 for fact in facts] == [
        digest for sample in samples for digest in sample["digests"].values()
    ]


def test_facts_tell_type_shape_and_source(tmp_path):
    facts, _, _ = write_inputs(make(make_model(IDS, TEXT, SIGNAL)), tmp_path)
    assert [(fact.dtype, fact.shape, fact.source) for fact in facts] == [
        ("int64", (1, 16), "integers 0 to 9"),
        ("string", (2,), "made-up words"),
        ("float32", (1, 16000), "normal(0, 1)"),
    ]


def test_digest_is_over_the_bytes_in_c_order(tmp_path):
    inputs = make(make_model(SIGNAL))
    (fact,), _, _ = write_inputs(inputs, tmp_path)
    array = inputs.sample(0)["signal"]
    assert fact.sha256 == hashlib.sha256(array.tobytes()).hexdigest() == hash_bytes(array)


def test_names_with_colons_and_slashes_are_no_file_names(tmp_path):
    model = make_model(tensor("a/b:0", "float32", 2), tensor("../c", "float32", 2))
    _, _, (sample,) = write_inputs(make(model), tmp_path)
    assert {Path(path).parent for path in sample["files"].values()} == {tmp_path}


def test_what_is_the_same_in_all_samples_is_written_once(tmp_path):
    model = make_model(SIGNAL, tensor("mask", "int64", 4))
    facts, _, samples = write_inputs(make(model, samples=3), tmp_path)
    assert len({sample["files"]["mask"] for sample in samples}) == 1
    assert len({sample["files"]["signal"] for sample in samples}) == 3
    assert len(list(tmp_path.iterdir())) == 4
    assert [fact.sample for fact in facts if fact.name == "mask"] == [0, 1, 2]


@pytest.mark.parametrize(
    "other",
    [
        make_model(tensor("y", "float32", 4)),
        make_model(tensor("x", "float64", 4)),
        make_model(tensor("x", "float32", 2, 2)),
        make_model(tensor("x", "float32", 4), tensor("y", "float32", 0)),
    ],
    ids=["name", "dtype", "shape", "empty input"],
)
def test_total_digest_sees_all_but_the_values(other, tmp_path):
    zeros = [
        make(model, values=tuple((info.name, "zeros") for info in model.inputs))
        for model in (make_model(tensor("x", "float32", 4)), other)
    ]
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    one, two = (write_inputs(i, f)[1] for i, f in zip(zeros, folders, strict=True))
    assert one != two


@pytest.mark.parametrize(
    "dtype", ["seq(tensor(float))", "map(int64,tensor(float))", "complex64", "sparse_tensor(float)"]
)
def test_types_that_are_no_arrays(dtype):
    with pytest.raises(ModelError, match=r"input 'x' is of type .* not supported"):
        make(make_model(tensor("x", dtype)))


def test_optional_inputs_are_left_out_until_asked_for():
    model = make_model(tensor("bias", "optional(tensor(float))", 3), tensor("x", "float32", 3))
    inputs = make(model)
    assert list(inputs.sample(0)) == ["x"]
    assert inputs.notes == ("bias is optional and left out",)
    asked = make(model, values=(("bias", "ones"),)).sample(0)
    np.testing.assert_array_equal(asked["bias"], np.ones(3, np.float32))


@pytest.mark.parametrize("dtype", ["optional(seq(tensor(float)))", "optional(tensor(complex64))"])
def test_optional_inputs_of_other_types(dtype):
    model = make_model(tensor("bias", dtype), tensor("x", "float32", 3))
    assert list(make(model).sample(0)) == ["x"]
    with pytest.raises(ModelError, match="not supported"):
        make(model, values=(("bias", "ones"),))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8e4m3fn"])
def test_narrow_floats_are_fed_as_float32(dtype):
    array = make(make_model(tensor("x", dtype, 3))).sample(0)["x"]
    assert array.dtype == np.float32


@pytest.mark.parametrize(("dtype", "low", "high"), [("int4", -8, 7), ("uint2", 0, 3)])
def test_narrow_integers_are_fed_as_float32(dtype, low, high):
    array = make(make_model(tensor("x", dtype, 1000))).sample(0)["x"]
    assert array.dtype == np.float32
    assert set(array) == set(range(low, high + 1))


def test_transformed_model_takes_a_signal():
    model = make_model(tensor("feature", "float32", 18, "time"), transform=True, format="audonnx")
    inputs = make(model, duration=0.5, sampling_rate=8000)
    assert inputs.sampling_rate == 8000
    assert inputs.sample(0)["signal"].shape == (4000,)
    assert inputs.sizes == {"samples": 4000}
    assert inputs.batch_axes == {}


def test_equal_samples_are_told():
    model = make_model(tensor("x", "float32", 3))
    (note,) = make(model, samples=3, values=(("x", "ones"),)).notes
    assert note == "all 3 samples are the same, since nothing is drawn"
    assert make(model, values=(("x", "ones"),)).notes == ()
