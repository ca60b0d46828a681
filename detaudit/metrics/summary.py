"""What is told of the differences of two outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from detaudit.metrics.blocks import find_kind
from detaudit.metrics.exact import LARGEST
from detaudit.metrics.specials import SpecialCounts
from detaudit.metrics.tally import Tally, Worst
from detaudit.metrics.ulp import PRECISION, Grid, choose_grid


@dataclass(frozen=True, slots=True)
class DistanceSummary:
    """Differences ``d = other - reference`` of two outputs, in the outputs' own unit.

    Statistics of ``d`` run over the pairs of elements that are finite on both sides. They are None
    where no pair is left although something changed, and for booleans and strings, which only
    change.

    Attributes:
        elements: pairs of elements compared
        finite: pairs that are finite on both sides
        identical: whether all bits are the same
        same_values: whether nothing differs but signs of zeros and payloads of NaNs
        changed: pairs of different value, special values included; NaN equals NaN
        changed_share: share of ``elements`` that changed [shanmugavelu2024]_
        max_abs: largest ``|d|``, exact for integers; at most the largest float64
        mean_abs: mean of ``|d|``
        mean_signed: mean of ``d``
        p50: median of ``|d|``, as the other percentiles at most 1/16 of itself off
        p90: what 90 % of ``|d|`` do not exceed
        p99: what 99 % of ``|d|`` do not exceed
        rel_norm: ``max|d| / max|reference|``, None where the reference is zero throughout and ``d``
            is not
        mean_rel: mean of ``|d| / |reference|`` over references other than zero, for comparison with
            the literature only: it explodes near zero
        zeros_left_out: pairs left out of ``mean_rel``
        bits_kept: ``-log2(rel_norm)``, 0 to the type's precision; None for other than floats and
            where no finite pair differs
        max_ulp: largest distance in representable values of the type, the coarser one of two; None
            for other than floats
        nan_pattern_changed: whether a NaN or an infinity appeared, vanished or became another
        pattern_changed: pairs where it did
        reference_specials: counts of special values in the reference
        other_specials: counts of special values in the other output
        worst: where ``|d|`` is largest, else the first pair that changed without a finite ``d``
        max_reference_abs: largest finite ``|reference|``
        reference_dtype: type of the reference, None before the first update
        other_dtype: type of the other output, None before the first update

    """

    elements: int
    finite: int
    identical: bool
    same_values: bool
    changed: int
    changed_share: float
    max_abs: float | None
    mean_abs: float | None
    mean_signed: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    rel_norm: float | None
    mean_rel: float | None
    zeros_left_out: int
    bits_kept: float | None
    max_ulp: int | None
    nan_pattern_changed: bool
    pattern_changed: int
    reference_specials: SpecialCounts
    other_specials: SpecialCounts
    worst: Worst | None
    max_reference_abs: float | None
    reference_dtype: str | None
    other_dtype: str | None


def summarise(
    tally: Tally, reference: np.dtype[Any] | None, other: np.dtype[Any] | None, grid: Grid | None
) -> DistanceSummary:
    """Turn what was counted into what is told.

    Args:
        tally: what was counted
        reference: type of the reference, None when nothing was counted
        other: type of the other output, None when nothing was counted
        grid: where ULPs were counted, None for the coarser type

    """
    kind = find_kind(reference) if reference else "float"
    floats = kind in ("float", "complex")
    number = float if floats else int
    measured = kind not in ("boolean", "string") and (tally.finite > 0 or not tally.changed)
    relative = _find_relative(tally)
    nonzero = tally.finite - tally.left_out
    quantiles = [
        min(math.floor(value) if kind == "integer" else value, tally.max_abs)
        for value in map(tally.histogram.quantile, (0.5, 0.9, 0.99))
    ]
    return DistanceSummary(
        elements=tally.elements,
        finite=tally.finite,
        identical=tally.identical,
        same_values=not tally.changed,
        changed=tally.changed,
        changed_share=tally.changed / tally.elements if tally.elements else 0.0,
        max_abs=number(tally.max_abs) if measured else None,
        mean_abs=tally.absolute.mean(max(tally.finite, 1)) if measured else None,
        mean_signed=tally.signed.mean(max(tally.finite, 1)) if measured else None,
        p50=number(quantiles[0]) if measured else None,
        p90=number(quantiles[1]) if measured else None,
        p99=number(quantiles[2]) if measured else None,
        rel_norm=relative if measured else None,
        mean_rel=tally.relative.mean(max(nonzero, 1)) if measured else None,
        zeros_left_out=tally.left_out,
        bits_kept=_count_bits(tally, relative, _find_precision(reference, other, grid)),
        max_ulp=tally.max_ulp if measured and floats else None,
        nan_pattern_changed=tally.pattern_changed > 0,
        pattern_changed=tally.pattern_changed,
        reference_specials=tally.reference_specials,
        other_specials=tally.other_specials,
        worst=tally.largest or tally.first_odd,
        max_reference_abs=number(tally.max_reference) if measured else None,
        reference_dtype=_name(reference, grid),
        other_dtype=_name(other, grid),
    )


def _find_relative(tally: Tally) -> float | None:
    if not tally.max_abs:
        return 0.0
    if not tally.max_reference:
        return None
    return min(tally.max_abs / tally.max_reference, LARGEST)


def _find_precision(
    reference: np.dtype[Any] | None, other: np.dtype[Any] | None, grid: Grid | None
) -> int | None:
    if reference is None or other is None or reference.kind not in "fc":
        return None
    return PRECISION[grid or choose_grid(reference, other)]


def _count_bits(tally: Tally, relative: float | None, precision: int | None) -> float | None:
    if precision is None or not tally.max_abs:
        return None
    if relative is None:
        return 0.0
    return min(max(0.0, -math.log2(relative)), float(precision)) if relative else float(precision)


def _name(dtype: np.dtype[Any] | None, grid: Grid | None) -> str | None:
    if dtype is None:
        return None
    return "string" if find_kind(dtype) == "string" else grid or dtype.name
