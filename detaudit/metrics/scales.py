"""What size of a difference is normal?"""

from __future__ import annotations

from dataclasses import dataclass

from detaudit.metrics.ulp import PRECISION


@dataclass(frozen=True, slots=True)
class Scale:
    """Differences that others have seen in one kind of comparison of float32 outputs.

    Attributes:
        comparison: what was compared with what
        measure: what the figures are
        typical_low: lower end of what is typical, None where only an upper end is known
        typical_high: upper end of what is typical
        worst: worst case seen, None where none is reported
        source: citation key, or where it was measured

    """

    comparison: str
    measure: str
    typical_low: float | None
    typical_high: float
    worst: float | None
    source: str


_ABS = "max |difference|"

SCALES = (
    Scale("same GPU, fresh session, float32", _ABS, None, 2.4e-7, 8.6e-4, "schloegl2023"),
    Scale("CPU against CPU with another ISA, float32", _ABS, None, 1e-6, 3.4e-6, "schloegl2023"),
    Scale("CPU against GPU without TF32", _ABS, 1e-9, 4e-6, 3.6e-4, "schloegl2023"),
    Scale("CPU against A100, TF32 likely", _ABS, 5e-6, 2e-3, 2.2e-3, "schloegl2023"),
    Scale("TF32 on against off", "ratio of differences", 300, 740, None, "onnxruntime#19288"),
    Scale("index_add with atomics", "share changed", 0.002, 0.14, None, "shanmugavelu2024"),
    Scale("ONNX Runtime CPU, optimiser off against all, float32", _ABS, 1e-7, 3e-6, 3.4e-4, "own"),
    Scale("ONNX Runtime CPU, optimiser off against all, int8", _ABS, None, 3e-3, 0.19, "own"),
)
"""Reported and measured sizes; ``own`` was measured on the models of detaudit's own tests."""

MISMATCH = 0.5
"""Share of the largest value from which on a difference is a wrong result."""

USUAL = 64
"""Unit roundoffs: 3.8e-6 in float32, the upper end of what is typical of other kernels."""

SEEN = 6000
"""Unit roundoffs: 3.6e-4 in float32, the worst that other kernels of full precision have shown."""


def expect_reduction(length: int, dtype: str = "float32") -> tuple[float, float]:
    """How far one sum may move when its terms are added in another order [higham2019]_.

    Args:
        length: number of terms, at least 1
        dtype: float16, bfloat16, float32 or float64

    Returns:
        what is expected, ``sqrt(length)`` unit roundoffs, and the most, ``length`` of them; both
        relative to the sum of the terms' magnitudes

    Examples:
        >>> expected, most = expect_reduction(10_000)
        >>> round(expected, 8), round(most, 6)
        (5.96e-06, 0.000596)

    """
    unit = 2.0 ** -PRECISION[dtype]
    return length**0.5 * unit, length * unit


def explain(max_abs: float | None, rel_norm: float | None, dtype: str) -> str | None:
    """What the size of a difference suggests.

    Args:
        max_abs: largest difference, None where nothing finite was compared
        rel_norm: the same relative to the largest value of the reference; None where that is zero
            throughout
        dtype: type of the outputs

    Returns:
        suspects in words; None where the size is usual or the type is no float

    Examples:
        >>> explain(1e-6, 1e-6, "float32") is None
        True
        >>> explain(2e-3, 2e-3, "float32")
        'far above summation order: suspect TF32, half precision, another model or another input'

    """
    if not max_abs or dtype not in PRECISION:
        return None
    if rel_norm is None:
        return "the reference is zero throughout and the other output is not: a mismatch, not drift"
    units = rel_norm * 2.0 ** PRECISION[dtype]
    if rel_norm >= MISMATCH:
        return "relative error near 1 is a mismatch, not drift"
    if units <= USUAL:
        return None
    if units <= SEEN:
        return "above what is usual for another order of summation, within what has been seen"
    return f"far above summation order: suspect {_SUSPECTS[dtype]}, another model or another input"


_SUSPECTS = {
    "float16": "saturation, int8 arithmetic",
    "bfloat16": "saturation, int8 arithmetic",
    "float32": "TF32, half precision",
    "float64": "arithmetic in float32",
}
