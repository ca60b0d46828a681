"""Which axis of an output has names, and which holds classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from detaudit.errors import UsageError
from detaudit.judge.matching import tells_structure
from detaudit.models.model import Model
from detaudit.record import OutputFacts
from detaudit.spec import JudgeSpec

_MOST_NUMBERS = 12


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of an output whose entries have names.

    Attributes:
        axis: the axis, counted from the end
        names: a name for each entry

    """

    axis: int
    names: tuple[str, ...]


def find_labels(output: OutputFacts, model: Model, judging: JudgeSpec) -> Axis | None:
    """Named axis of an output: as the user says, as its map has it, as the model's file has it.

    Args:
        output: the output
        model: the audited model
        judging: what the user says

    Returns:
        the axis, None where nothing names one, or no axis has as many entries as there are names

    """
    given = dict(judging.labels)
    names = given.get(output.path)
    if names is None and _has_one_value(model):
        names = given.get("")
    if names is not None:
        return _fit(output, names)
    if output.keys:
        return Axis(-1, output.keys)
    for labels in model.labels:
        exists = labels.output == output.path and -labels.axis <= len(output.shape)
        if exists and output.shape[labels.axis] == len(labels.names):
            many = len(labels.names) > _MOST_NUMBERS and _are_numbers(output.path, labels.names)
            return None if many else Axis(labels.axis, labels.names)
    return None


def find_class_axis(output: OutputFacts, model: Model, judging: JudgeSpec) -> int | None:
    """Axis that holds class scores.

    An output has classes when it is told so, else when it has labels or its operator or name
    says that it holds scores; values that a Sigmoid squashed one by one compete with no others.

    Args:
        output: the output
        model: the audited model
        judging: what the user says

    Returns:
        the axis counted from the end, None where the output has no classes

    """
    if judging.classes is not None:
        given = dict(judging.classes).get(output.path)
        rank = len(output.shape)
        if given is None or not -rank <= given < rank:
            return None
        return given if given < 0 else given - rank
    if not output.dtype.startswith("float") or not output.shape:
        return None
    labels = find_labels(output, model, judging)
    axis = labels.axis if labels else -1
    if output.path in model.squashed_outputs or output.shape[axis] < 2:
        return None
    named = labels is not None and not _are_numbers(output.path, labels.names)
    return axis if named or output.path in model.score_outputs else None


def check_names(outputs: tuple[OutputFacts, ...], model: Model, judging: JudgeSpec) -> None:
    """Raise a UsageError for labels or classes of an output or axis that does not exist.

    Args:
        outputs: outputs of a target that ran
        model: the audited model
        judging: what the user says

    """
    known = {output.path: output for output in outputs}
    values = (path for path in known if not tells_structure(path))
    only = next(values, "") if _has_one_value(model) else ""
    for name, names in judging.labels:
        output = known.get(name or only)
        if output is None:
            raise _unknown(name, known)
        if _fit(output, names) is None:
            raise UsageError(
                f"--labels: {len(names)} labels do not fit output '{output.path}',"
                f" whose shape is {output.shape}"
            )
    for name, axis in judging.classes or ():
        output = known.get(name)
        if output is None:
            raise _unknown(name, known)
        if not -len(output.shape) <= axis < len(output.shape):
            raise UsageError(
                f"--classes: output '{name}' of shape {output.shape} has no axis {axis}"
            )


def _has_one_value(model: Model) -> bool:
    """Whether a model has one output, lengths and presences aside, which torch tells too."""
    return sum(not tells_structure(info.name) for info in model.outputs) == 1


def _unknown(name: str, known: Mapping[str, OutputFacts]) -> UsageError:
    named = f"the model has no output '{name}'" if name else "labels of which output? write NAME=…"
    return UsageError(f"{named}; it has: {', '.join(known)}")


def _are_numbers(path: str, names: tuple[str, ...]) -> bool:
    """Whether labels are those that audonnx makes up, which only count."""
    return names in ((path,), tuple(f"{path}-{index}" for index in range(len(names))))


def _fit(output: OutputFacts, names: tuple[str, ...]) -> Axis | None:
    """Last axis that has as many entries as there are names."""
    for axis in range(-1, -len(output.shape) - 1, -1):
        if output.shape[axis] == len(names):
            return Axis(axis, names)
    return None
