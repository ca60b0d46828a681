from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.seeding import get_seeds_state, isolated, set_seeds


def draw() -> None:
    random.gauss(0, 1)
    np.random.standard_normal()


def nest(seeds: list[int | None]) -> None:
    before = get_seeds_state()
    with isolated(*seeds[:1]) as record:
        assert (record is None) is (seeds[:1] in ([], [None]))
        if seeds:
            nest(seeds[1:])
        inside = get_seeds_state()
        draw()
        assert get_seeds_state() != inside
    assert get_seeds_state() == before


@given(st.lists(st.one_of(st.none(), st.integers(0, 2**32 - 1)), max_size=4))
def test_nested_blocks_leave_no_trace(seeds: list[int | None]) -> None:
    draw()
    nest(seeds)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_passes_and_leaves_no_trace(error: type[BaseException]) -> None:
    draw()
    before = get_seeds_state()
    with pytest.raises(error), isolated(1):
        draw()
        raise error
    assert get_seeds_state() == before


def test_a_seed_starts_the_block_as_set_seeds_does() -> None:
    with isolated(7) as record:
        inside = random.random(), np.random.random()
    assert record == set_seeds(7)
    assert inside == (random.random(), np.random.random())


def test_without_a_seed_the_states_go_on() -> None:
    set_seeds(7)
    with isolated():
        inside = random.random(), np.random.random()
    assert inside == (random.random(), np.random.random())


@pytest.mark.parametrize(
    "options", [{"deterministic": True}, {"deterministic": False}, {"runtimes": True}]
)
def test_options_need_a_seed(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="need a seed"), isolated(**options):
        pass


def test_a_generator_that_cannot_be_put_back_keeps_no_other_from_it() -> None:
    own = np.random.get_bit_generator()
    set_seeds(1)
    before = get_seeds_state()
    try:
        with pytest.raises(ValueError, match="PCG64"), isolated():
            random.random()
            np.random.set_bit_generator(np.random.PCG64(1))
        assert get_seeds_state()["python"] == before["python"]
    finally:
        np.random.set_bit_generator(own)
