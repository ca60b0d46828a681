"""How a number, a share, a bound or a name looks, decided once for every format."""

from __future__ import annotations

import math
import numbers
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context
from typing import Any

NOTHING = "–"
"""Stands for what is unknown, was not measured or does not apply; never for zero."""

_ASCII = str.maketrans(
    {
        "–": "-",
        "—": "-",
        "─": "-",
        "━": "=",
        "Δ": "d",
        "≤": "<=",
        "·": ",",
        "×": "x",
        "…": "...",
        "µ": "u",
        "∞": "inf",
        "“": '"',
        "”": '"',
        "’": "'",
    }
)
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def number(value: Any) -> str:
    """Difference with two significant digits.

    Examples:
        >>> number(4.0531e-05), number(0.0), number(float("inf")), number(None)
        ('4.1e-05', '0', 'inf', '–')

    """
    if value is None or math.isnan(value):
        return NOTHING
    return "0" if value == 0 else f"{value:.1e}"


def count(value: Any) -> str:
    """Whole number with its thousands marked, in scientific form from ten million on.

    Examples:
        >>> count(24194), count(2**53), count(None)
        ('24,194', '9.0e+15', '–')

    """
    if value is None:
        return NOTHING
    return f"{value:,}" if abs(value) < 10_000_000 else f"{float(value):.1e}"


def share(value: Any) -> str:
    """Share in per cent with two significant digits, three above 99 %.

    Examples:
        >>> share(0.00123), share(0.9996), share(1.0), share(0.0), share(2e-9)
        ('0.12 %', '> 99.9 %', '100 %', '0 %', '< 0.001 %')

    """
    if value is None or math.isnan(value):
        return NOTHING
    if 0 < value < 1e-5:
        return "< 0.001 %"
    if 0.999 < value < 1:
        return "> 99.9 %"
    return f"{_digits(value, 3 if 0.99 <= value < 1 else 2, ROUND_HALF_EVEN)} %"


def bound(value: Any) -> str:
    """Upper bound of a share in per cent with three significant digits, rounded up.

    Examples:
        >>> bound(1 - 0.05 ** (1 / 19)), bound(0.95), bound(1e-9), bound(None)
        ('14.6 %', '95 %', '0.001 %', '–')

    """
    if value is None or math.isnan(value):
        return NOTHING
    if value > 0:
        # A bound such as 0.9500000000000001 is 95 %: the last bits are the arithmetic's.
        value = max(value, 1e-5) * (1 - 1e-12)
    return f"{_digits(value, 3, ROUND_CEILING)} %"


def ratio(part: int, whole: int) -> str:
    """Part of a whole.

    Examples:
        >>> ratio(5, 1000)
        '5 of 1,000'

    """
    return f"{count(part)} of {count(whole)}"


def places(value: int | None, limited: bool = True) -> str:
    """Number of decimals.

    Args:
        value: the number, None where there is none
        limited: whether a difference was seen that limits it

    Examples:
        >>> places(4), places(-1), places(None), places(None, limited=False)
        ('4', 'none', '–', 'no limit')

    """
    if value is None:
        return NOTHING if limited else "no limit"
    return str(value) if value >= 0 else "none"


def bits(value: Any) -> str:
    """Number of significant bits.

    Examples:
        >>> bits(13.6), bits(None)
        ('13', '–')

    """
    return NOTHING if value is None or not math.isfinite(value) else f"{math.floor(value)}"


def plural(amount: int, noun: str) -> str:
    """Amount and noun.

    Examples:
        >>> plural(1, "run"), plural(2, "process"), plural(0, "class")
        ('1 run', '2 processes', '0 classes')

    """
    ending = "" if amount == 1 else "es" if noun.endswith("s") else "s"
    return f"{count(amount)} {noun}{ending}"


def duration(seconds: Any) -> str:
    """Time with two significant digits, in the unit that suits it.

    Examples:
        >>> duration(0.01234), duration(2.0), duration(250e-6), duration(95), duration(None)
        ('12 ms', '2.0 s', '250 µs', '95 s', '–')

    """
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size * 0.9995:
            scaled = seconds / size
            return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:,.0f} {unit}"
    return f"{seconds * 1e6:.0f} µs"


def size(amount: Any) -> str:
    """Size of a file in decimal units.

    Examples:
        >>> size(661_000_000), size(1532), size(12), size(None)
        ('661 MB', '1.5 kB', '12 B', '–')

    """
    if amount is None:
        return NOTHING
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= factor * 0.9995:
            scaled = amount / factor
            return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:.0f} {unit}"
    return f"{amount} B"


def digest(text: Any) -> str:
    """First eight digits of a hexadecimal digest.

    Examples:
        >>> digest("6bc4a7fd00112233"), digest(None)
        ('6bc4a7fd…', '–')

    """
    return f"{text[:8]}…" if text else NOTHING


def shape(axes: Iterable[Any] | None) -> str:
    """Sizes of the axes; an open axis by its name.

    Examples:
        >>> shape((1, "time", None)), shape(()), shape(None)
        ('[1, time, ?]', '[]', 'any shape')

    """
    if axes is None:
        return "any shape"
    return f"[{', '.join('?' if axis is None else str(axis) for axis in axes)}]"


def value(given: Any) -> str:
    """Value of an output, so that floats of single precision are told apart.

    Examples:
        >>> value(0.68320429325), value(7), value("cat"), value(None)
        ('0.683204293', '7', 'cat', '–')

    """
    if given is None:
        return NOTHING
    if isinstance(given, numbers.Real) and not isinstance(given, numbers.Integral):
        return f"{float(given):.9g}"
    return str(given)


def prose(text: str) -> str:
    r"""Sentences on one line.

    Examples:
        >>> prose("Out of memory\n  at node 3")
        'Out of memory at node 3'

    """
    return " ".join(text.split())


def visible(text: Any) -> str:
    r"""Text on one line, in which every character can be seen.

    Control characters, line breaks, bidirectional and zero-width marks and halves of surrogate
    pairs become escapes: a name out of a model file must not be able to rewrite the report.

    Examples:
        >>> visible("a\nb\x1b[31m\u202e")
        'a\\nb\\x1b[31m\\u202e'

    """
    return "".join(
        ascii(c)[1:-1] if unicodedata.category(c) in _INVISIBLE else c for c in str(text)
    )


def plain(text: str) -> str:
    r"""Text in ASCII.

    Examples:
        >>> plain("max |Δ| ≤ 4 – größer")
        'max |d| <= 4 - gr\\xf6\\xdfer'

    """
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def _digits(value: float, digits: int, rounding: str) -> str:
    """Share as per cent without exponent and without trailing zeros after the point."""
    exact = Context(prec=40).create_decimal_from_float(float(value)) * 100
    rounded = Context(prec=digits, rounding=rounding).plus(exact)
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
