"""The models of an audit, opened and held to what is asked of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from detaudit.errors import ModelError, UsageError
from detaudit.models.backend import find_backend
from detaudit.models.model import Model
from detaudit.models.opening import open_model
from detaudit.requirement import parse_requirement
from detaudit.spec import AuditSpec


@dataclass(frozen=True, slots=True)
class Opened:
    """Models of an audit.

    Attributes:
        model: the audited one
        others: those that targets bring, by what they name, or why they cannot be opened

    """

    model: Model
    others: Mapping[str, Model | ModelError]

    @property
    def models(self) -> Iterator[Model]:
        """All that could be opened."""
        yield self.model
        yield from (other for other in self.others.values() if isinstance(other, Model))

    def other(self, text: str) -> Model:
        """Model that a target names; a ModelError where it could not be opened."""
        found = self.others[text]
        if isinstance(found, ModelError):
            raise found
        return found


def open_models(spec: AuditSpec, work: Path) -> Opened:
    """Open the audited model and those that targets bring.

    Args:
        spec: the audit
        work: empty folder for files that live as long as the audit

    Raises:
        UsageError: if the command cannot be meant as it stands
        ModelError: if the audited model cannot be opened

    """
    others: dict[str, Model | ModelError] = {}
    model = _open(spec, None, work / "model")
    for number, text in enumerate(dict.fromkeys(target.model for target in spec.targets)):
        if text is not None:
            try:
                others[text] = _open(spec, text, work / f"other-{number}")
            except ModelError as error:
                others[text] = error
    opened = Opened(model, others)
    _check_outputs(spec, model)
    _check_writes(spec, opened.models)
    return opened


def sign_parts(model: Model) -> list[tuple[int, int, int] | None]:
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


def _open(spec: AuditSpec, text: str | None, folder: Path) -> Model:
    """Open what targets name, the audited model for None."""
    folder.mkdir()
    backend = find_backend(text or spec.model)
    if backend == "torch":
        ours = [target for target in spec.targets if target.model == text]
        from detaudit.capture.describing import describe_torch, settle_inputs

        model = describe_torch(text or spec.model, spec, ours)
        # Another form of the model takes the inputs that the audited one has.
        return settle_inputs(model, spec.inputs) if text is None else model
    labels = dict(spec.judging.labels) if text is None else {}
    return open_model(
        text or spec.model, work=folder, trust=spec.trust, labels=labels.get("", labels) or None
    )


def _check_writes(spec: AuditSpec, models: Iterable[Model]) -> None:
    parts = {part.resolve() for model in models for part in model.parts}
    for path in spec.writes:
        if Path(path).resolve() in parts:
            raise UsageError(f"{path} is a part of the model, which must not be overwritten")


def _check_outputs(spec: AuditSpec, model: Model) -> None:
    if model.backend == "torch":
        return  # What it returns is known once it ran.
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
