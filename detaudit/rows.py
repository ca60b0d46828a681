"""Rows of the tables that measurements make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Repeatability:
    """Whether the same input gave the same output again, within one scope.

    Attributes:
        target: name of the target
        output: path of the output
        scope: run, session or process
        comparisons: independent comparisons that the bound rests on
        units: runs, sessions or processes in a group, at most
        distinct: distinct outcomes in the group that had most
        identical: whether every group had the same bits, None where nothing was compared
        same_values: whether they differed at most in signs of zero or NaN payloads, None likewise
        modal_share: smallest share of the most frequent outcome in a group
        instability_upper_bound: largest probability that one more unit differs, at the confidence,
            None where something differed or nothing was compared
        confidence: of the bound
        max_abs: largest difference between any two results, None where they have none
        mean_abs: mean difference from the first result of the group
        max_ulp: largest difference in units in the last place, None for integers and text
        changed_share: share of elements that differ between any two results of a group, None where
            nothing was compared or the shapes differ
        first_run_differs: whether the first differs from all others, which are equal
        nan_pattern_changed: whether NaN or infinity came or went
        structural: change of shape, type or length in words

    """

    target: str
    output: str
    scope: str
    comparisons: int
    units: int
    distinct: int
    identical: bool | None
    same_values: bool | None
    modal_share: float
    instability_upper_bound: float | None
    confidence: float
    max_abs: float | None
    mean_abs: float | None
    max_ulp: int | None
    changed_share: float | None
    first_run_differs: bool
    nan_pattern_changed: bool
    structural: str | None


@dataclass(frozen=True, slots=True)
class Worst:
    """Where two results differ most.

    Attributes:
        sample: number of the sample
        index: place in the output
        value: value of the target
        reference_value: value of the reference

    """

    sample: int
    index: tuple[int, ...]
    value: Any
    reference_value: Any


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far a target lies from the reference.

    Attributes:
        target: name of the target
        reference: name of the reference
        output: path of the output
        label: name of the value, None for the whole output
        identical: whether all results have the bits of the reference
        same_values: whether they differ at most in the sign of zero or a NaN's payload
        elements: compared elements
        finite: elements that are finite on both sides, which the figures are over
        max_abs: largest absolute difference
        mean_abs: mean absolute difference
        mean_signed: mean of target minus reference
        p50: median absolute difference
        p90: 90th percentile
        p99: 99th percentile
        rel_norm: largest difference over largest absolute value of the reference
        bits_kept: significant bits that agree, None when nothing differs
        max_ulp: largest difference in units in the last place of the output's type
        changed_share: share of elements that differ, None where they cannot be compared
        nan_pattern_changed: whether NaN or infinity came or went
        structural: difference of shape, type or structure in words
        worst: place of the largest difference
        explanation: which causes have this size, in words

    """

    target: str
    reference: str
    output: str
    label: str | None
    identical: bool
    same_values: bool
    elements: int
    finite: int
    max_abs: float | None
    mean_abs: float | None
    mean_signed: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    rel_norm: float | None
    bits_kept: float | None
    max_ulp: int | None
    changed_share: float | None
    nan_pattern_changed: bool
    structural: str | None
    worst: Worst | None
    explanation: str | None


@dataclass(frozen=True, slots=True)
class Rounding:
    """How many printed values change at a number of decimals.

    Attributes:
        target: name of the target
        reference: name of the reference; the target's own name for its runs among themselves
        output: path of the output
        decimals: number of decimals
        values: printed values; what is NaN or infinite and stays so is left out
        changed: values that print differently in any two results
        changed_upper_bound: largest share of changed values, at the confidence
        expected_share: share that would change for values not tried
        at_risk_share: share that the largest difference could move over a rounding boundary

    """

    target: str
    reference: str
    output: str
    decimals: int
    values: int
    changed: int
    changed_upper_bound: float
    expected_share: float
    at_risk_share: float


@dataclass(frozen=True, slots=True)
class Decimals:
    """How many decimals may be published.

    Attributes:
        target: name of the target
        reference: name of the reference; the target's own name for its runs among themselves
        output: path of the output
        label: name of the value, None for the whole output
        agree: decimals to which any two results agree within half a unit, None for no limit seen
        safe_1pct: decimals at which at most 1 % of printed values changes
        safe_01pct: decimals at which at most 0.1 % changes
        resolution: decimals that the type can hold at the largest value, None for non-floats

    """

    target: str
    reference: str
    output: str
    label: str | None
    agree: int | None
    safe_1pct: int | None
    safe_01pct: int | None
    resolution: int | None


@dataclass(frozen=True, slots=True)
class Classes:
    """How often the predicted class changes.

    Attributes:
        target: name of the target
        reference: name of the reference; the target's own name for its runs among themselves
        output: path of the output
        samples: decisions compared: one per item, or step of a sequence, and distinct result
        flips: decisions that differ, those lost to NaN among them
        flip_upper_bound: largest share of inputs with a flip, at the confidence; None where
            nothing was decided or not all results were kept
        expected_flip_share: share expected for inputs not tried, None without a basis
        extrapolated: whether fewer than 10 margins lie near zero
        min_margin: smallest distance between the two largest scores
        max_margin_shift: largest change of such a distance
        at_risk: decisions whose margin is not clear of the changes seen
        ties: decisions between two equal largest scores
        no_class: decisions with NaN among the scores

    """

    target: str
    reference: str
    output: str
    samples: int
    flips: int
    flip_upper_bound: float | None
    expected_flip_share: float | None
    extrapolated: bool
    min_margin: float | None
    max_margin_shift: float | None
    at_risk: int
    ties: int
    no_class: int


@dataclass(frozen=True, slots=True)
class Latency:
    """How long calls took.

    Attributes:
        target: name of the target
        calls: number of calls
        session_seconds: median time to create a session
        first_seconds: median time of the first call in a session
        median_seconds: median time of the later calls
        p90_seconds: 90th percentile of the later calls

    """

    target: str
    calls: int
    session_seconds: float
    first_seconds: float
    median_seconds: float
    p90_seconds: float


@dataclass(frozen=True, slots=True)
class Value:
    """One printed value of one run, for outputs with few values.

    Attributes:
        target: name of the target
        output: path of the output
        label: name of the value
        sample: number of the sample
        process: number of the process
        session: number of the session in the process
        run: number of the run in the session
        value: the value

    """

    target: str
    output: str
    label: str
    sample: int
    process: int
    session: int
    run: int
    value: float
