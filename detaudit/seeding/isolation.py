"""A stretch of code whose random draws leave no trace."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from . import determinism
from .generators import find_generators
from .known import list_known, return_to_known
from .seeds import set_seeds


@contextmanager
def isolated(
    seed: int | None = None,
    deterministic: bool | None = None,
    *,
    runtimes: bool = False,
    torch: bool | None = None,
) -> Iterator[dict[str, Any] | None]:
    """Context in which global generators may be drawn from and reseeded without consequences.

    On exit, also by an exception, every global generator is back in the state it had, and a
    deterministic mode that ``set_seeds`` switched inside is back as well. Contexts nest. The
    generators belong to the whole process, so draws of other threads are undone too. A device
    that is first initialised inside continues from torch's seed at entry, and a torch that is
    first imported inside gets a fresh seed. ONNX Runtime's default seed cannot be read, hence not
    be put back.

    Args:
        seed: Seed to start the block with, None to continue with the states at hand.
        deterministic: As in ``set_seeds``; None keeps the mode that is on.
        runtimes: As in ``set_seeds``.
        torch: As in ``set_seeds``.

    Yields:
        The record of ``set_seeds``, None without a seed.

    Raises:
        SeedError: If the seed is no integer in 0..2^32-1.
        TypeError: If an option is given without a seed.

    Examples:
        >>> import random
        >>> _ = set_seeds(1)
        >>> with isolated(2):
        ...     inside = random.random()
        >>> outside = random.random()
        >>> _ = set_seeds(1)
        >>> random.random() == outside
        True

    """
    if seed is None and (deterministic is not None or runtimes or torch is not None):
        raise TypeError("isolated: deterministic, runtimes and torch need a seed")
    mode = determinism.get_mode()
    had_torch = "torch" in sys.modules
    with ExitStack() as stack:
        stack.callback(_return_to_mode, mode)
        for generator in find_generators(sys.modules.get("torch")):
            stack.callback(generator.restore, generator.read())
        stack.callback(return_to_known, list_known())
        if not had_torch:
            stack.callback(_forget_torch_seed)
        if seed is None:
            yield None
        else:
            on = mode is not None if deterministic is None else deterministic
            yield set_seeds(seed, on, runtimes=runtimes, torch=torch)


def _return_to_mode(mode: determinism.Mode | None) -> None:
    determinism.return_to(mode, sys.modules.get("torch"))


def _forget_torch_seed() -> None:
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.seed()
