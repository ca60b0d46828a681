"""Inputs of real models and of models that are particular: the runtime has to accept them."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from detaudit.capture.inputs import make_inputs
from detaudit.errors import UsageError
from detaudit.models.opening import open_model
from detaudit.spec import InputSpec
from tests import builders


def run(model, inputs):
    feeds = {
        name: array.astype(object) if array.dtype.kind == "U" else array
        for name, array in inputs.sample(0).items()
    }
    session = onnxruntime.InferenceSession(str(model.graph), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def test_magika(magika, tmp_path):
    model = open_model(magika, work=tmp_path)
    inputs = make_inputs(model, InputSpec())
    array = inputs.sample(0)["bytes"]
    assert (array.shape, array.dtype) == ((1, 2048), np.int32)
    assert (array.min(), array.max()) == (0, 256)
    assert inputs.batch_axes == {"bytes": 0}
    assert inputs.batch_outputs == {"target_label": 0}
    assert run(model, inputs)[0].shape == (1, 214)


def test_basic_pitch(basic_pitch, tmp_path):
    model = open_model(basic_pitch, work=tmp_path)
    inputs = make_inputs(model, InputSpec(shapes=(("unk__749", "2"),)))
    assert inputs.sample(0)["serving_default_input_2:0"].shape == (2, 43844, 1)
    assert set(inputs.batch_outputs.values()) == {0}
    assert {output.shape[:2] for output in run(model, inputs)} == {(2, 172)}


def test_dnsmos(dnsmos, tmp_path):
    model = open_model(dnsmos, work=tmp_path)
    inputs = make_inputs(model, InputSpec())
    assert inputs.sample(0)["input_1"].shape == (1, 144160)
    assert run(model, inputs)[0].shape == (1, 3)


@pytest.mark.parametrize(("rate", "samples"), [(16000, 576), (8000, 288)])
def test_silero(silero, tmp_path, rate, samples):
    model = open_model(silero, work=tmp_path)
    inputs = make_inputs(model, InputSpec(sampling_rate=rate, values=(("state", "zeros"),)))
    shapes = {name: array.shape for name, array in inputs.sample(0).items()}
    assert shapes == {"input": (1, samples), "state": (2, 1, 128), "sr": ()}
    assert inputs.batch_axes == {"input": 0, "state": 1}
    assert inputs.batch_outputs == {"output": 0, "stateN": 1}
    assert [output.shape for output in run(model, inputs)] == [(1, 1), (2, 1, 128)]


def test_audonnx_graph_and_transform(audonnx_gender, tmp_path):
    graph = open_model(audonnx_gender / "model.onnx", work=tmp_path)
    inputs = make_inputs(graph, InputSpec())
    assert inputs.sample(0)["feature"].shape == (18, 100)
    assert run(graph, inputs)[0].shape == (2,)
    sound = str(audonnx_gender / "test.wav")
    with pytest.raises(UsageError, match=r"no input takes a signal .* feature float32 \[18, time"):
        make_inputs(graph, InputSpec(source=sound))
    model = open_model(audonnx_gender, work=tmp_path, trust=True)
    inputs = make_inputs(model, InputSpec(source=sound))
    assert inputs.sample(0)["signal"].shape == (83963,)
    assert inputs.sampling_rate == 16000


@pytest.mark.parametrize(
    "build",
    [
        *(builders.gather_ids, builders.gather_two_tables, builders.gather_positions),
        *(builders.weights_among_inputs, builders.scalar_input, builders.equal_names),
        *(builders.unequal_names, builders.mixed_axes, builders.string_input, builders.masked),
        *(builders.no_input, builders.fp16_matmul, builders.qdq_conv),
    ],
)
def test_runtime_accepts_what_is_made(build, tmp_path):
    model = open_model(build(tmp_path), work=tmp_path)
    inputs = make_inputs(model, InputSpec())
    assert len(run(model, inputs)) == len(model.outputs)
    assert list(inputs.sample(0)) == [info.name for info in model.inputs]


def test_sizes_that_must_agree_can_be_made_equal(tmp_path):
    model = open_model(builders.unequal_names(tmp_path), work=tmp_path)
    inputs = make_inputs(model, InputSpec(), equal_sizes=5)
    assert run(model, inputs)[0].shape == (5,)
