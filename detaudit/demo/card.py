"""The card of the bundled model: how it was trained, and how well it does."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path

from detaudit.demo.evaluate import FIRST, SOUNDS, measure_model
from detaudit.demo.sounds import KINDS, LEVEL_RANGE, PITCH_RANGE, SAMPLING_RATE, VALUES, Sound

VERSIONS = ("audonnx", "numpy", "onnx", "onnxruntime", "torch")


def write_card(folder: Path, training: dict[str, int], voice: Sound) -> None:
    """Measure the model of a folder and write ``card.json`` beside it.

    Args:
        folder: folder with ``model.zip`` and ``voice.wav``
        training: settings of the training
        voice: the voice in ``voice.wav``

    """
    seed = training["seed"]
    model = folder / "model.zip"
    card = {
        "name": "detaudit demo",
        "licence": "MIT",
        "model": {
            "sha256": _digest(model),
            "bytes": model.stat().st_size,
            "input": {"name": "signal", "shape": [1, "time"], "sampling_rate": SAMPLING_RATE},
            "outputs": {"prosody": list(VALUES), "voicing": list(KINDS)},
        },
        "truth": {
            "pitch": (
                "geometric mean of the fundamental frequency, logarithmic, "
                f"{PITCH_RANGE[0]:.0f} Hz is 0 and {PITCH_RANGE[1]:.0f} Hz is 1; "
                "meaningless unless voiced: other sounds have none and did not train it"
            ),
            "level": (
                "root mean square in dB relative to 1, "
                f"{LEVEL_RANGE[0]:.0f} dB is 0 and {LEVEL_RANGE[1]:.0f} dB is 1"
            ),
            "noisiness": (
                "share of the noise in the sum of the amplitudes of noise and harmonic part, "
                "1 / (1 + 10^(harmonicity / 20)), harmonicity in dB"
            ),
            "voicing": "voiced, unvoiced (noise with a peak like a fricative's) or noise",
        },
        "training": {
            **training,
            "versions": {
                "python": platform.python_version(),
                **{name: version(name) for name in VERSIONS},
            },
        },
        "test": measure_model(model, seed, SOUNDS),
        "test_first": measure_model(model, seed, FIRST),
        "voice": {
            "sha256": _digest(folder / "voice.wav"),
            "sampling_rate": SAMPLING_RATE,
            "samples": voice.signal.size,
            "pitch_hertz": round(voice.pitch, 2),
            "level_decibels": round(voice.level, 2),
            "harmonicity_decibels": round(voice.harmonicity, 2),
            "kind": voice.kind,
            "values": dict(zip(VALUES, voice.values.round(4).tolist(), strict=True)),
        },
    }
    text = json.dumps(card, indent=2, allow_nan=False) + "\n"
    (folder / "card.json").write_text(text, encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
