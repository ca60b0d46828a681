"""The truth about a synthesised sound can be found in the sound by other means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detaudit.demo.sounds import (
    KINDS,
    SAMPLING_RATE,
    Sound,
    draw_duration,
    draw_sound,
    hertz_to_unit,
    unit_to_hertz,
)

GOLDEN_PLACES = [1000, 2500, 4000, 5500, 7000]
GOLDEN_VALUES = [
    0.0016635095234960318,
    -0.0040634796023368835,
    -0.0031875784043222666,
    0.007036443799734116,
    -0.000480185350170359,
]
GOLDEN_TRUTH = (393.1909242606971, -47.63268315756751, -0.26235851688014744)


def find_period(signal: np.ndarray) -> float:
    """Frequency in Hz of the first high peak of the autocorrelation."""
    spectrum = np.fft.rfft(signal, 2 * signal.size)
    correlation = np.fft.irfft(np.abs(spectrum) ** 2)[:300]
    lags = np.arange(1, 299)
    inner = correlation[1:299]
    peaks = lags[(inner > correlation[:298]) & (inner >= correlation[2:300]) & (lags >= 30)]
    highest = correlation[peaks].max()
    return SAMPLING_RATE / peaks[correlation[peaks] > 0.9 * highest][0]


def measure_flatness(signal: np.ndarray) -> float:
    """Spectral flatness in dB of the average spectrum in 64 bands, 0 for white noise."""
    power = np.abs(np.fft.rfft(signal)) ** 2
    bands = np.array([band.mean() for band in np.array_split(power[1:], 64)])
    return float(10 * np.log10(np.exp(np.log(bands).mean()) / bands.mean()))


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.integers(8000, 12000))
@settings(max_examples=25)
def test_sound_has_the_level_and_ranges_it_claims(seed, kind, samples):
    sound = draw_sound(seed, "sound", samples, kind)
    assert sound.kind == kind
    assert sound.signal.shape == (samples,)
    assert sound.signal.dtype == np.float32
    rms = np.sqrt(np.mean(sound.signal.astype(np.float64) ** 2))
    assert 20 * np.log10(rms) == pytest.approx(sound.level, abs=1e-4)
    known = sound.values if kind == "voiced" else sound.values[1:]
    assert ((known >= 0) & (known <= 1)).all()
    assert np.isnan(sound.pitch) == (kind != "voiced")


def test_pitch_is_the_one_that_autocorrelation_finds():
    checked = 0
    for index in range(60):
        sound = draw_sound(5, f"voice/{index}", 16000, "voiced")
        if sound.harmonicity < 10:
            continue
        checked += 1
        assert find_period(sound.signal[6000:10000]) == pytest.approx(sound.pitch, rel=0.15)
    assert checked >= 20


def test_unvoiced_sounds_are_coloured_more_than_a_white_floor():
    sounds = [draw_sound(5, f"fricative/{index}", 16000, "unvoiced") for index in range(20)]
    assert np.median([measure_flatness(sound.signal) for sound in sounds]) < -3


def test_harmonicity_is_the_ratio_of_the_two_powers():
    even = Sound(np.ones(4, np.float32), "voiced", 200.0, -30.0, 0.0)
    clean = Sound(np.ones(4, np.float32), "voiced", 200.0, -30.0, 20 * np.log10(9))
    assert even.values == pytest.approx([np.log(2.5) / np.log(5), 0.5, 0.5])
    assert clean.values[2] == pytest.approx(0.1)


@given(st.floats(0, 1))
def test_pitch_scale_can_be_inverted(value):
    assert hertz_to_unit(unit_to_hertz(value)) == pytest.approx(value, abs=1e-12)


def test_draws_depend_on_seed_and_name_alone():
    first = draw_sound(1, "a", 8000)
    draw_sound(1, "b", 8000)
    again = draw_sound(1, "a", 8000)
    assert again.signal.tobytes() == first.signal.tobytes()
    assert (again.kind, again.level) == (first.kind, first.level)
    for seed, name in ((2, "a"), (1, "b")):
        assert draw_sound(seed, name, 8000).signal.tobytes() != first.signal.tobytes()


def test_sound_is_the_same_on_every_machine():
    """Sine and Fourier transform differ in the last bits between machines, hence the tolerance."""
    sound = draw_sound(1, "golden", 8000, "voiced")
    assert sound.signal[GOLDEN_PLACES] == pytest.approx(GOLDEN_VALUES, rel=1e-5)
    assert (sound.pitch, sound.level, sound.harmonicity) == pytest.approx(GOLDEN_TRUTH, rel=1e-9)


def test_durations_are_half_a_second_to_three_seconds():
    durations = np.array([draw_duration(1, f"{index}") for index in range(300)])
    assert durations.min() >= 8000
    assert durations.max() <= 48000
    assert (durations % 160 == 0).all()
    assert (durations < 24000).mean() > 0.5
