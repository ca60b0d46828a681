"""The example input: one synthesised voice, written as a wav file."""

from __future__ import annotations

import itertools
import wave
from pathlib import Path

import numpy as np

from detaudit.demo.sounds import SAMPLING_RATE, Sound, draw_sound

SAMPLES = 2 * SAMPLING_RATE
"""Number of samples of the voice: 2 s."""


def draw_voice(seed: int) -> Sound:
    """Draw the first voice that is neither faint, nor clipped, nor hidden in noise.

    Args:
        seed: seed of the streams

    Returns:
        voice of 2 s between -26 and -18 dB, harmonicity 8 to 16 dB

    """
    voices = (draw_sound(seed, f"demo/voice/{n}", SAMPLES, "voiced") for n in itertools.count())
    return next(
        voice
        for voice in voices
        if -26 <= voice.level <= -18
        and 8 <= voice.harmonicity <= 16
        and np.abs(voice.signal).max() < 1
    )


def write_voice(voice: Sound, path: Path) -> None:
    """Write a sound as wav file, mono, 16 kHz, 16 bit.

    Args:
        voice: sound within -1..1
        path: file to write

    """
    frames = np.rint(voice.signal * 32767).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLING_RATE)
        file.writeframes(frames.tobytes())
