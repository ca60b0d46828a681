"""Fixtures for the whole suite: real models and an interpreter with an old runtime."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import hypothesis
import pytest

from tests import fetch

collect_ignore = ["noxfile.py"]
if importlib.util.find_spec("torch") is None:
    # Collected for its examples, and imported for that.
    collect_ignore.append("builders/zoo.py")

hypothesis.settings.register_profile("detaudit", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("detaudit")


@pytest.fixture(scope="session")
def magika() -> Path:
    """File type classifier: ``bytes`` int32 [n, 2048] to ``target_label`` float [n, 214]."""
    return fetch.fetch_model("magika.onnx")


@pytest.fixture(scope="session")
def magika_config() -> Path:
    """JSON file that holds magika's 214 labels as ``target_labels_space``."""
    return fetch.fetch_model("magika_config.json")


@pytest.fixture(scope="session")
def basic_pitch() -> Path:
    """Pitch posteriors: one float input [n, 43844, 1], three outputs with colons in their names."""
    return fetch.fetch_model("basic_pitch.onnx")


@pytest.fixture(scope="session")
def dnsmos() -> Path:
    """Speech quality: ``input_1`` float [n, 144160] to ``Identity:0`` float [n, 3]."""
    return fetch.fetch_model("dnsmos_sig_bak_ovr.onnx")


@pytest.fixture(scope="session")
def silero() -> Path:
    """Voice activity with If and LSTM: ``input``, ``state`` and the int64 scalar ``sr``."""
    return fetch.fetch_model("silero_vad.onnx")


@pytest.fixture(scope="session")
def audonnx_gender() -> Path:
    """Folder with model.onnx, model.yaml (an opensmile transform, two labels) and test.wav."""
    names = ("audonnx_gender/model.onnx", "audonnx_gender/model.yaml", "audonnx_gender/test.wav")
    (folder,) = {fetch.fetch_model(name).parent for name in names}
    return folder


@pytest.fixture(scope="session")
def wav2vec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Speech emotion network of random weights: ``signal`` [1, time] to three ``logits``."""
    from tests.builders.torch_models import wav2vec_tiny

    return wav2vec_tiny(tmp_path_factory.mktemp("wav2vec"))


@pytest.fixture(scope="session")
def old_python() -> Path:
    """Interpreter with onnxruntime 1.17.3, numpy 1.26.4 and nothing else."""
    first, last = fetch.OLD_RUNTIME_PYTHONS
    if not first <= sys.version_info[:2] <= last:
        pytest.skip(
            f"{fetch.OLD_RUNTIME[0]} has wheels for Python 3.{first[1]} to 3.{last[1]} only"
        )
    return fetch.fetch_old_python()
