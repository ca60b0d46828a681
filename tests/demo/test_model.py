"""The bundled archive: small, safe, loadable everywhere, and right about sounds."""

from __future__ import annotations

import hashlib
import stat
import wave
import zipfile

import numpy as np
import onnx
import onnxruntime
import pytest
import yaml

from detaudit.demo import load_card, model_path, voice_path
from detaudit.demo.evaluate import FIRST, find_differences, measure_model
from detaudit.demo.sounds import KINDS, SAMPLING_RATE, VALUES, draw_sound
from detaudit.demo.voice import draw_voice, write_voice

LABELS = {"prosody": list(VALUES), "voicing": list(KINDS)}


@pytest.fixture(scope="module")
def graph() -> bytes:
    with zipfile.ZipFile(model_path()) as archive:
        return archive.read("model.onnx")


@pytest.fixture(scope="module")
def session(graph) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def run(session: onnxruntime.InferenceSession, signal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    prosody, voicing = session.run(["prosody", "voicing"], {"signal": signal[None]})
    assert prosody.shape == voicing.shape == (1, 3)
    assert prosody.dtype == voicing.dtype == np.float32
    return prosody[0], voicing[0]


def read_voice() -> np.ndarray:
    with wave.open(str(voice_path())) as file:
        assert file.getparams()[:4] == (1, 2, SAMPLING_RATE, 2 * SAMPLING_RATE)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def test_archive_is_small_flat_and_undated():
    assert model_path().stat().st_size < 300_000
    with zipfile.ZipFile(model_path()) as archive:
        assert archive.namelist() == ["model.onnx", "model.yaml"]
        assert archive.testzip() is None
        for entry in archive.infolist():
            assert stat.S_ISREG(entry.external_attr >> 16)
            assert entry.date_time == (1980, 1, 1, 0, 0, 0)


def test_yaml_holds_plain_data(graph):
    with zipfile.ZipFile(model_path()) as archive:
        (head, body), *rest = yaml.safe_load(archive.read("model.yaml")).items()
    assert not rest
    assert head.startswith("$audonnx.core.model.Model==")
    assert body == {"path": "model.onnx", "labels": LABELS, "transform": None}


def test_graph_is_what_old_runtimes_read(graph):
    model = onnx.load_from_string(graph)
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version <= 9
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 17)]
    names = [node.name for node in model.graph.node]
    assert all(names)
    assert len(set(names)) == len(names)
    operators = {node.op_type for node in model.graph.node}
    assert {"Conv", "BatchNormalization", "LayerNormalization", "Softmax", "Gemm"} <= operators
    assert not operators & {"Identity", "Shape", "If", "Loop"}


def test_only_time_is_dynamic(session):
    assert [(put.name, put.shape) for put in session.get_inputs()] == [("signal", [1, "time"])]
    assert {put.name: put.shape for put in session.get_outputs()} == {
        name: [1, 3] for name in LABELS
    }


@pytest.mark.parametrize("samples", [1, 15, 319, 8000, 16001, 80000])
@pytest.mark.parametrize("scale", [0.0, 1e-6, 0.1, 1.0, 1e4])
def test_any_length_and_level_gives_values_in_range(session, samples, scale):
    signal = draw_sound(3, "any", 80000).signal[:samples] * np.float32(scale)
    prosody, voicing = run(session, signal)
    assert ((prosody >= 0) & (prosody <= 1)).all()
    assert np.isfinite(voicing).all()


@pytest.mark.parametrize("kind", KINDS)
def test_truth_is_recovered(session, kind):
    right, errors = 0, []
    for index in range(12):
        sound = draw_sound(11, f"{kind}/{index}", 16000, kind)
        prosody, voicing = run(session, sound.signal)
        right += KINDS[voicing.argmax()] == kind
        errors.append(np.abs(prosody - sound.values))
    assert right >= 11
    pitch, level, noisiness = np.mean(errors, axis=0)
    assert level < 0.04
    assert noisiness < 0.08
    if kind == "voiced":
        assert pitch < 0.05


def test_card_names_these_files():
    card = load_card()
    for key, path in (("model", model_path()), ("voice", voice_path())):
        assert card[key]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert card["model"]["bytes"] == model_path().stat().st_size
    assert card["model"]["outputs"] == LABELS


def test_card_promises_what_is_promised():
    test = load_card()["test"]
    assert test["sounds"] >= 600
    assert test["pitch"]["mean_absolute_error"] < 0.03
    assert test["level"]["mean_absolute_error"] < 0.02
    assert test["noisiness"]["mean_absolute_error"] < 0.05
    assert test["voicing"]["accuracy"] > 0.97
    for value in VALUES:
        assert test[value]["mean_absolute_error"] < test[value]["baseline"] / 5
    confusion = np.array([list(row.values()) for row in test["voicing"]["confusion"].values()])
    assert confusion.sum() == test["sounds"]
    assert np.trace(confusion) / confusion.sum() == pytest.approx(
        test["voicing"]["accuracy"], abs=1e-4
    )


def test_card_holds_when_measured_again():
    card = load_card()
    measured = measure_model(model_path(), card["training"]["seed"], FIRST)
    assert find_differences(card["test_first"], measured) == []


def test_voice_is_the_one_that_the_seed_gives(tmp_path):
    voice = draw_voice(load_card()["training"]["seed"])
    write_voice(voice, tmp_path / "voice.wav")
    shipped = read_voice().astype(int)
    with wave.open(str(tmp_path / "voice.wav")) as file:
        again = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(int)
    assert np.abs(shipped - again).max() <= 1
    assert voice_path().stat().st_size < 65536


def test_model_is_right_about_the_voice(session):
    truth = load_card()["voice"]
    prosody, voicing = run(session, read_voice().astype(np.float32) / 32768)
    assert KINDS[voicing.argmax()] == truth["kind"] == "voiced"
    assert prosody == pytest.approx(list(truth["values"].values()), abs=0.05)


@pytest.mark.modern
def test_audonnx_loads_it(session, tmp_path):
    import audonnx

    with zipfile.ZipFile(model_path()) as archive:
        archive.extractall(tmp_path)
    model = audonnx.load(str(tmp_path))
    assert {name: node.labels for name, node in model.outputs.items()} == LABELS
    signal = read_voice().astype(np.float32) / 32768
    outputs = model(signal, SAMPLING_RATE)
    prosody, voicing = run(session, signal)
    np.testing.assert_array_equal(outputs["prosody"], prosody[None])
    np.testing.assert_array_equal(outputs["voicing"], voicing[None])
