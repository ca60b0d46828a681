from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.seeding import get_seeds_state, isolated, set_seeds

DRAWS: dict[str, list[Callable[[], object]]] = {
    "python": [
        random.random,
        lambda: random.gauss(0, 1),
        lambda: random.getrandbits(8),
        lambda: random.shuffle([1, 2, 3]),
    ],
    "numpy": [
        np.random.random,
        np.random.standard_normal,
        lambda: np.random.bytes(1),
        lambda: np.random.permutation(3),
    ],
}


def test_keys(without_torch: None) -> None:
    state = get_seeds_state()
    assert set(state) == {"python", "numpy", "torch", "cuda", "mps", "xpu", "flags"}
    assert state["torch"] is None
    assert state["cuda"] == state["mps"] == state["xpu"] == []
    assert set(state["flags"]) == {
        "CUBLAS_WORKSPACE_CONFIG",
        "NVIDIA_TF32_OVERRIDE",
        "PYTHONHASHSEED",
    }
    assert json.loads(json.dumps(state, allow_nan=False)) == state


def test_fingerprints_are_the_same_for_ever() -> None:
    set_seeds(1)
    state = get_seeds_state()
    assert state["python"] == "ea46509ec207822d"
    assert state["numpy"] == "60b4b2d6e4fc2eb5"


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 3), min_size=1, max_size=6))
@pytest.mark.parametrize("name", DRAWS)
def test_every_draw_moves_its_own_fingerprint_only(name: str, seed: int, chosen: list[int]) -> None:
    with isolated(seed):
        first = get_seeds_state()
        seen = {first[name]}
        for index in chosen:
            DRAWS[name][index]()
            state = get_seeds_state()
            assert state[name] not in seen
            seen.add(state[name])
            assert {**state, name: 0} == {**first, name: 0}
        random.seed(seed)
        np.random.seed(seed)
        assert get_seeds_state() == first


def test_reseed_moves_and_a_reseed_with_the_same_seed_returns() -> None:
    prints = []
    for seed in (1, 2, 1):
        set_seeds(seed)
        prints.append(get_seeds_state())
        random.random()
        np.random.random()
        assert get_seeds_state() != prints[-1]
    assert prints[0] == prints[2]
    assert prints[0]["python"] != prints[1]["python"]
    assert prints[0]["numpy"] != prints[1]["numpy"]


def test_cached_normals_count() -> None:
    set_seeds(1)
    random.gauss(0, 1)
    np.random.standard_normal()
    cached = get_seeds_state()
    random.setstate((*random.getstate()[:2], None))
    np.random.set_state({**np.random.get_state(legacy=False), "has_gauss": 0, "gauss": 0.0})
    dropped = get_seeds_state()
    assert cached["python"] != dropped["python"]
    assert cached["numpy"] != dropped["numpy"]


def test_reading_draws_nothing() -> None:
    set_seeds(1)
    get_seeds_state()
    assert random.random() == random.Random(1).random()
    assert np.random.random() == np.random.RandomState(1).random_sample()


def test_other_bit_generators_have_fingerprints_too() -> None:
    own = np.random.get_bit_generator()
    try:
        prints = {get_seeds_state()["numpy"]}
        for kind in (np.random.PCG64, np.random.Philox, np.random.SFC64):
            np.random.set_bit_generator(kind(1))
            prints.add(get_seeds_state()["numpy"])
            np.random.random()
            prints.add(get_seeds_state()["numpy"])
    finally:
        np.random.set_bit_generator(own)
    assert len(prints) == 7


SCRIPT = """
import random, numpy
from detaudit.seeding import get_seeds_state, set_seeds
set_seeds(3)
random.gauss(0, 1), numpy.random.standard_normal()
"""


def test_two_processes_in_the_same_state_agree(
    without_torch: None, run_python: Callable[..., Any]
) -> None:
    there = run_python(SCRIPT + "print(json.dumps(get_seeds_state()))")
    set_seeds(3)
    random.gauss(0, 1)
    np.random.standard_normal()
    here = get_seeds_state()
    assert {**there, "flags": 0} == {**here, "flags": 0}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_agrees_but_for_random_which_python_reseeds_there(
    run_python: Callable[..., Any],
) -> None:
    fork = """
import os
here = get_seeds_state()
reader, writer = os.pipe()
if os.fork() == 0:
    forked = get_seeds_state()
    numpy.random.random()
    os.write(writer, json.dumps([forked, get_seeds_state()]).encode())
    os._exit(0)
os.wait()
print(json.dumps([here, get_seeds_state(), *json.loads(os.read(reader, 10**6))]))
"""
    before, after, forked, drawn = run_python(SCRIPT + fork)
    assert before == after
    assert forked["python"] != before["python"]
    assert {**forked, "python": 0} == {**before, "python": 0}
    assert drawn["numpy"] != forked["numpy"]
