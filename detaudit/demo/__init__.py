"""The bundled model: a small audio network of our own, a voice to try it on, and their card.

Examples:
    >>> model_path().name, voice_path().name
    ('model.zip', 'voice.wav')
    >>> load_card()["model"]["outputs"]["prosody"]
    ['pitch', 'level', 'noisiness']

"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any


def model_path() -> Path:
    """Path of the bundled model, an audonnx archive.

    Its input is a raw signal at 16 kHz, float32, shape ``(1, time)``.
    Its outputs are ``prosody``, shape ``(1, 3)``: pitch, level and noisiness in 0..1,
    and ``voicing``, shape ``(1, 3)``: scores of the classes voiced, unvoiced and noise.
    """
    return _find("model.zip")


def voice_path() -> Path:
    """Path of a synthesised voice of 2 s, mono, 16 kHz, 16 bit."""
    return _find("voice.wav")


def load_card() -> dict[str, Any]:
    """Read how the bundled model was trained, its test error, and the truth about the voice."""
    card: dict[str, Any] = json.loads(_find("card.json").read_text(encoding="utf-8"))
    return card


def _find(name: str) -> Path:
    return Path(str(files(__name__) / name))
