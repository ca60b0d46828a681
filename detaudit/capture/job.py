"""What a worker is told to do, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from detaudit.models.model import Model
from detaudit.spec import AuditSpec
from detaudit.target import Target


@dataclass(frozen=True, slots=True)
class Work:
    """What a target works on.

    Attributes:
        model: the model it runs
        files: per sample ``{"files": {name: path}, "digests": {name: sha256}}``
        batch: how samples are stacked, None where they run one by one
        sampling_rate: samples per second of a signal, None where there is none

    """

    model: Model
    files: Sequence[Mapping[str, Mapping[str, str]]]
    batch: Mapping[str, Any] | None
    sampling_rate: int | None


def make_job(spec: AuditSpec, target: Target, work: Work, *, probe: bool) -> dict[str, Any]:
    """Job of one process of a target.

    Args:
        spec: the audit
        target: where to run
        work: what to run
        probe: whether the process looks things up once all its runs are over

    """
    own = _torch_job if target.backend == "torch" else _ort_job
    # What another model calls its outputs, the user need not know.
    outputs = list(spec.outputs) if target.model is None else []
    return {
        "outputs": outputs,
        "inputs": work.files,
        "batch": work.batch,
        "runs": spec.runs,
        "sessions": spec.sessions,
        "seed": spec.inputs.seed,
        "seeded": spec.seeded,
        "seed_runtime": spec.seed_runtime,
        "probe": probe,
        **own(spec, target, work),
    }


def _ort_job(spec: AuditSpec, target: Target, work: Work) -> dict[str, Any]:
    model = work.model
    asked = spec.outputs if target.model is None else ()
    return {
        "graph": str(model.graph),
        "root": str(model.root) if model.root else None,
        "transform": model.transform,
        "threads": model.threads,
        "outputs": list(asked) or [output.name for output in model.outputs],
        "sampling_rate": work.sampling_rate,
        "target": {
            "name": target.name,
            "provider": target.provider,
            "index": target.index,
            "session_options": target.session_options,
            "provider_options": target.provider_options,
        },
    }


def _torch_job(spec: AuditSpec, target: Target, work: Work) -> dict[str, Any]:
    return {
        **work.model.recipe,
        "evaluate": spec.evaluate,
        "trust": spec.trust,
        "target": {"name": target.name, "device": target.device, "options": target.own_options},
    }
