"""Seeds, the states of random generators, and input streams that are the same everywhere.

Usable on its own by any training script: it needs the standard library and NumPy, and imports
torch or ONNX Runtime only when asked to.

Examples:
    >>> record = set_seeds(1)
    >>> record["seeded"]["numpy"]
    1
    >>> import random
    >>> before = get_seeds_state()
    >>> with isolated():
    ...     _ = random.random()
    >>> get_seeds_state() == before
    True
    >>> stream(1, "inputs/0/signal").normal(3).dtype
    dtype('float32')

"""

from __future__ import annotations

from .check import SeedError
from .events import Draw, Event
from .fingerprint import get_seeds_state
from .isolation import isolated
from .loaders import loader_generator, worker_init_fn
from .seeds import set_seeds
from .streams import Stream, stream
from .watching import Watch, watch

__all__ = [
    "Draw",
    "Event",
    "SeedError",
    "Stream",
    "Watch",
    "get_seeds_state",
    "isolated",
    "loader_generator",
    "set_seeds",
    "stream",
    "watch",
    "worker_init_fn",
]
