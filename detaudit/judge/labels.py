"""Which axis of an output has names, and which holds classes."""

from __future__ import annotations

from dataclasses import dataclass

from detaudit.models.model import Model
from detaudit.record import OutputFacts
from detaudit.spec import JudgeSpec


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
    if names is None and len(model.outputs) == 1:
        names = given.get("")
    if names is not None:
        return _fit(output, names)
    if output.keys:
        return Axis(-1, output.keys)
    for labels in model.labels:
        exists = labels.output == output.path and -labels.axis <= len(output.shape)
        if exists and output.shape[labels.axis] == len(labels.names):
            return Axis(labels.axis, labels.names)
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
    return axis if labels or output.path in model.score_outputs else None


def unknown_names(outputs: tuple[OutputFacts, ...], judging: JudgeSpec) -> list[str]:
    """Names of outputs that labels or classes are given for and that do not exist."""
    known = {output.path for output in outputs}
    named = [name for name, _ in (*judging.labels, *(judging.classes or ()))]
    return [name for name in named if name and name not in known]


def _fit(output: OutputFacts, names: tuple[str, ...]) -> Axis | None:
    """Last axis that has as many entries as there are names."""
    for axis in range(-1, -len(output.shape) - 1, -1):
        if output.shape[axis] == len(names):
            return Axis(axis, names)
    return None
