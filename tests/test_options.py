from __future__ import annotations

from collections.abc import Mapping

import pytest

from detaudit.errors import UsageError
from detaudit.options import ANY_BACKEND, PROVIDER, SESSION, TORCH, Option


def every_option() -> list[tuple[str, Option]]:
    tables: list[Mapping[str, Option]] = [ANY_BACKEND, SESSION, TORCH, *PROVIDER.values()]
    return [item for table in tables for item in table.items()]


@pytest.mark.parametrize(
    ("key", "option"), [(k, o) for k, o in every_option() if o.default is not None]
)
def test_a_default_is_an_allowed_value_in_its_canonical_form(key: str, option: Option) -> None:
    assert option.canonical(key, option.default or "") == option.default


@pytest.mark.parametrize(("key", "option"), every_option())
def test_canonical_values_stay_as_they_are(key: str, option: Option) -> None:
    for value in option.values or ("1",):
        once = option.canonical(key, value)
        assert option.canonical(key, once) == once


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", "0"), ("false", "0"), ("Off", "0"), ("1", "1"), ("TRUE", "1"), ("on", "1")],
)
def test_switch(text: str, value: str) -> None:
    assert Option(kind="switch").canonical("k", text) == value


@pytest.mark.parametrize("text", ["", "2", "yes", "01", " 1"])
def test_no_switch(text: str) -> None:
    with pytest.raises(UsageError, match="neither 0 nor 1"):
        Option(kind="switch").canonical("k", text)


def test_no_key_has_two_meanings() -> None:
    for family, own in PROVIDER.items():
        assert not {*ANY_BACKEND, *SESSION} & {*own}, family
