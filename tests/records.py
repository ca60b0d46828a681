"""Records made by hand: what every call returned, told the way a worker tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from detaudit.capture.fold import Folding
from detaudit.models.model import Model, TensorInfo
from detaudit.record import InputFacts, Record, TargetRecord
from detaudit.spec import AuditSpec, InputSpec, JudgeSpec
from detaudit.target import parse_target
from detaudit.worker.leaves import leaves

Call = Callable[[int, int, int, int], Mapping[str, Any]]
"""Outputs by name of the call with this process, session, sample and run."""

Told = tuple[int, dict[str, Any], list[np.ndarray]]


@dataclass(frozen=True)
class Plan:
    """How often everything runs."""

    runs: int = 4
    sessions: int = 2
    processes: int = 2
    samples: int = 1


def always(value: Any, output: str = "y") -> Call:
    """Every call returns the same."""
    return lambda *_: {output: value}


def by_run(*values: Any, output: str = "y") -> Call:
    """The runs of every session return these values, the last one again and again."""
    return lambda _p, _s, _n, run: {output: values[min(run, len(values) - 1)]}


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def tell(call: Call, plan: Plan, *, thrifty: bool = True) -> Iterator[Told]:
    """Messages of all processes of a target.

    Args:
        call: what the model gives
        plan: how often
        thrifty: whether an array travels only once per new digest, as it does from a worker

    """
    for process in range(plan.processes):
        yield (
            process,
            {
                "event": "hello",
                "pid": 1000 + process,
                "versions": {"onnxruntime": "1.2.3"},
                "runtime": {"providers": ["CPUExecutionProvider"]},
                "hardware": "Abacus 9000",
                "seeding": {"seed": 1},
            },
            [],
        )
        anchors: set[tuple[int, str, str]] = set()
        for session in range(plan.sessions):
            yield (
                process,
                {
                    "event": "session",
                    "session": session,
                    "seconds": 0.5 + session,
                    "effective": {"threads": 1},
                    "placement": {"CPUExecutionProvider": 3},
                },
                [],
            )
            for sample in range(plan.samples):
                sent: set[tuple[int, str, str]] = set()
                for run in range(plan.runs):
                    outputs, arrays = [], []
                    for name, value in call(process, session, sample, run).items():
                        for leaf in leaves(name, value):
                            known = (sample, leaf.path, leaf.digest())
                            payload = not thrifty or known not in anchors | sent
                            if payload:
                                arrays.append(leaf.array)
                                sent.add(known)
                            if session == 0 and run == 0:
                                anchors.add(known)
                            outputs.append(
                                {
                                    "path": leaf.path,
                                    "digest": known[2],
                                    "keys": list(leaf.keys),
                                    "payload": payload,
                                }
                            )
                    yield (
                        process,
                        {
                            "event": "run",
                            "session": session,
                            "sample": sample,
                            "run": run,
                            "seconds": 0.25 if run == 0 else 0.125,
                            "outputs": outputs,
                        },
                        arrays,
                    )
        yield process, {"event": "done", "state": {"numpy": f"state {process}"}}, []


def fold(
    call: Call,
    plan: Plan,
    arrays: MutableMapping[str, np.ndarray],
    *,
    number: int = 0,
    target: str = "cpu",
    thrifty: bool = True,
) -> TargetRecord:
    folding = Folding(number, parse_target(target), arrays)
    for told in tell(call, plan, thrifty=thrifty):
        folding.add(*told)
    return folding.end("ok")


def make_model(*outputs: str, **facts: Any) -> Model:
    path = Path("hand.onnx")
    known: dict[str, Any] = {
        "sha256": "ab" * 32,
        "size": 12,
        "inputs": (TensorInfo("x", "float32", ("n", 3)),),
        **facts,
    }
    return Model(
        path=path,
        format="onnx",
        graph=path,
        root=None,
        outputs=tuple(TensorInfo(name, "float32", None) for name in outputs),
        **known,
    )


def make_record(
    targets: Mapping[str, Call | str],
    plan: Plan | None = None,
    *,
    model: Model | None = None,
    **judging: Any,
) -> Record:
    """Record of an audit.

    Args:
        targets: per target what its calls give, or the reason why it was unavailable
        plan: how often everything runs
        model: what is known of the model
        judging: how to judge

    """
    plan = plan or Plan()
    arrays: dict[str, np.ndarray] = {}
    records = []
    for number, (name, call) in enumerate(targets.items()):
        if isinstance(call, str):
            records.append(
                TargetRecord(target=parse_target(name), status="unavailable", reason=call)
            )
        else:
            records.append(fold(call, plan, arrays, number=number, target=name))
    outputs = dict.fromkeys(facts.path for record in records for facts in record.outputs)
    return Record(
        created="2026-01-02T03:04:05+00:00",
        detaudit="0.0.0",
        spec=AuditSpec(
            model="hand.onnx",
            targets=tuple(record.target for record in records),
            inputs=InputSpec(samples=plan.samples),
            runs=plan.runs,
            sessions=plan.sessions,
            processes=plan.processes,
            judging=JudgeSpec(**judging),
        ),
        model=model or make_model(*outputs),
        input_source="normal(0, 1)",
        inputs=tuple(
            InputFacts(sample, "x", "float32", (1, 3), "cd" * 32, "normal(0, 1)")
            for sample in range(plan.samples)
        ),
        inputs_sha256="ef" * 32,
        environment={"cpu": {"name": "Abacus 9000", "cores": 2, "flags": ["avx2"]}},
        seeding={"seed": 1},
        targets=tuple(records),
        arrays=arrays,
    )
