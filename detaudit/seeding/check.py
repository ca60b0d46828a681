"""What counts as a seed."""

from __future__ import annotations

import operator

import numpy as np

LARGEST_SEED = 2**32 - 1  # the limit of NumPy's global generator, the narrowest of all


class SeedError(ValueError):
    """The seed is none that every generator can take.

    Examples:
        >>> raise SeedError("seed: expected an integer, got 1.5")
        Traceback (most recent call last):
        ...
        detaudit.seeding.check.SeedError: seed: expected an integer, got 1.5

    """


def check_seed(seed: object) -> int:
    """Seed as a plain integer.

    Args:
        seed: Python or NumPy integer in 0..2^32-1.

    Returns:
        The same value as ``int``.

    Raises:
        SeedError: If ``seed`` is a bool, a float, a string or anything else but an integer,
            is negative, or exceeds 2^32-1.

    Examples:
        >>> import numpy as np
        >>> check_seed(np.int64(3))
        3

    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise SeedError(f"seed: expected an integer in 0..{LARGEST_SEED}, got {seed!r}")
    try:
        value = operator.index(seed)
    except TypeError:  # numpy.timedelta64 counts as a NumPy integer, yet is none
        raise SeedError(f"seed: expected an integer in 0..{LARGEST_SEED}, got {seed!r}") from None
    if not 0 <= value <= LARGEST_SEED:
        raise SeedError(f"seed: expected an integer in 0..{LARGEST_SEED}, got {value}")
    return value
