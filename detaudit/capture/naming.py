"""What the names of inputs and axes tell about their content."""

from __future__ import annotations

import re

_BORDER = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")

_BATCH = {"batch", "batches", "batchsize", "bs"}
_TIME = {
    *("time", "times", "t", "frame", "frames", "step", "steps", "timesteps", "length", "lengths"),
    *("len", "l", "seq", "sequence", "seqlen", "token", "tokens", "sample", "samples"),
    *("past", "height", "width", "h", "w"),
}
_TEXT = {"seq", "seqlen", "sequence", "token", "tokens", "text", "past", "word", "words", "memory"}
_FEATURES = {
    *("feature", "features", "feat", "dim", "dims", "hidden", "embedding", "mels", "bins"),
    *("channel", "channels", "class", "classes", "frame", "frames"),
}
_SIGNAL = {"signal", "audio", "wav", "wave", "waveform", "speech", "pcm", "samples"}
_STATE = {
    *("state", "states", "hidden", "cell", "carry", "memory", "cache", "caches"),
    *("h0", "c0", "hx", "cx", "hn", "cn", "hin", "cin", "rnn", "lstm", "gru", "past"),
}
_LENGTH = {"len", "lens", "length", "lengths"}
_RATE = {"sr", "fs", "samplerate", "samplingrate"}


def words(name: str) -> tuple[str, ...]:
    """Words of a name, in lower case, without numbers that stand alone.

    Examples:
        >>> words("serving_default_inputMask:0")
        ('serving', 'default', 'input', 'mask')

    """
    return tuple(w.lower() for w in _BORDER.split(name) if w and not w.isdigit())


def is_mask(name: str) -> bool:
    """Whether an input marks what counts."""
    found = words(name)
    return bool(found) and found[-1] in ("mask", "masks")


def is_padding_mask(name: str) -> bool:
    """Whether a mask marks what does not count.

    Examples:
        >>> is_padding_mask("key_padding_mask"), is_padding_mask("attention_mask")
        (True, False)

    """
    return is_mask(name) and not {"pad", "padding"}.isdisjoint(words(name))


def is_length(name: str) -> bool:
    """Whether an input tells how long another one is."""
    found = words(name)
    return bool(found) and found[-1] in _LENGTH


def is_rate(name: str) -> bool:
    """Whether an input is a sampling rate.

    Examples:
        >>> [name for name in ("sr", "sampleRate", "sampling_rate", "rate") if is_rate(name)]
        ['sr', 'sampleRate', 'sampling_rate']

    """
    found = words(name)
    return bool(found) and (found[-1] in _RATE or "".join(found[-2:]) in _RATE)


def is_state(name: str) -> bool:
    """Whether an input carries what a recurrent model remembers."""
    return not _STATE.isdisjoint(words(name))


def is_signal(name: str) -> bool:
    """Whether an input is called like audio."""
    return not _SIGNAL.isdisjoint(words(name))


def is_batch(axis: str) -> bool:
    """Whether an axis is called like a batch."""
    return not _BATCH.isdisjoint(words(axis))


def is_time(axis: str) -> bool:
    """Whether an axis is called like something that a batch is not."""
    return not _TIME.isdisjoint(words(axis))


def is_text(axis: str) -> bool:
    """Whether an axis counts tokens."""
    return not _TEXT.isdisjoint(words(axis))


def is_feature(axis: str) -> bool:
    """Whether an axis counts something else than samples of a signal."""
    return not _FEATURES.isdisjoint(words(axis))
