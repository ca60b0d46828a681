from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from detaudit.errors import UsageError
from detaudit.spec import AuditSpec, InputSpec, JudgeSpec
from detaudit.target import parse_targets

TARGETS = parse_targets("cpu,cpu[opt=off]")


def make(**changes: Any) -> AuditSpec:
    return AuditSpec(model="m.onnx", targets=TARGETS, **changes)


def test_defaults_are_those_of_the_command_line() -> None:
    spec = make()
    assert (spec.runs, spec.sessions, spec.processes, spec.inputs.seed) == (10, 2, 2, 1)
    assert spec.judging.decimals == (0, 7)
    assert spec.judging.confidence == 0.95


@pytest.mark.parametrize("name", ["runs", "sessions", "processes"])
@pytest.mark.parametrize("number", [0, -1])
def test_everything_runs_at_least_once(name: str, number: int) -> None:
    with pytest.raises(UsageError, match=f"--{name} {number} is less than 1"):
        make(**{name: number})
    assert getattr(make(**{name: 1}), name) == 1


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"samples": 0}, "--samples 0 is less than 1"),
        ({"seed": -1}, "--seed -1 is not within 0 to 4294967295"),
        ({"seed": 2**32}, "--seed 4294967296 is not within 0 to 4294967295"),
        ({"duration": 0.0}, "--duration 0.0 is not a positive length"),
        ({"duration": -1.0}, "--duration -1.0 is not a positive length"),
        ({"duration": float("nan")}, "--duration nan is not a positive length"),
        ({"duration": float("inf")}, "--duration inf is not a positive length"),
    ],
)
def test_inputs_out_of_range(inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make(inputs=InputSpec(**inputs))


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_every_seed_within_range(seed: int) -> None:
    assert make(inputs=InputSpec(seed=seed)).inputs.seed == seed


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_timeout_that_no_clock_can_wait_for(timeout: float) -> None:
    with pytest.raises(UsageError, match="--timeout"):
        make(timeout=timeout)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_confidence_out_of_range(confidence: float) -> None:
    with pytest.raises(UsageError, match=r"--confidence .* is not within 0.01 to 0.9999"):
        JudgeSpec(confidence=confidence)


@pytest.mark.parametrize("decimals", [(3, 2), (-1, 2), (0, 13)])
def test_decimals_out_of_range(decimals: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="is no range within 0 to 12"):
        JudgeSpec(decimals=decimals)


def test_how_to_judge_is_checked_when_it_changes_too() -> None:
    with pytest.raises(UsageError, match="--confidence"):
        dataclasses.replace(JudgeSpec(), confidence=2.0)


def test_the_reference_is_one_of_the_targets() -> None:
    assert make(judging=JudgeSpec(reference="cpu[opt=off]")).judging.reference == "cpu[opt=off]"
    with pytest.raises(
        UsageError, match=r"the reference cuda:0 is none of the targets: cpu, cpu\[opt=off\]"
    ):
        make(judging=JudgeSpec(reference="cuda:0"))
