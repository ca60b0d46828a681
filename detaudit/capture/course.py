"""The course of an audit: every target runs, one worker at a time."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from detaudit.capture.environment import describe_environment
from detaudit.capture.fold import Folding
from detaudit.capture.inputs import Inputs, make_inputs, write_inputs
from detaudit.capture.job import Work, make_job
from detaudit.capture.launch import Worker, launch
from detaudit.capture.opened import Opened, open_models, sign_parts
from detaudit.capture.pairing import pair_inputs
from detaudit.capture.progress import Progress
from detaudit.capture.spool import Spool
from detaudit.errors import ModelError, UsageError
from detaudit.models.model import Model
from detaudit.record import Record, TargetRecord
from detaudit.seeding import isolated
from detaudit.spec import AuditSpec
from detaudit.target import Target
from detaudit.version import __version__

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
    opened = open_models(spec, work)
    # Whoever calls this keeps the random numbers that were coming.
    with isolated(spec.inputs.seed) as seeding:
        assert seeding is not None
        audit = _Audit(spec, opened, work, progress)
        targets = audit.run(first)
    return Record(
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        detaudit=__version__,
        spec=spec,
        # Paths inside the working folder mean nothing once it is gone.
        model=_detach(_complete(opened.model, targets)),
        inputs=audit.facts,
        inputs_sha256=audit.digest,
        environment=describe_environment(),
        seeding=seeding,
        targets=targets,
        interrupted=audit.interrupted,
        arrays=audit.spool,
        input_source=audit.inputs.source,
        notes=(*audit.inputs.notes, *audit.notes),
    )


def _complete(model: Model, targets: Sequence[TargetRecord]) -> Model:
    """Model with its outputs, which the code of a torch model alone does not tell."""
    ran = (record for record in targets if record.target.model is None and record.outputs)
    first = next(ran, None)
    if model.backend != "torch" or first is None:
        return model
    from detaudit.capture.describing import learn_outputs

    return learn_outputs(model, first)


def _detach(model: Model) -> Model:
    """Model without paths inside the working folder, which mean nothing once it is gone."""
    return dataclasses.replace(model, graph=model.path, root=None, parts=())


class _Audit:
    """The state of one audit while it runs."""

    def __init__(self, spec: AuditSpec, opened: Opened, work: Path, progress: Progress) -> None:
        self._spec = spec
        self._opened = opened
        self._work = work
        self._progress = progress
        self._model = opened.model
        self.interrupted = False
        self.notes: list[str] = []
        self.spool = Spool()
        self._signatures = {model.path: sign_parts(model) for model in opened.models}
        self._use_inputs(make_inputs(self._model, spec.inputs))

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
        try:
            work = self._prepare(target)
        except ModelError as error:
            return _ended(target, "unavailable", str(error))
        folding = Folding(number, target, self.spool)
        planned = (
            self._spec.processes * self._spec.sessions * self._spec.runs * self._spec.inputs.samples
        )
        try:
            record = self._run_processes(target, worker, work, folding, planned)
        except KeyboardInterrupt:
            self.interrupted = True
            why = f"interrupted after {folding.calls} of {planned} calls"
            record = folding.end("failed", {"reason": why})
        if target.model is None:
            return record
        return dataclasses.replace(record, model=_detach(work.model))

    def _prepare(self, target: Target) -> Work:
        """What the target works on; a ModelError where it cannot take the inputs."""
        batch, rate = self._batch(target), self.inputs.sampling_rate
        if target.model is None:
            return Work(self._model, self._files, batch, rate)
        model = self._opened.other(target.model)
        pairing = pair_inputs(self.inputs, model)
        if pairing.note:
            self.notes.append(f"{target.name}: {pairing.note}")
        files = [
            {what: pairing.rename(by_name) for what, by_name in sample.items()}
            for sample in self._files
        ]
        if batch is not None:
            batch["axes"] = pairing.rename(batch["axes"])
        return Work(model, files, batch, rate)

    def _run_processes(
        self,
        target: Target,
        worker: Worker | None,
        work: Work,
        folding: Folding,
        planned: int,
    ) -> TargetRecord:
        self._progress(target.name, 0, planned)
        for process in range(self._spec.processes):
            job = make_job(self._spec, target, work, probe=process == 0)
            with worker or launch(target, self._spec.timeout) as live:
                for message, arrays in live.messages(job):
                    if message["event"] in ("failed", "unavailable"):
                        break
                    folding.add(process, message, arrays)
                    self._progress(target.name, folding.calls, planned)
                words = live.last_words()
            worker = None
            if message.get("misuse"):
                raise UsageError(f"{work.model.path}: {message['reason']}")
            if sign_parts(work.model) != self._signatures[work.model.path]:
                why = "the file of the model changed during the audit"
                return folding.end("failed", {"reason": why})
            if message["event"] in ("failed", "unavailable"):
                return folding.end(message["event"], message, words)
        return folding.end("ok")

    def _batch(self, target: Target) -> dict[str, Any] | None:
        """How samples are stacked for the target."""
        size = target.option("batch")
        if size is None:
            return None
        if not self.inputs.batch_axes:
            told = {
                "ort": "the model has a fixed batch size",
                "torch": "nothing tells whether the model takes more at once",
            }[self._model.backend]
            raise ModelError(f"{told}: none of its inputs has an open batch axis")
        return {
            "size": int(size),
            "axes": dict(self.inputs.batch_axes),
            "outputs": dict(self.inputs.batch_outputs),
        }


def _ended(target: Target, status: Any, reason: str) -> TargetRecord:
    return TargetRecord(target=target, status=status, reason=reason)


def _objects_to_sizes(record: TargetRecord, inputs: Inputs) -> bool:
    """Whether the very first call failed while sizes were ours to choose."""
    return record.status == "failed" and not record.outcomes and len(inputs.sizes) > 1
