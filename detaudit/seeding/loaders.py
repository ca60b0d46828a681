"""Seeds for the workers of torch's DataLoader."""

from __future__ import annotations

import importlib
import random
from typing import Any

import numpy as np

from .check import LARGEST_SEED, check_seed


def worker_init_fn(worker_id: int) -> None:
    """Seed NumPy and ``random`` in a worker from the seed that torch gave it.

    Torch gives every worker a seed of its own in every epoch, drawn from the loader's generator:
    where that is seeded, a repeated run repeats them all. Workers that persist are seeded once and
    go on from there. Without workers there is nothing to seed, and a loader does not call it.

    Args:
        worker_id: Number of the worker, which torch's seed of it accounts for.

    Examples:
        >>> from torch.utils.data import DataLoader
        >>> loader = DataLoader(
        ...     range(8),
        ...     shuffle=True,
        ...     num_workers=2,
        ...     worker_init_fn=worker_init_fn,
        ...     generator=loader_generator(3),
        ... )

    """
    torch = importlib.import_module("torch")
    # Torch's seeds have 64 bits. Those of the workers follow each other, so that the lower ones
    # differ.
    seed = int(torch.initial_seed()) % (LARGEST_SEED + 1)
    random.seed(seed)
    np.random.seed(seed)


def loader_generator(seed: int) -> Any:
    """Seeded generator for a DataLoader: it orders the samples and seeds the workers.

    With it, neither depends on what else was drawn from torch's global generator.

    Args:
        seed: Python or NumPy integer in 0..2^32-1.

    Returns:
        A ``torch.Generator`` on the CPU.

    Raises:
        SeedError: If the seed is no integer in that range.
        ImportError: If torch cannot be imported.

    Examples:
        >>> loader_generator(3).initial_seed()
        3

    """
    value = check_seed(seed)
    return importlib.import_module("torch").Generator().manual_seed(value)
