"""What an input holds when the user says it in words: ``--input NAME=SPEC``."""

from __future__ import annotations

import math

import numpy as np

from detaudit.capture.fill import Array, Fill, fill_constant, fill_integers
from detaudit.capture.signature import Entry
from detaudit.capture.wording import KNOWN
from detaudit.errors import UsageError
from detaudit.models.model import IdRange
from detaudit.seeding import Stream

_COUNTS = {"zeros": (0,), "ones": (0,), "normal": (0, 2), "uniform": (2,), "int": (2,)}


def fill_asked(
    entry: Entry, text: str, shape: tuple[int, ...], bounds: IdRange | None = None
) -> Fill:
    """Fill an input as the user asks.

    Args:
        entry: the input
        text: such as ``uniform:-1:1``
        shape: shape of the input
        bounds: integers that the input may hold

    Returns:
        the way to fill it, with a note where it leaves the bounds

    Raises:
        UsageError: if the text is not understood or does not fit the type of the input

    """
    option = f"--input {entry.name}={text}"
    kind, colon, rest = text.partition(":")
    if kind == "value" and colon:
        return _fill_value(entry, rest, f"value {rest}", shape, bounds, option)
    numbers = rest.split(":") if colon else []
    if kind not in _COUNTS or len(numbers) not in _COUNTS[kind]:
        raise UsageError(f"{option}: unknown way to fill an input; known ways: {KNOWN}")
    if kind in ("zeros", "ones"):
        if entry.dtype == "string":
            raise UsageError(f"{option}: {entry.text} takes text; write {entry.name}=value:TEXT")
        return _fill_value(entry, str(int(kind == "ones")), kind, shape, bounds, option)
    if kind == "int":
        return _fill_integers(entry, numbers, shape, bounds, option)
    if not entry.floating:
        raise UsageError(f"{option}: {kind} gives floating-point values, {entry.text} takes none")
    first, second = (_number(number, option) for number in numbers or ("0", "1"))
    if kind == "uniform":
        if first > second or not _held(first, entry) or not _held(second, entry):
            raise UsageError(f"{option}: {first:g} to {second:g} is no range of {entry.dtype}")
        return Fill(
            f"uniform({first:g}, {second:g})",
            lambda stream: stream.uniform(first, second, shape, entry.dtype),
        )
    if second < 0 or not _held(abs(first) + 10 * second, entry):
        raise UsageError(
            f"{option}: mean {first:g} and standard deviation {second:g} do not suit {entry.dtype}"
        )
    if not numbers:
        return Fill("normal(0, 1)", lambda stream: stream.normal(shape, entry.dtype))

    def make(stream: Stream) -> Array:
        values = stream.normal(shape, "float64")
        values *= second
        values += first
        return values.astype(entry.dtype)

    return Fill(f"normal({first:g}, {second:g})", make)


def describe_excess(name: str, low: float, high: float, bounds: IdRange | None) -> str:
    """Tell where values leave the bounds of an input; empty where they do not.

    Args:
        name: the input
        low: smallest value
        high: largest value
        bounds: integers that the input may hold

    """
    if bounds is None or (bounds.low <= low and high <= bounds.high):
        return ""
    return (
        f"{name} holds {low:g} to {high:g}, but it {bounds.reason}, which allows"
        f" {bounds.low} to {bounds.high}"
    )


def _fill_value(
    entry: Entry,
    text: str,
    words: str,
    shape: tuple[int, ...],
    bounds: IdRange | None,
    option: str,
) -> Fill:
    if entry.dtype == "string":
        return fill_constant(np.full(shape, text), words)
    if entry.dtype == "bool":
        truth = {"0": False, "false": False, "1": True, "true": True}.get(text.lower())
        if truth is None:
            raise UsageError(f"{option}: {entry.text} takes true or false")
        return fill_constant(np.full(shape, truth), words)
    if entry.floating:
        number: float = _number(text, option, finite=False)
        if math.isfinite(number) and not _held(number, entry):
            raise UsageError(f"{option}: {number:g} is too large for {entry.dtype}")
    else:
        number = _integer(text, entry, option)
    note = describe_excess(entry.name, number, number, bounds)
    return fill_constant(np.full(shape, number, entry.dtype), words, note)


def _fill_integers(
    entry: Entry, numbers: list[str], shape: tuple[int, ...], bounds: IdRange | None, option: str
) -> Fill:
    if entry.dtype in ("bool", "string"):
        raise UsageError(f"{option}: int gives integers, {entry.text} takes none")
    low, high = (_integer(number, entry, option) for number in numbers)
    if low > high:
        raise UsageError(f"{option}: {low} is larger than {high}")
    return fill_integers(entry, shape, low, high, describe_excess(entry.name, low, high, bounds))


def _integer(text: str, entry: Entry, option: str) -> int:
    try:
        integer = int(text)
    except ValueError:
        raise UsageError(f"{option}: '{text}' is no integer") from None
    dtype = np.dtype(entry.dtype)
    if dtype.kind == "f":
        last = 2 ** (np.finfo(dtype).nmant + 1)
        low, high = -last, last
    else:
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if not low <= integer <= high:
        raise UsageError(f"{option}: {entry.dtype} holds integers from {low} to {high}")
    return integer


def _number(text: str, option: str, *, finite: bool = True) -> float:
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"{option}: '{text}' is no number") from None
    if finite and not math.isfinite(number):
        raise UsageError(f"{option}: '{text}' is not finite")
    return number


def _held(number: float, entry: Entry) -> bool:
    return abs(number) <= float(np.finfo(entry.dtype).max)
