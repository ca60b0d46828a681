"""Records made by hand: what every call returned, told the way a worker tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from detaudit.capture.fold import Folding
from detaudit.models.backend import Backend
from detaudit.models.model import Model, TensorInfo
from detaudit.plain import to_plain
from detaudit.record import InputFacts, Record, TargetRecord
from detaudit.spec import AuditSpec, InputSpec, JudgeSpec
from detaudit.target import parse_target
from detaudit.traits import Traits
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


@dataclass(frozen=True)
class Facts:
    """What a target tells beside its outputs.

    Attributes:
        weights: digest of the weights by process and session, None where there is none
        traits: what torch tells of the model
        declared: type before it was widened, by path of the output
        effective: options in force
        placement: nodes per provider, or weights per device
        versions: of libraries
        model: the model that ran where it is not the audited one

    """

    weights: Callable[[int, int], str] | None = None
    traits: Traits = field(default_factory=Traits)
    declared: Mapping[str, str] = field(default_factory=dict)
    effective: Mapping[str, Any] = field(default_factory=lambda: {"threads": 1})
    placement: Mapping[str, int] = field(default_factory=lambda: {"CPUExecutionProvider": 3})
    versions: Mapping[str, str] = field(default_factory=lambda: {"onnxruntime": "1.2.3"})
    model: Model | None = None


_PLAIN = Facts()


def torch_facts(weights: str | Callable[[int, int], str] = "aa", **changes: Any) -> Facts:
    """What a target tells that torch runs, with one set of weights where a digest is given."""
    told: dict[str, Any] = {
        "weights": (lambda *_: weights) if isinstance(weights, str) else weights,
        "effective": {"threads": 1, "cpu_capability": "AVX512"},
        "placement": {"cpu": 3},
        "versions": {"torch": "2.13.0"},
    }
    return Facts(**{**told, **changes})


def always(value: Any, output: str = "y") -> Call:
    """Every call returns the same."""
    return lambda *_: {output: value}


def by_run(*values: Any, output: str = "y") -> Call:
    """The runs of every session return these values, the last one again and again."""
    return lambda _p, _s, _n, run: {output: values[min(run, len(values) - 1)]}


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def tell(call: Call, plan: Plan, *, thrifty: bool = True, facts: Facts = _PLAIN) -> Iterator[Told]:
    """Messages of all processes of a target.

    Args:
        call: what the model gives
        plan: how often
        thrifty: whether an array travels only once per new digest, as it does from a worker
        facts: what it tells beside its outputs

    """
    for process in range(plan.processes):
        yield (
            process,
            {
                "event": "hello",
                "pid": 1000 + process,
                "versions": facts.versions,
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
                    "effective": facts.effective,
                    "placement": facts.placement,
                    "weights": facts.weights(process, session) if facts.weights else None,
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
                                    "declared": facts.declared.get(leaf.path, ""),
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
        done: dict[str, Any] = {"event": "done", "state": {"numpy": f"state {process}"}}
        if process == 0 and facts.traits != Traits():
            done["traits"] = to_plain(facts.traits)
        yield process, done, []


def fold(
    call: Call,
    plan: Plan,
    arrays: MutableMapping[str, np.ndarray],
    *,
    number: int = 0,
    target: str = "cpu",
    backend: Backend = "ort",
    thrifty: bool = True,
    facts: Facts = _PLAIN,
) -> TargetRecord:
    folding = Folding(number, parse_target(target, backend), arrays)
    for told in tell(call, plan, thrifty=thrifty, facts=facts):
        folding.add(*told)
    return replace(folding.end("ok"), model=facts.model)


def make_model(*outputs: str, **facts: Any) -> Model:
    path = Path(facts.pop("path", "hand.onnx"))
    known: dict[str, Any] = {
        "format": "onnx",
        "sha256": "ab" * 32,
        "size": 12,
        "inputs": (TensorInfo("x", "float32", ("n", 3)),),
        **facts,
    }
    return Model(
        path=path,
        graph=path,
        root=None,
        outputs=tuple(TensorInfo(name, "float32", None) for name in outputs),
        **known,
    )


def make_torch_record(
    targets: Mapping[str, Call | str],
    plan: Plan | None = None,
    *,
    facts: Mapping[str, Facts] | None = None,
    **options: Any,
) -> Record:
    """Record of an audit of a torch factory; what no facts are given for has the same weights.

    Args:
        targets: as for :func:`make_record`
        plan: how often everything runs
        facts: what targets tell beside their outputs
        options: as for :func:`make_record`

    """
    told = {name: torch_facts() for name in targets} | dict(facts or {})
    outputs = options.pop("outputs", ("y",))
    model = options.pop("model", None) or make_model(*outputs, path="net.py:make", format="torch")
    return make_record(targets, plan, model=model, facts=told, **options)


def make_record(
    targets: Mapping[str, Call | str],
    plan: Plan | None = None,
    *,
    model: Model | None = None,
    facts: Mapping[str, Facts] | None = None,
    asked: Mapping[str, Any] | None = None,
    **judging: Any,
) -> Record:
    """Record of an audit.

    Args:
        targets: per target what its calls give, or the reason why it was unavailable
        plan: how often everything runs
        model: what is known of the model, whose library runs the targets
        facts: what targets tell beside their outputs
        asked: further options of the audit, such as ``seeded``
        judging: how to judge

    """
    plan = plan or Plan()
    arrays: dict[str, np.ndarray] = {}
    backend: Backend = model.backend if model else "ort"
    records = []
    for number, (name, call) in enumerate(targets.items()):
        if isinstance(call, str):
            records.append(
                TargetRecord(target=parse_target(name, backend), status="unavailable", reason=call)
            )
        else:
            told = (facts or {}).get(name, _PLAIN)
            records.append(
                fold(call, plan, arrays, number=number, target=name, backend=backend, facts=told)
            )
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
            **(asked or {}),
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
