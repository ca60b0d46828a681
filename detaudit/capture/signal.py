"""Which input takes a raw signal, and how long it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from detaudit.capture.naming import is_feature, is_mask, is_signal, is_state
from detaudit.capture.signature import Entry

RATE = 16000
"""Samples per second where nothing says otherwise."""

CHUNK = 0.036
"""Seconds that a streaming model takes at a time: 32 ms and the 4 ms before them, the most
common choice for voice activity detection."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A place for a raw signal.

    Attributes:
        entry: the input
        axis: which of its axes counts the samples; all others are 1 long
        streaming: whether the model remembers earlier parts of the signal

    """

    entry: Entry
    axis: int
    streaming: bool

    @property
    def size(self) -> int | str:
        """Number of samples that the model takes, or the name of the open axis."""
        return self.entry.axes[self.axis]

    def samples(self, duration: float, rate: int) -> int:
        """Number of samples to generate for an open axis, at least 1.

        Args:
            duration: length in seconds
            rate: samples per second

        """
        return max(1, round((min(duration, CHUNK) if self.streaming else duration) * rate))


def find_signals(entries: tuple[Entry, ...], batch: Collection[str]) -> tuple[Signal, ...]:
    """Inputs that a raw signal of one channel fits into.

    Args:
        entries: inputs
        batch: names of the axes that count items

    Returns:
        floating-point inputs with a single axis longer than 1; those that are called like
        audio when there are some

    """
    streaming = any(is_state(entry.name) for entry in entries)
    found = []
    for entry in entries:
        long = [i for i, axis in enumerate(entry.axes) if axis != 1 and axis not in batch]
        data = entry.floating and not is_mask(entry.name) and not is_state(entry.name)
        if data and len(long) == 1:
            found.append(Signal(entry, long[0], streaming))
    named = tuple(signal for signal in found if is_signal(signal.entry.name))
    return named or tuple(found)


def guess_signal(entries: tuple[Entry, ...], batch: Collection[str]) -> Signal | None:
    """Input that looks like a raw signal of any length.

    Args:
        entries: inputs
        batch: names of the axes that count items

    Examples:
        >>> x = Entry("x", "float32", "float32", (1, "time"))
        >>> guess_signal((x,), ()).samples(1.0, 16000)
        16000

    """
    signals = find_signals(entries, batch)
    if len(signals) != 1:
        return None
    size = signals[0].size
    unlike = isinstance(size, int) or is_feature(size) or not signals[0].entry.ranked
    return None if unlike else signals[0]
