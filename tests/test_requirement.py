from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.errors import UsageError
from detaudit.requirement import parse_requirement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("identical", [("identical", 0, None)]),
        ("no-class-flip", [("no-class-flip", 0, None)]),
        ("decimals=3", [("decimals", 3, None)]),
        ("decimals=0", [("decimals", 0, None)]),
        ("max_abs=1e-6", [("max_abs", 1e-6, None)]),
        ("max_abs=.5", [("max_abs", 0.5, None)]),
        ("max_abs=1E+2", [("max_abs", 100, None)]),
        ("ulp=4", [("ulp", 4, None)]),
        ("flip-rate=0.01", [("flip-rate", 0.01, None)]),
        ("flip-rate=0", [("flip-rate", 0, None)]),
        (
            "scores:no-class-flip, y:decimals=2",
            [("no-class-flip", 0, "scores"), ("decimals", 2, "y")],
        ),
        ("Identity:0:ulp=1", [("ulp", 1, "Identity:0")]),
    ],
)
def test_known_forms(text: str, expected: list[tuple[str, float, str | None]]) -> None:
    found = parse_requirement(text)
    assert [(r.kind, r.limit, r.output) for r in found] == expected
    assert [r.text for r in found] == [item.strip() for item in text.split(",")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown requirement ''; known requirements: identical, decimals=K"),
        ("identical,", "unknown requirement ''"),
        ("deterministic", "unknown requirement 'deterministic'"),
        ("Identical", "unknown requirement 'Identical'"),
        ("identical=1", "identical takes no number"),
        ("no-class-flip=0", "no-class-flip takes no number"),
        ("decimals", "decimals needs a number, such as decimals=3"),
        ("decimals=", "'' is no number that decimals can have"),
        ("decimals=2.5", "'2.5' is no number that decimals can have"),
        ("decimals=-1", "'-1' is no number that decimals can have"),
        ("decimals=13", "at most 12 decimals can be required"),
        ("ulp=1e3", "'1e3' is no number that ulp can have"),
        ("max_abs=x", "'x' is no number that max_abs can have"),
        ("max_abs=-1", "'-1' is no number that max_abs can have"),
        ("max_abs=nan", "'nan' is no number that max_abs can have"),
        ("max_abs=inf", "'inf' is no number that max_abs can have"),
        ("max_abs=1.2.3", "'1.2.3' is no number that max_abs can have"),
        ("max_abs=.", "'.' is no number that max_abs can have"),
        ("max_abs=1e999", "'1e999' is no number that max_abs can have"),
        ("flip-rate=1.5", "'1.5' is no number that flip-rate can have"),
        ("y:", "unknown requirement 'y:'"),
    ],
)
def test_what_cannot_be_meant(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_requirement(text)


@given(number=st.text(st.sampled_from("0123456789.eE+-"), max_size=8))
def test_a_number_is_read_or_refused(number: str) -> None:
    try:
        (found,) = parse_requirement(f"max_abs={number}")
    except UsageError:
        return
    assert found.limit == float(number)
    assert 0 <= found.limit < float("inf")
