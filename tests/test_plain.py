from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.models.model import Dimension
from detaudit.plain import from_plain, to_plain


@dataclass(frozen=True)
class Leg:
    length: float
    toes: int = 5


@dataclass(frozen=True)
class Beast:
    name: str
    legs: tuple[Leg, ...] = ()
    shape: tuple[Dimension, ...] | None = None
    pair: tuple[str, int] = ("a", 1)
    home: Path | None = None
    size: float | None = None
    count: int | float | None = None
    names: Mapping[str, Leg] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    secret: list[int] = field(default_factory=list, metadata={"plain": False}, compare=False)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
).filter(lambda value: not isinstance(value, float) or math.isfinite(value))

beasts = st.builds(
    Beast,
    name=st.text(),
    legs=st.lists(st.builds(Leg, st.floats(allow_nan=False), st.integers()), max_size=3).map(tuple),
    shape=st.none() | st.lists(st.integers() | st.text() | st.none(), max_size=3).map(tuple),
    pair=st.tuples(st.text(), st.integers()),
    home=st.none() | st.text(st.characters(categories=["L", "Nd"]), min_size=1).map(Path),
    size=st.none() | st.floats(allow_nan=False),
    count=st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    names=st.dictionaries(st.text(), st.builds(Leg, st.floats(allow_nan=False)), max_size=2),
    facts=st.dictionaries(
        st.text(), st.integers() | st.text() | st.lists(st.integers()), max_size=2
    ),
)


@given(beast=beasts)
def test_what_was_plain_comes_back(beast: Beast) -> None:
    text = json.dumps(to_plain(beast), allow_nan=False)
    assert from_plain(Beast, json.loads(text)) == beast


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_special_numbers_survive_strict_json(number: float) -> None:
    text = json.dumps(to_plain(Leg(number)), allow_nan=False)
    back = from_plain(Leg, json.loads(text)).length
    assert back == number or (math.isnan(back) and math.isnan(number))


@pytest.mark.parametrize("number", [2**53 + 1, 2**64, -(2**63), 0])
def test_whole_numbers_stay_exact_where_floats_may_stand(number: int) -> None:
    back = from_plain(Beast, json.loads(json.dumps(to_plain(Beast("b", size=number)))))
    assert back.size == number


def test_a_field_may_be_kept_out() -> None:
    assert "secret" not in to_plain(Beast("b", secret=[1]))
    assert from_plain(Beast, {"name": "b", "secret": [2]}).secret == [2]


def test_unknown_keys_are_passed_over() -> None:
    assert from_plain(Leg, {"length": 1, "colour": "red"}) == Leg(1.0)


def test_a_missing_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="length"):
        from_plain(Leg, {"toes": 4})


@pytest.mark.parametrize("pair", [["a"], ["a", 1, 2]])
def test_a_tuple_of_another_length_is_an_error(pair: list[Any]) -> None:
    with pytest.raises(ValueError, match="zip"):
        from_plain(Beast, {"name": "b", "pair": pair})


def test_paths_and_tuples_become_text_and_lists() -> None:
    assert to_plain({1: (Path("a/b"), (True, None))}) == {"1": ["a/b", [True, None]]}
