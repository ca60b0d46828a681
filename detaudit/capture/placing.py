"""Bringing what the user gives together with the inputs that it is for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from detaudit.capture.audio import shape_signal
from detaudit.capture.files import fit_array, reshape_open
from detaudit.capture.fill import Fill, fill_constant
from detaudit.capture.given import Given, Sound
from detaudit.capture.naming import is_rate
from detaudit.capture.shapes import Pin, pin_options, pin_shape
from detaudit.capture.signal import RATE, find_signals
from detaudit.capture.signature import Entry
from detaudit.capture.values import describe_excess
from detaudit.errors import UsageError
from detaudit.models.model import IdRange, Model
from detaudit.spec import InputSpec


@dataclass(frozen=True, slots=True)
class Placed:
    """An array from a file in the type of its input.

    Attributes:
        entry: the input
        array: its values
        source: name of the file

    """

    entry: Entry
    array: NDArray[Any]
    source: str

    def fill(self, bounds: IdRange | None) -> Fill:
        """Fill the input with the array, with a note where it leaves the bounds."""
        excess = ""
        if bounds and self.array.size:
            low, high = float(self.array.min()), float(self.array.max())
            excess = describe_excess(self.entry.name, low, high, bounds)
        return fill_constant(self.array, self.source, excess)


def place_arrays(
    model: Model, entries: tuple[Entry, ...], batch: Collection[str], given: Given
) -> dict[str, Placed]:
    """Arrays that the user gives, in the types of their inputs.

    Args:
        model: what is fed; audonnx brings arrays to the declared shape
        entries: inputs
        batch: names of the axes that count items
        given: what the user gives

    Raises:
        UsageError: if values do not fit, or no single input takes the sound

    """
    found = {}
    for entry in entries:
        if entry.name in given.arrays:
            array, source = given.arrays[entry.name]
            array = fit_array(array, entry, source)
            if model.format == "audonnx" and not model.transform:
                array = reshape_open(array, entry, source)
            found[entry.name] = Placed(entry, array, source)
    if given.sound:
        free = tuple(e for e in entries if e.name not in given.arrays and e.name not in given.words)
        placed = _place_sound(given.sound, free, batch, transform=model.transform)
        found[placed.entry.name] = placed
    return found


def make_pins(
    entries: tuple[Entry, ...],
    asked: Mapping[str, tuple[int, ...]],
    arrays: Mapping[str, Placed],
) -> dict[str, Pin]:
    """Open axes that the user or a file settles.

    Args:
        entries: inputs
        asked: sizes that the user asks for, per axis or input
        arrays: what comes from files

    Raises:
        UsageError: if they contradict the model or each other

    """
    pins = pin_options(asked, entries)
    for name, placed in arrays.items():
        source = f"{placed.source} ({name})"
        pin_shape(pins, placed.entry, placed.array.shape, source)
    return pins


def settle_rate(spec: InputSpec, given: Given) -> int:
    """Sampling rate that all sources of one agree on, 16000 Hz where there is none.

    Raises:
        UsageError: if they do not agree

    """
    rates: dict[str, float] = {}
    if spec.sampling_rate is not None:
        rates["the sampling rate asked for"] = spec.sampling_rate
    for name, text in given.words.items():
        kind, _, value = text.partition(":")
        if is_rate(name) and kind == "value" and value.isdigit():
            rates[f"--input {name}={text}"] = int(value)
    for name, (array, source) in given.arrays.items():
        if is_rate(name) and array.size == 1 and array.dtype.kind in "iuf":
            rates[f"{name} of {source}"] = float(array.reshape(-1)[0])
    if given.sound:
        rates[given.sound.source] = given.sound.rate
    if len(set(rates.values())) > 1:
        texts = (f"{source} is {rate:g} Hz" for source, rate in rates.items())
        raise UsageError(f"sampling rates differ: {', '.join(texts)}; resample the file first")
    rate = int(next(iter(rates.values()), RATE))
    if rate < 1:
        raise UsageError(f"a sampling rate of {rate} Hz is not possible")
    return rate


def _place_sound(
    sound: Sound, entries: tuple[Entry, ...], batch: Collection[str], *, transform: bool
) -> Placed:
    if transform and entries:
        mono = len(entries[0].axes) == 1
        return Placed(entries[0], sound.signal[0] if mono else sound.signal, sound.source)
    places = find_signals(entries, batch)
    if len(places) != 1:
        what = (
            f"several inputs could take it: {', '.join(p.entry.name for p in places)}"
            if places
            else "no input takes a signal of one channel"
        )
        left = ", ".join(entry.text for entry in entries)
        advice = f"inputs to fill: {left}; give arrays with --input NAME=@FILE.npy"
        raise UsageError(f"{sound.source}: {what}; {advice if left else 'none is left to fill'}")
    array = shape_signal(sound.signal, sound.rate, places[0], sound.source)
    return Placed(places[0].entry, array, sound.source)
