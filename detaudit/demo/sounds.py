"""Synthesised sounds whose pitch, level, noisiness and kind are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from detaudit.seeding import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from detaudit.seeding import Stream

    Array = NDArray[np.floating[Any]]

SAMPLING_RATE = 16000
"""Sampling rate in Hz."""

KINDS = ("voiced", "unvoiced", "noise")
"""Kinds of sound, in the order of the labels of the output ``voicing``."""

VALUES = ("pitch", "level", "noisiness")
"""Values of a sound, in the order of the labels of the output ``prosody``."""

PITCH_RANGE = (80.0, 400.0)
"""Pitch in Hz that is mapped to 0 and to 1."""

LEVEL_RANGE = (-60.0, 0.0)
"""Level in dB that is mapped to 0 and to 1."""

# Harmonics end below half the sampling rate.
_HIGHEST = 7600.0
_PEAK_DB = {"unvoiced": (1.5, 20.0), "noise": (-20.0, -1.5)}


@dataclass(frozen=True, slots=True)
class Sound:
    """A sound and the truth about it.

    Attributes:
        signal: float32, shape ``(samples,)``, mono at 16 kHz.
            Full scale is 1, but loud sounds go beyond and are not clipped
        kind: ``"voiced"``, ``"unvoiced"`` or ``"noise"``
        pitch: geometric mean of the fundamental frequency in Hz,
            ``nan`` unless voiced
        level: root mean square of the signal in dB relative to 1
        harmonicity: power of the harmonic part over that of the noise in dB

    """

    signal: NDArray[np.float32]
    kind: str
    pitch: float
    level: float
    harmonicity: float

    @property
    def values(self) -> Array:
        """Pitch, level and noisiness, each mapped to 0..1, shape ``(3,)``."""
        level = (self.level - LEVEL_RANGE[0]) / (LEVEL_RANGE[1] - LEVEL_RANGE[0])
        noisiness = 1 / (1 + 10 ** (self.harmonicity / 20))
        return np.array([hertz_to_unit(self.pitch), level, noisiness])


def hertz_to_unit(pitch: float) -> float:
    """Place of a pitch between 80 Hz (0) and 400 Hz (1) on a logarithmic scale.

    Args:
        pitch: in Hz, above 0

    Returns:
        0..1 for 80..400 Hz

    Examples:
        >>> hertz_to_unit(80.0), hertz_to_unit(400.0)
        (0.0, 1.0)

    """
    low, high = PITCH_RANGE
    return float(np.log(pitch / low) / np.log(high / low))


def unit_to_hertz(value: float) -> float:
    """Pitch at a place between 80 Hz (0) and 400 Hz (1) on a logarithmic scale.

    Args:
        value: 0..1

    Returns:
        pitch in Hz

    Examples:
        >>> round(unit_to_hertz(0.5), 1)
        178.9

    """
    low, high = PITCH_RANGE
    return float(low * (high / low) ** value)


def draw_duration(seed: int, name: str) -> int:
    """Draw a duration of 0.5 to 3 s, short ones more often.

    Args:
        seed: seed of the stream
        name: name of the stream

    Returns:
        number of samples, a multiple of 160 (10 ms)

    """
    return round(50 * 6 ** _between(stream(seed, name), 0, 1)) * (SAMPLING_RATE // 100)


def draw_sound(seed: int, name: str, samples: int, kind: str | None = None) -> Sound:
    """Draw a sound from the stream of this name.

    A voice is a sum of harmonics with a gliding and vibrating pitch
    plus breath noise, both shaped by four formants.
    An unvoiced sound is noise with a peak like that of a fricative over a floor,
    and noise is a floor with at most a faint peak.
    Some of both hide a voice too faint to count as one.
    The harder cases lie on purpose close to the border between two kinds.

    Args:
        seed: seed of the stream
        name: name of the stream
        samples: number of samples
        kind: one of :data:`KINDS`, or ``None`` to draw it:
            half of all sounds are voiced, a quarter unvoiced, a quarter noise

    Returns:
        sound and its truth

    """
    draws = stream(seed, name)
    choice = int(draws.integers(0, 3, ()))
    kind = kind or ("voiced", "voiced", "unvoiced", "noise")[choice]
    pitch = unit_to_hertz(_between(draws, 0, 1))
    voice = _draw_harmonics(draws, pitch, samples)
    response = _draw_formants(draws, samples)
    voice = _shape(voice, response)
    white = draws.normal(samples, "float64")
    floor = _shape(white, _draw_tilt(draws, samples))
    if kind == "voiced":
        noise = _mix(_shape(white, response), floor, _between(draws, -10, 20))
        harmonicity = _between(draws, -7, 26)
    else:
        peak = _shape(draws.normal(samples, "float64"), _draw_peak(draws, samples))
        noise = _mix(peak, floor, _between(draws, *_PEAK_DB[kind]))
        harmonicity = _between(draws, -50, -12)
    level = _between(draws, *LEVEL_RANGE)
    envelope = _draw_envelope(draws, samples)
    signal = _mix(voice * envelope, noise * envelope, harmonicity)
    signal *= 10 ** (level / 20) / _rms(signal)
    return Sound(
        signal=signal.astype(np.float32),
        kind=kind,
        pitch=pitch if kind == "voiced" else float("nan"),
        level=level,
        harmonicity=harmonicity,
    )


def _between(draws: Stream, low: float, high: float) -> float:
    return float(draws.uniform(low, high, (), "float64"))


def _rms(signal: Array) -> float:
    return float(np.sqrt(np.mean(signal * signal)))


def _mix(first: Array, second: Array, decibels: float) -> Array:
    """Add two signals, the first that many dB above the second."""
    return first * (10 ** (decibels / 20) / _rms(first)) + second / _rms(second)


def _frequencies(samples: int) -> Array:
    return np.fft.rfftfreq(samples, 1 / SAMPLING_RATE)


def _shape(signal: Array, response: Array) -> Array:
    return np.fft.irfft(np.fft.rfft(signal) * response, n=signal.size)


def _draw_harmonics(draws: Stream, pitch: float, samples: int) -> Array:
    """Sum of harmonics, its pitch gliding and vibrating about the given geometric mean."""
    time = np.arange(samples) / SAMPLING_RATE
    glide = _between(draws, -0.2, 0.2) * time / time[-1]
    vibrato = _between(draws, 0, 0.03) * np.sin(2 * np.pi * _between(draws, 4, 7) * time)
    bend = glide + vibrato
    frequency = pitch * np.exp(bend - bend.mean())
    turn = np.exp(2j * np.pi * np.cumsum(frequency) / SAMPLING_RATE)
    slope = _between(draws, 0.8, 1.6)
    count = int(_HIGHEST // frequency.max())
    phases = np.exp(2j * np.pi * draws.uniform(0, 1, int(_HIGHEST // PITCH_RANGE[0]), "float64"))
    wave = np.ones(samples, dtype=complex)
    total = np.zeros(samples)
    for order in range(1, count + 1):
        wave *= turn
        total += (wave * (phases[order - 1] * order**-slope)).real
    return total


def _draw_formants(draws: Stream, samples: int) -> Array:
    """Magnitude response of four formants."""
    frequency = _frequencies(samples)
    response = np.ones(frequency.size)
    for low, high in ((300, 800), (900, 2200), (2300, 3200), (3400, 4500)):
        centre = _between(draws, low, high)
        width = _between(draws, 0.06, 0.2) * centre + 30
        ratio = frequency / centre
        response /= np.sqrt((1 - ratio**2) ** 2 + (width * frequency / centre**2) ** 2)
        response += 0.02
    return response


def _draw_tilt(draws: Stream, samples: int) -> Array:
    """Magnitude response that falls or rises by some dB per octave above 50 Hz."""
    slope = _between(draws, -7, 2)
    return np.maximum(_frequencies(samples) / 1000, 0.05) ** (slope / 6.02)


def _draw_peak(draws: Stream, samples: int) -> Array:
    """Magnitude response of a fricative: one broad peak."""
    frequency = _frequencies(samples)
    centre = _between(draws, 2200, 6500)
    octaves = np.log2(np.maximum(frequency, 50) / centre)
    return np.exp(-0.5 * (octaves / _between(draws, 0.15, 0.45)) ** 2)


def _draw_envelope(draws: Stream, samples: int) -> Array:
    """Rise, fall and slow beating of the loudness."""
    time = np.arange(samples) / SAMPLING_RATE
    rise = np.minimum(time / _between(draws, 0.01, 0.15), 1)
    fall = np.minimum((time[-1] - time) / _between(draws, 0.01, 0.2), 1)
    beat = _between(draws, 0, 0.3) * np.sin(
        2 * np.pi * (_between(draws, 1, 5) * time + _between(draws, 0, 1))
    )
    envelope: Array = rise * fall * (1 + beat)
    return envelope
