from __future__ import annotations

import os
import random

import pytest

from detaudit.seeding import isolated, set_seeds
from tests.seeding.conftest import CUBLAS

pytestmark = pytest.mark.usefixtures("without_torch")


def test_variable_is_set_when_unset_and_unset_again() -> None:
    record = set_seeds(1, deterministic=True)
    assert os.environ[CUBLAS] == ":4096:8"
    assert record["deterministic"] is True
    assert record["cublas_workspace"] == {
        "value": ":4096:8",
        "set_by": "set_seeds",
        "usual": True,
        "too_late": False,
    }
    assert record["flags"][CUBLAS] == ":4096:8"
    assert [note for note in record["notes"] if "torch was not switched" in note]
    record = set_seeds(1)
    assert CUBLAS not in os.environ
    assert record["cublas_workspace"] == {
        "value": None,
        "set_by": None,
        "usual": None,
        "too_late": False,
    }
    assert record["notes"] == []


@pytest.mark.parametrize("value", [":4096:8", ":16:8", ":0:0", "", ":4096:2:16:8", "nonsense"])
def test_variable_of_the_user_is_kept_and_flagged_when_unusual(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CUBLAS, value)
    usual = value in (":4096:8", ":16:8")
    record = set_seeds(1, deterministic=True)
    assert record["cublas_workspace"] == {
        "value": value,
        "set_by": "environment",
        "usual": usual,
        "too_late": False,
    }
    assert any("unusual" in note for note in record["notes"]) is not usual
    assert set_seeds(1)["notes"] == []
    assert os.environ[CUBLAS] == value


def test_switching_on_twice_is_switching_on_once() -> None:
    set_seeds(1, deterministic=True)
    record = set_seeds(2, deterministic=True)
    assert record["cublas_workspace"]["set_by"] == "set_seeds"
    set_seeds(1)
    assert CUBLAS not in os.environ


@pytest.mark.parametrize("value", [":16:8", None])
def test_variable_that_was_changed_since_stays(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_seeds(1, deterministic=True)
    if value is None:
        monkeypatch.delenv(CUBLAS)
    else:
        monkeypatch.setenv(CUBLAS, value)
    assert set_seeds(1)["notes"] == [f"{CUBLAS} was changed since and stays as it is"]
    assert os.environ.get(CUBLAS) == value


def test_isolated_leaves_the_mode_that_was_on() -> None:
    set_seeds(1, deterministic=True)
    with isolated(2) as record:
        assert record is not None
        assert record["deterministic"] is True
        set_seeds(3)
        assert CUBLAS not in os.environ
    assert os.environ[CUBLAS] == ":4096:8"
    set_seeds(1)
    assert CUBLAS not in os.environ


def test_isolated_leaves_the_mode_that_was_off() -> None:
    with pytest.raises(ZeroDivisionError), isolated(2, deterministic=True):
        assert os.environ[CUBLAS] == ":4096:8"
        random.random()
        _ = 1 / 0
    assert CUBLAS not in os.environ
