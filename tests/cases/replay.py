"""Records of results that were saved somewhere, told as workers would tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from detaudit.capture.fold import Folding
from detaudit.capture.spool import Spool
from detaudit.judge.judge import judge
from detaudit.models.model import Model, TensorInfo
from detaudit.record import Record
from detaudit.report import Report
from detaudit.spec import AuditSpec, InputSpec, JudgeSpec
from detaudit.target import parse_target
from detaudit.worker.leaves import leaves

Calls = Sequence[Sequence[Sequence[Sequence[Any]]]]
"""Results by process, session, sample and run; each the outputs by name, or the output y."""


def in_one_session(*runs: Any) -> Calls:
    """Results of the runs of one session on one sample."""
    return [[[list(runs)]]]


def in_sessions(*sessions: Sequence[Any]) -> Calls:
    """Results of the runs of each session of one process on one sample."""
    return [[[list(runs)] for runs in sessions]]


def in_processes(*processes: Sequence[Any]) -> Calls:
    """Results of the runs of one session in each process on one sample."""
    return [[[list(runs)]] for runs in processes]


def on_samples(*samples: Any) -> Calls:
    """Results of one run on each sample."""
    return [[[[sample] for sample in samples]]]


def replay(
    targets: Mapping[str, Calls], facts: Mapping[str, Any] | None = None, **judging: Any
) -> Report:
    """Judge saved results.

    Args:
        targets: results by target; each has to hold as many as the others
        facts: what is known of the model
        judging: how to judge

    """
    return judge(make_record(targets, facts, **judging))


def make_record(
    targets: Mapping[str, Calls], facts: Mapping[str, Any] | None = None, **judging: Any
) -> Record:
    """Make the record that capturing these results would have given."""
    arrays = Spool()
    records = []
    for number, (name, calls) in enumerate(targets.items()):
        folding = Folding(number, parse_target(name), arrays)
        for process, sessions in enumerate(calls):
            for told, outputs in _tell(sessions):
                folding.add(process, told, outputs)
        records.append(folding.end("ok"))
    first = next(iter(targets.values()))
    spec = AuditSpec(
        model="saved.onnx",
        targets=tuple(record.target for record in records),
        inputs=InputSpec(samples=len(first[0][0])),
        runs=len(first[0][0][0]),
        sessions=len(first[0]),
        processes=len(first),
        judging=JudgeSpec(**judging),
    )
    return Record(
        created="2026-01-01T00:00:00+00:00",
        detaudit="0",
        spec=spec,
        model=_make_model(first[0][0][0][0], facts or {}),
        input_source="saved",
        inputs=(),
        inputs_sha256="0" * 64,
        environment={},
        seeding={},
        targets=tuple(records),
        arrays=arrays,
    )


def _make_model(outputs: Any, facts: Mapping[str, Any]) -> Model:
    path = Path("saved.onnx")
    infos = tuple(TensorInfo(name, "float32", None) for name in _name_outputs(outputs))
    known = {"format": "onnx", "root": None, "inputs": (), "outputs": infos, **facts}
    return Model(path=path, sha256="0" * 64, size=0, graph=path, **known)


def _name_outputs(outputs: Any) -> Mapping[str, Any]:
    return outputs if isinstance(outputs, dict) else {"y": outputs}


def _tell(sessions: Any) -> Iterator[tuple[dict[str, Any], list[np.ndarray]]]:
    """Messages of one process; as from a worker, an array travels once per new digest."""
    yield {"event": "hello", "seeding": {}}, []
    anchors: set[tuple[int, str, str]] = set()
    for session, samples in enumerate(sessions):
        yield {"event": "session", "seconds": 0.0, "effective": {}, "placement": None}, []
        for sample, runs in enumerate(samples):
            sent = set(anchors)
            for run, result in enumerate(runs):
                described, arrays = [], []
                for name, value in _name_outputs(result).items():
                    for leaf in leaves(name, value):
                        key = (sample, leaf.path, leaf.digest())
                        described.append(
                            {
                                "path": leaf.path,
                                "digest": key[2],
                                "keys": leaf.keys,
                                "payload": key not in sent,
                            }
                        )
                        if key not in sent:
                            arrays.append(leaf.array)
                            sent.add(key)
                        if session == run == 0:
                            anchors.add(key)
                yield (
                    {
                        "event": "run",
                        "session": session,
                        "sample": sample,
                        "run": run,
                        "seconds": 0.001,
                        "outputs": described,
                    },
                    arrays,
                )
    yield {"event": "done", "state": {}}, []
