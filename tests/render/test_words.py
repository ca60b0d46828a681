from __future__ import annotations

import math
import unicodedata
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.render import words


def _value(text: str) -> Fraction:
    return Fraction(text.removesuffix(" %")) / 100


@pytest.mark.parametrize(
    ("runs", "text"),
    [(2, "95 %"), (5, "52.8 %"), (20, "14.6 %"), (60, "4.96 %"), (300, "0.997 %")],
)
def test_bounds_of_the_literature(runs: int, text: str) -> None:
    assert words.bound(1 - 0.05 ** (1 / (runs - 1))) == text


@given(st.floats(0, 1))
def test_a_bound_is_never_understated(value: float) -> None:
    shown = _value(words.bound(value))
    assert shown >= Fraction(value) * (1 - Fraction(1, 10**11))
    assert shown <= max(Fraction(value) * Fraction(101, 100), Fraction(1, 10**5))


@given(st.floats(0, 1))
def test_a_share_is_all_or_nothing_only_where_it_is(value: float) -> None:
    text = words.share(value)
    assert (text == "0 %") == (value == 0)
    assert (text == "100 %") == (value == 1)
    if text[0] not in "<>":
        assert abs(_value(text) - Fraction(value)) <= Fraction(value) * Fraction(5, 100)


@given(st.floats(-1e300, 1e300))
def test_a_difference_is_zero_only_where_it_is(value: float) -> None:
    text = words.number(value)
    assert (text == "0") == (value == 0)
    assert math.isclose(float(text), value, rel_tol=0.051)


@pytest.mark.parametrize("unknown", [None, math.nan])
@pytest.mark.parametrize("show", [words.number, words.share, words.bound, words.duration])
def test_what_is_unknown_is_a_dash(show: object, unknown: float | None) -> None:
    assert callable(show)
    assert show(unknown) == words.NOTHING


@given(st.text(st.characters(exclude_categories=())))
def test_names_are_visible(name: str) -> None:
    shown = words.visible(name)
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]
    shown.encode("utf-8")
    assert words.plain(shown).isascii()


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"])))
def test_visible_names_stay_as_they_are(name: str) -> None:
    assert words.visible(name) == name


@given(st.integers(0, 2**80))
def test_counts_below_ten_million_are_exact(value: int) -> None:
    text = words.count(value)
    if value < 10**7:
        assert int(text.replace(",", "")) == value
    else:
        assert math.isclose(float(text), value, rel_tol=0.051)


@given(st.floats(1e-6, 1e5))
def test_durations_keep_two_digits(seconds: float) -> None:
    number, unit = words.duration(seconds).replace(",", "").split()
    scale = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}[unit]
    assert math.isclose(float(number) * scale, seconds, rel_tol=0.06, abs_tol=0.51e-6)
