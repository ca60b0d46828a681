"""Rows and reports to vary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from detaudit.report import SECTIONS, Report, Verdict
from detaudit.rows import (
    Decimals,
    Deviation,
    Latency,
    Repeatability,
    Rounding,
)
from detaudit.spec import SCOPES
from detaudit.target_row import TargetRow

NO_LIMIT: dict[str, Any] = dict.fromkeys(("agree", "safe_1pct", "safe_01pct"))
FIGURES = ("max_abs", "mean_abs", "mean_signed", "p50", "p90", "p99", "rel_norm")
CPU = {"CPUExecutionProvider": 412}
CUDA = {"CUDAExecutionProvider": 398, "CPUExecutionProvider": 14}
SHA = "6bc4a7fd00112233445566778899aabbccddeeff00112233445566778899aabb"


def target(name: str, **changes: Any) -> TargetRow:
    row = TargetRow(
        name=name,
        kind="measured",
        status="ok",
        reason=None,
        is_reference=False,
        hardware="AMD EPYC 7763 64-Core Processor",
        runs=40,
        plan=(10, 2, 2),
        requested={},
        effective={},
        placement=CPU,
        versions={"python": "3.11.9", "numpy": "2.4.6", "onnxruntime": "1.32.0"},
    )
    return replace(row, **changes)


def missing(
    name: str, reason: str, status: str = "unavailable", requested: Any = None
) -> TargetRow:
    return target(
        name,
        status=status,
        reason=reason,
        hardware="",
        runs=0,
        placement={},
        versions={},
        requested=requested or {},
    )


def repeats(target: str, output: str, units: Any = (10, 2, 2), **changes: Any) -> list[Any]:
    """Three scopes of an output that always had the same bits, but for the changes."""
    rows = []
    for scope, n in zip(SCOPES, units, strict=True):
        row = Repeatability(
            target=target,
            output=output,
            scope=scope,
            comparisons=n - 1,
            units=n,
            distinct=1,
            identical=True,
            same_values=True,
            modal_share=1.0,
            instability_upper_bound=1 - 0.05 ** (1 / (n - 1)) if n > 1 else None,
            confidence=0.95,
            max_abs=0.0,
            mean_abs=0.0,
            max_ulp=0,
            changed_share=0.0,
            first_run_differs=False,
            nan_pattern_changed=False,
            structural=None,
        )
        rows.append(replace(row, **changes))
    return rows


def drifts(target: str, output: str, max_abs: float = 5.1e-5) -> list[Any]:
    """Three scopes of an output of which every run differs."""
    rows = repeats(
        target,
        output,
        identical=False,
        same_values=False,
        instability_upper_bound=None,
        max_abs=max_abs,
        mean_abs=max_abs / 3,
        max_ulp=860,
        changed_share=1.0,
    )
    return [replace(r, distinct=r.units, modal_share=1 / r.units) for r in rows]


def differs(target: str, output: str, size: float, **changes: Any) -> Deviation:
    row = Deviation(
        target=target,
        reference="cpu",
        output=output,
        label=None,
        identical=False,
        same_values=False,
        elements=3,
        finite=3,
        max_abs=size,
        mean_abs=size / 2,
        mean_signed=-size / 2,
        p50=size / 2,
        p90=size * 0.8,
        p99=size * 0.9,
        rel_norm=size / 0.7,
        bits_kept=12.6,
        max_ulp=round(size / 6e-8),
        changed_share=1.0,
        nan_pattern_changed=False,
        structural=None,
        worst=None,
        explanation=None,
    )
    return replace(row, **changes)


def equals(target: str, output: str, **changes: Any) -> Deviation:
    row = differs(target, output, 0.0, identical=True, same_values=True, bits_kept=None)
    return replace(row, mean_signed=0.0, changed_share=0.0, **changes)


def publish(target: str, output: str, reference: str = "cpu", **changes: Any) -> Decimals:
    row = Decimals(
        target, reference, output, None, agree=4, safe_1pct=2, safe_01pct=1, resolution=7
    )
    return replace(row, **changes)


def rounds(
    target: str, output: str, mean: float, values: int = 3, reference: str = "cpu"
) -> list[Rounding]:
    """Rounding to 0 to 7 decimals for results that lie ``mean`` apart on average."""
    rows = []
    for k in range(8):
        expected = min(mean * 10**k, 1.0)
        changed = round(values * expected)
        upper = 1 - 0.05 ** (1 / values) if changed == 0 else min(1.0, expected * 1.6)
        rows.append(
            Rounding(
                target, reference, output, k, values, changed, upper, expected, min(2 * expected, 1)
            )
        )
    return rows


def times(target: str, seconds: float) -> Latency:
    return Latency(target, 40, seconds * 20, seconds * 1.7, seconds, seconds * 1.08)


def make(targets: list[TargetRow], **sections: Any) -> Report:
    facts: dict[str, Any] = {
        "created": "2026-01-02T12:00:00Z",
        "detaudit": "0.1.0",
        "model": {
            "path": "w2v2-L-robust-12.zip",
            "format": "audonnx",
            "size": 661_000_000,
            "sha256": SHA,
            "inputs": [{"name": "signal", "dtype": "float32", "shape": [1, "time"]}],
            "outputs": [
                {"name": "hidden_states", "dtype": "float32", "shape": [1, 1024]},
                {"name": "logits", "dtype": "float32", "shape": [1, 3]},
            ],
            "random_ops": [],
        },
        "inputs": {
            "seed": 1,
            "samples": 1,
            "sha256": SHA[::-1],
            "source": "normal(0, 1)",
            "arrays": [
                {
                    "sample": 0,
                    "name": "signal",
                    "dtype": "float32",
                    "shape": [1, 16000],
                    "sha256": SHA,
                    "source": "normal(0, 1)",
                }
            ],
        },
        "seeding": {"parent": {"seed": 1}, "targets": {}},
        "environment": {"platform": "Linux-6.8-x86_64", "python": "3.11.9"},
        "interrupted": False,
        "verdict": Verdict(None, None, (), (), "No difference was seen."),
    }
    facts.update(sections)
    empty = {name: () for name in SECTIONS if name != "targets"}
    rows = {name: tuple(given) for name, given in {**empty, **sections}.items() if name in empty}
    return Report(**{**facts, **rows, "targets": tuple(targets)})
