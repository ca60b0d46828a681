from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.seeding import SeedError, isolated, loader_generator, watch, worker_init_fn

pytestmark = pytest.mark.torch


class Draws:
    """Samples that are what a worker draws for them."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[int, int, int, int]:
        import torch

        drawn = int(torch.randint(2**62, ()))
        return index, random.getrandbits(62), int(np.random.randint(2**62)), drawn


def read(
    seed: int, workers: int, start: str | None, epochs: int = 2
) -> list[list[tuple[int, ...]]]:
    from torch.utils.data import DataLoader

    loader = DataLoader(
        Draws(),  # type: ignore[arg-type]
        batch_size=None,
        shuffle=True,
        num_workers=workers,
        multiprocessing_context=start,
        worker_init_fn=worker_init_fn,
        generator=loader_generator(seed),
    )
    return [list(loader) for _ in range(epochs)]


@pytest.mark.parametrize("workers", [1, 2])
# Spawned workers import torch, in seconds each.
@pytest.mark.parametrize(("start", "epochs"), [("fork", 2), ("spawn", 1)])
def test_workers_draw_the_same_again_and_differ_from_each_other(
    workers: int, start: str, epochs: int
) -> None:
    import torch

    with isolated(1, torch=True):
        first = read(3, workers, start, epochs)
    torch.rand(1)
    random.random()
    np.random.rand()
    with isolated(2, torch=True):
        again = read(3, workers, start, epochs)
    assert first == again
    samples = [sample for epoch in first for sample in epoch]
    for drawn in zip(*(sample[1:] for sample in samples), strict=True):
        assert len(set(drawn)) == len(samples)  # another number for each sample and epoch


def test_workers_of_another_seed_draw_something_else() -> None:
    first, other = (read(seed, 1, "fork", epochs=1) for seed in (3, 4))
    assert not {one[1] for one in first[0]} & {one[1] for one in other[0]}
    assert not {one[2] for one in first[0]} & {one[2] for one in other[0]}


def test_without_workers_the_order_is_that_of_the_generator() -> None:
    orders = [[sample[0] for sample in epoch] for epoch in read(3, 0, None, epochs=3)]
    assert orders == [[sample[0] for sample in epoch] for epoch in read(3, 0, None, epochs=3)]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert len({tuple(order) for order in orders}) > 1


def test_without_workers_nothing_is_seeded() -> None:
    with watch() as seen:
        read(3, 0, None, epochs=1)
    assert [event for event in seen.events if event.kind != "draw"] == []


@given(st.one_of(st.integers(-(2**63), 2**64 - 1), st.sampled_from([-1, 2**32, 2**64 - 1])))
def test_seed_of_a_worker_is_one_that_numpy_takes(seed: int) -> None:
    """J12: for every seed of torch, and another one for every worker."""
    import torch

    with isolated():
        states = []
        for worker in range(2):
            torch.manual_seed(min(seed, 2**64 - 2) + worker)
            worker_init_fn(worker)
            states.append((np.random.randint(2**62), random.getrandbits(62)))
            torch_seed = torch.initial_seed()
            assert states[-1] == draw_from(torch_seed % 2**32)
    # Negative seeds count from the other end of the range.
    if seed not in (-1, 2**64 - 1):
        assert len(set(states)) == 2


def draw_from(seed: int) -> tuple[int, int]:
    return np.random.RandomState(seed).randint(2**62), random.Random(seed).getrandbits(62)


@pytest.mark.parametrize("seed", [-1, 2**32, True, 1.5, None])
def test_a_loader_takes_the_seeds_that_everything_takes(seed: Any) -> None:
    with pytest.raises(SeedError):
        loader_generator(seed)


def test_a_loader_leaves_the_global_generator_alone() -> None:
    import torch

    with isolated(1, torch=True):
        expected = torch.rand(2)
    with isolated(1, torch=True):
        read(3, 0, None, epochs=0)
        assert loader_generator(np.uint32(3)).initial_seed() == 3
        assert torch.equal(torch.rand(2), expected)
