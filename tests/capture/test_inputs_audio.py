from __future__ import annotations

import builtins
import wave

import numpy as np
import pytest

from detaudit.errors import UsageError
from tests.capture.hand import make, make_model, tensor

RAW = tensor("wav", "float32", "batch", "time")


@pytest.fixture
def record(tmp_path):
    """Path of a sound file with counted values, and its signal."""

    def record(samples=800, *, channels=1, rate=16000):
        values = np.arange(samples * channels, dtype="<i2").reshape(samples, channels)
        path = tmp_path / "voice.wav"
        with wave.open(str(path), "wb") as file:
            file.setparams((channels, 2, rate, samples, "NONE", ""))
            file.writeframes(values.tobytes())
        return str(path), (values.T / np.float32(2**15)).astype(np.float32)

    return record


@pytest.mark.parametrize(
    ("shape", "placed"),
    [
        (("time",), (800,)),
        ((1, "time"), (1, 800)),
        (("batch", "time"), (1, 800)),
        ((None, None), (1, 800)),
        (("batch", 1, "time"), (1, 1, 800)),
        (("n", 800, 1), (1, 800, 1)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_signal_goes_where_it_belongs(record, dtype, shape, placed):
    path, signal = record()
    inputs = make(make_model(tensor("x", dtype, *shape)), source=path)
    array = inputs.sample(0)["x"]
    assert (array.shape, array.dtype) == (placed, dtype)
    np.testing.assert_array_equal(array.ravel(), signal[0])
    assert inputs.source == "voice.wav"
    assert inputs.sampling_rate == 16000


def test_rate_of_the_file_goes_to_the_model(record):
    path, _ = record(rate=8000)
    model = make_model(RAW, tensor("sr", "int64"), tensor("state", "float32", 2, "batch", 128))
    inputs = make(model, source=path)
    assert inputs.sampling_rate == 8000
    assert inputs.sample(0)["sr"] == 8000
    assert inputs.source == "voice.wav, value 8000, normal(0, 1)"
    assert inputs.batch_axes == {"wav": 0, "state": 1}
    assert inputs.notes == ()


@pytest.mark.parametrize("spec", [{"sampling_rate": 16000}, {"values": (("sr", "value:16000"),)}])
def test_another_rate_is_no_silent_resampling(record, spec):
    path, _ = record(rate=44100)
    with pytest.raises(UsageError, match=r"is 16000 Hz, voice.wav is 44100 Hz; resample the file"):
        make(make_model(RAW, tensor("sr", "int64")), source=path, **spec)


def test_agreeing_rates(record):
    path, _ = record(rate=44100)
    inputs = make(make_model(RAW), source=path, sampling_rate=44100)
    assert (inputs.sampling_rate, inputs.notes) == (44100, ())


def test_rate_that_nobody_asked_for_is_told(record):
    path, _ = record(rate=44100)
    (note,) = make(make_model(RAW), source=path).notes
    assert note.startswith("voice.wav has 44100 Hz; which rate the model expects")


@pytest.mark.parametrize("rate", [0, -8000])
def test_impossible_rate(rate):
    with pytest.raises(UsageError, match="is not possible"):
        make(make_model(RAW), sampling_rate=rate)


@pytest.mark.parametrize("shape", [("N", 144160), (1, 144160, 1)])
def test_fixed_length(record, shape):
    path, _ = record(800)
    with pytest.raises(UsageError) as error:
        make(make_model(tensor("x", "float32", *shape)), source=path)
    assert "has 800 samples (0.05 s at 16000 Hz)" in str(error.value)
    assert "takes exactly 144160 (9.01 s)" in str(error.value)


def test_model_of_one_channel(record):
    path, _ = record(channels=2)
    with pytest.raises(UsageError, match=r"has 2 channels, wav float32 \[batch, time\] takes one"):
        make(make_model(RAW), source=path)


@pytest.mark.parametrize(("channels", "shape"), [(1, (800,)), (2, (2, 800))])
def test_transform_gets_what_audonnx_gets(record, channels, shape):
    path, signal = record(channels=channels, rate=22050)
    model = make_model(tensor("f", "float32", 18, "time"), transform=True, format="audonnx")
    inputs = make(model, source=path)
    array = inputs.sample(0)["signal"]
    np.testing.assert_array_equal(array, signal.reshape(shape))
    assert (array.shape, inputs.sampling_rate) == (shape, 22050)


@pytest.mark.parametrize(
    "inputs",
    [
        (tensor("ids", "int64", "batch", "time"),),
        (tensor("mel", "float32", "batch", 80, "time"),),
        (tensor("attention_mask", "float32", "batch", "time"),),
        (tensor("state", "float32", "batch", "time"),),
        (),
    ],
)
def test_no_place_for_a_signal(record, inputs):
    path, _ = record()
    with pytest.raises(UsageError, match="no input takes a signal of one channel"):
        make(make_model(*inputs), source=path)


def test_two_places_for_a_signal(record):
    path, signal = record()
    one, two = tensor("one", "float32", 1, "n"), tensor("two", "float32", 1, "m")
    with pytest.raises(UsageError, match="several inputs could take it: one, two"):
        make(make_model(one, two), source=path)
    settled = make(make_model(one, two), source=path, values=(("one", "zeros"),)).sample(0)
    np.testing.assert_array_equal(settled["two"][0], signal[0])
    named = make(make_model(one, RAW), source=path).sample(0)
    np.testing.assert_array_equal(named["wav"][0], signal[0])


def test_signal_that_was_filled_by_name(record):
    path, _ = record()
    with pytest.raises(UsageError, match="no input takes a signal"):
        make(make_model(RAW), source=path, values=(("wav", "zeros"),))


def test_length_against_option(record):
    path, _ = record()
    with pytest.raises(UsageError, match=r"voice.wav \(wav\) makes axis 'time' 800 long"):
        make(make_model(RAW), source=path, shapes=(("time", "900"),))


def test_file_without_samples(record):
    path, _ = record(0)
    with pytest.raises(UsageError, match="holds no samples"):
        make(make_model(RAW), source=path)


@pytest.mark.parametrize("content", [b"", b"RIFF", b"no sound at all"])
def test_broken_file(tmp_path, content):
    path = tmp_path / "voice.wav"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is no readable audio file"):
        make(make_model(RAW), source=str(path))


def test_missing_file():
    with pytest.raises(UsageError, match="no such file"):
        make(make_model(RAW), source="absent.wav")


@pytest.mark.parametrize("missing", [("audiofile",), ("audiofile", "soundfile")])
def test_libraries(record, monkeypatch, missing):
    path, signal = record()
    real = builtins.__import__

    def fake(name, *args, **kwargs):
        if name in missing:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fake)
    if "soundfile" in missing:
        with pytest.raises(UsageError, match=r"pip install detaudit\[audio\]"):
            make(make_model(RAW), source=path)
    else:
        array = make(make_model(RAW), source=path).sample(0)["wav"]
        np.testing.assert_array_equal(array, signal)
