"""The course of an audit: every target runs, one worker at a time."""

from __future__ import annotations

import dataclasses
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detaudit.capture.environment import describe_environment
from detaudit.capture.fold import Folding
from detaudit.capture.inputs import Inputs, make_inputs, write_inputs
from detaudit.capture.launch import Worker, launch
from detaudit.capture.spool import Spool
from detaudit.errors import ModelError, UsageError
from detaudit.models import open_model
from detaudit.models.model import Model
from detaudit.record import Record, TargetRecord
from detaudit.requirement import parse_requirement
from detaudit.seeding import isolated
from detaudit.spec import AuditSpec
from detaudit.target import Target
from detaudit.version import __version__

if TYPE_CHECKING:
    from detaudit.capture.capture import Progress

_EQUAL_SIZE = 16


def follow_course(spec: AuditSpec, first: Worker, work: Path, progress: Progress) -> Record:
    """Open the model, make the inputs, run every target.

    Args:
        spec: what to run
        first: worker for the first process of the first target
        work: empty folder for files that live as long as the audit
        progress: told after every call

    Returns:
        what happened

    Raises:
        UsageError: if the command cannot be meant as it stands
        ModelError: if the file is no valid or safe model

    """
    (work / "model").mkdir()
    given = dict(spec.judging.labels)
    model = open_model(
        spec.model, work=work / "model", trust=spec.trust, labels=given.get("", given) or None
    )
    _check_outputs(spec, model)
    _check_writes(spec, model)
    # Whoever calls this keeps the random numbers that were coming.
    with isolated(spec.inputs.seed) as seeding:
        assert seeding is not None
        audit = _Audit(spec, model, work, progress)
        targets = audit.run(first)
    return Record(
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        detaudit=__version__,
        spec=spec,
        # Paths inside the working folder mean nothing once it is gone.
        model=dataclasses.replace(model, graph=model.path, root=None, parts=()),
        inputs=audit.facts,
        inputs_sha256=audit.digest,
        environment=describe_environment(),
        seeding=seeding,
        targets=targets,
        interrupted=audit.interrupted,
        arrays=audit.spool,
        input_source=audit.inputs.source,
        notes=audit.inputs.notes,
    )


class _Audit:
    """The state of one audit while it runs."""

    def __init__(self, spec: AuditSpec, model: Model, work: Path, progress: Progress) -> None:
        self._spec = spec
        self._model = model
        self._work = work
        self._progress = progress
        self.interrupted = False
        self.spool = Spool()
        self._signature = _sign(model)
        self._use_inputs(make_inputs(model, spec.inputs))

    def run(self, first: Worker) -> tuple[TargetRecord, ...]:
        """Run all targets; the first process of the first target is already there."""
        records: list[TargetRecord] = []
        worker: Worker | None = first
        for number, target in enumerate(self._spec.targets):
            if self.interrupted:
                records.append(_ended(target, "skipped", "the audit was interrupted before"))
                continue
            record = self._run_target(number, target, worker)
            if _objects_to_sizes(record, self.inputs) and not any(r.outcomes for r in records):
                record = self._retry_with_equal_sizes(number, target, record)
            records.append(record)
            worker = None
        return tuple(records)

    def _use_inputs(self, inputs: Inputs) -> None:
        self.inputs = inputs
        folder = Path(tempfile.mkdtemp(prefix="inputs-", dir=self._work))
        self.facts, self.digest, self._files = write_inputs(inputs, folder)

    def _retry_with_equal_sizes(
        self, number: int, target: Target, failed: TargetRecord
    ) -> TargetRecord:
        """Open axes with other names may still have to agree; the first failure is the one told."""
        before, facts, digest, files = self.inputs, self.facts, self.digest, self._files
        self._use_inputs(make_inputs(self._model, self._spec.inputs, equal_sizes=_EQUAL_SIZE))
        record = self._run_target(number, target, None)
        if record.status == "ok":
            return record
        self.inputs, self.facts, self.digest, self._files = before, facts, digest, files
        return failed

    def _run_target(self, number: int, target: Target, worker: Worker | None) -> TargetRecord:
        batch = self._batch(target)
        if isinstance(batch, str):
            return _ended(target, "unavailable", batch)
        folding = Folding(number, target, self.spool)
        planned = (
            self._spec.processes * self._spec.sessions * self._spec.runs * self._spec.inputs.samples
        )
        try:
            return self._run_processes(target, worker, batch, folding, planned)
        except KeyboardInterrupt:
            self.interrupted = True
            why = f"interrupted after {folding.calls} of {planned} calls"
            return folding.end("failed", {"reason": why})

    def _run_processes(
        self,
        target: Target,
        worker: Worker | None,
        batch: dict[str, Any] | None,
        folding: Folding,
        planned: int,
    ) -> TargetRecord:
        self._progress(target.name, 0, planned)
        for process in range(self._spec.processes):
            job = self._job(target, batch, probe=process == 0)
            with worker or launch(target, self._spec.timeout) as live:
                for message, arrays in live.messages(job):
                    if message["event"] in ("failed", "unavailable"):
                        break
                    folding.add(process, message, arrays)
                    self._progress(target.name, folding.calls, planned)
                words = live.last_words()
            worker = None
            if _sign(self._model) != self._signature:
                why = "the file of the model changed during the audit"
                return folding.end("failed", {"reason": why})
            if message["event"] in ("failed", "unavailable"):
                return folding.end(message["event"], message, words)
        return folding.end("ok")

    def _job(self, target: Target, batch: dict[str, Any] | None, probe: bool) -> dict[str, Any]:
        model, spec = self._model, self._spec
        return {
            "graph": str(model.graph),
            "root": str(model.root) if model.root else None,
            "transform": model.transform,
            "threads": model.threads,
            "outputs": list(spec.outputs) or [output.name for output in model.outputs],
            "target": {
                "name": target.name,
                "provider": target.provider,
                "index": target.index,
                "session_options": target.session_options,
                "provider_options": target.provider_options,
            },
            "inputs": self._files,
            "batch": batch,
            "sampling_rate": self.inputs.sampling_rate,
            "runs": spec.runs,
            "sessions": spec.sessions,
            "seed": spec.inputs.seed,
            "seed_runtime": spec.seed_runtime,
            "probe": probe,
        }

    def _batch(self, target: Target) -> dict[str, Any] | str | None:
        """How samples are stacked for the target, or why they cannot be."""
        size = target.option("batch")
        if size is None:
            return None
        if not self.inputs.batch_axes:
            return "the model has a fixed batch size: none of its inputs has an open batch axis"
        return {
            "size": int(size),
            "axes": dict(self.inputs.batch_axes),
            "outputs": dict(self.inputs.batch_outputs),
        }


def _sign(model: Model) -> list[tuple[int, int, int] | None]:
    """What tells that a file of the model is another one, short of reading it again."""
    found: list[tuple[int, int, int] | None] = []
    for path in model.parts:
        try:
            status = path.stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return found


def _ended(target: Target, status: Any, reason: str) -> TargetRecord:
    return TargetRecord(target=target, status=status, reason=reason)


def _objects_to_sizes(record: TargetRecord, inputs: Inputs) -> bool:
    """Whether the very first call failed while sizes were ours to choose."""
    return record.status == "failed" and not record.outcomes and len(inputs.sizes) > 1


def _check_writes(spec: AuditSpec, model: Model) -> None:
    parts = {part.resolve() for part in model.parts}
    for path in spec.writes:
        if Path(path).resolve() in parts:
            raise UsageError(f"{path} is a part of the model, which must not be overwritten")


def _check_outputs(spec: AuditSpec, model: Model) -> None:
    known = [output.name for output in model.outputs]
    for name in spec.outputs:
        if name not in known:
            raise UsageError(f"the model has no output '{name}'; it has: {', '.join(known)}")
    for requirement in parse_requirement(spec.judging.requirement or "identical"):
        wanted = requirement.output
        # Parts of an output have names such as scores["cat"] or len(boxes).
        if wanted is not None and not any(name in wanted for name in known):
            raise UsageError(
                f"--require: the model has no output '{wanted}'; it has: {', '.join(known)}"
            )
    if not known:
        raise ModelError(f"{spec.model} has no output that could be compared")
