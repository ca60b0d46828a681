"""How many decimals may be published?"""

from __future__ import annotations

import math

import numpy as np

from detaudit.metrics.ulp import PRECISION

_SLACK = 1e-9
"""Keeps logarithms of round numbers, such as that of 0.01 / 1e-6, from ending one short."""


def agree_decimals(
    max_abs: float, dtype: str = "float64", max_abs_value: float | None = None
) -> int | None:
    """Decimals to which any two results agree within half a unit.

    ``floor(-log10(2 * max_abs))``; two such results may still print differently.

    Args:
        max_abs: largest difference seen, not negative
        dtype: type of the values: a float type, bfloat16, or an integer type
        max_abs_value: largest magnitude of the values; decimals finer than the type's spacing there
            do not exist. None sets no such limit.

    Returns:
        decimals, negative where not even whole numbers agree; None where no limit was seen

    Examples:
        >>> agree_decimals(1e-6)
        5
        >>> agree_decimals(0.0) is None
        True
        >>> agree_decimals(1e-9, "float32", 640.0)
        4

    """
    return _cap(-math.log10(2 * max_abs), dtype, max_abs_value) if max_abs > 0 else None


def safe_decimals(
    mean_abs: float,
    share: float = 0.01,
    dtype: str = "float64",
    max_abs_value: float | None = None,
) -> int | None:
    """Decimals at which at most a share of printed values changes, on average.

    ``floor(log10(share / mean_abs))``, for values that lie evenly between rounding boundaries.

    Args:
        mean_abs: mean difference, not negative
        share: share of values that may change, above 0 and at most 1
        dtype: type of the values: a float type, bfloat16, or an integer type
        max_abs_value: largest magnitude of the values; decimals finer than the type's spacing there
            do not exist. None sets no such limit.

    Returns:
        decimals, negative where not even whole numbers are safe; None where no limit was seen

    Examples:
        >>> safe_decimals(1e-6, 0.01), safe_decimals(1e-6, 0.001)
        (4, 3)

    """
    if mean_abs <= 0:
        return None
    return _cap(math.log10(share) - math.log10(mean_abs), dtype, max_abs_value)


def count_existing_decimals(dtype: str, max_abs_value: float) -> int | None:
    """Decimals that the spacing of a type leaves at a magnitude.

    Args:
        dtype: float16, bfloat16, float32, float64, or an integer type
        max_abs_value: magnitude of the values, above 0

    Returns:
        decimals; 0 for integers, negative where neighbours lie more than 1 apart, None for a
        magnitude that is zero or no finite number of the type

    Examples:
        >>> count_existing_decimals("float32", 640.0)
        4

    """
    if dtype not in PRECISION:
        return 0
    carrier = np.dtype("float32" if dtype == "bfloat16" else dtype)
    with np.errstate(over="ignore"):
        value = float(np.abs(carrier.type(max_abs_value)))
    if not math.isfinite(value) or value == 0:
        return None
    # NumPy's own spacing overflows at the largest value.
    least = float(np.finfo(carrier).smallest_subnormal) * (2.0**16 if dtype == "bfloat16" else 1.0)
    spacing = max(2.0 ** (math.frexp(value)[1] - PRECISION[dtype]), least)
    return math.floor(-math.log10(spacing) + _SLACK)


def _cap(decimals: float, dtype: str, max_abs_value: float | None) -> int:
    known = [math.floor(decimals + _SLACK)]
    if max_abs_value is not None:
        existing = count_existing_decimals(dtype, max_abs_value)
        known += [] if existing is None else [existing]
    return min(known)
