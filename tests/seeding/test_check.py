from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.seeding import SeedError, get_seeds_state, isolated, set_seeds, stream
from detaudit.seeding.check import LARGEST_SEED, check_seed


class Level(enum.IntEnum):
    HIGH = 9


BAD = [
    True,
    False,
    np.True_,
    1.0,
    1.5,
    np.float32(1),
    float("nan"),
    "1",
    b"1",
    None,
    -1,
    np.int64(-1),
    2**32,
    np.uint64(2**32),
    2**64,
    np.timedelta64(3, "s"),
    np.array(3),
    np.array([3]),
    [3],
    1j,
]


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("seed", BAD, ids=repr)
def test_bad_seed_touches_nothing(seed: Any, deterministic: bool) -> None:
    before = get_seeds_state()
    with pytest.raises(SeedError, match=r"^seed: expected an integer in 0\.\.4294967295, got "):
        set_seeds(seed, deterministic=deterministic)
    assert get_seeds_state() == before


@pytest.mark.parametrize("seed", [seed for seed in BAD if seed is not None], ids=repr)
@pytest.mark.parametrize("call", [lambda seed: stream(seed, "a"), lambda s: enter(isolated(s))])
def test_bad_seed_is_the_same_error_everywhere(call: Callable[[Any], object], seed: Any) -> None:
    before = get_seeds_state()
    with pytest.raises(SeedError):
        call(seed)
    assert get_seeds_state() == before


def enter(context: Any) -> None:
    with context:
        pass


@pytest.mark.parametrize("kind", np.typecodes["AllInteger"])
def test_numpy_integers_are_seeds(kind: str) -> None:
    value = check_seed(np.dtype(kind).type(3))
    assert value == 3
    assert type(value) is int


@pytest.mark.parametrize(("seed", "value"), [(0, 0), (LARGEST_SEED, 2**32 - 1), (Level.HIGH, 9)])
def test_limits_are_included(seed: int, value: int) -> None:
    record = set_seeds(seed)
    assert record["seed"] == value
    assert type(record["seed"]) is int


@given(st.integers())
def test_range(seed: int) -> None:
    if 0 <= seed < 2**32:
        assert check_seed(seed) == seed
    else:
        with pytest.raises(SeedError, match=str(seed)):
            check_seed(seed)


def test_seed_error_is_a_value_error() -> None:
    assert issubclass(SeedError, ValueError)
