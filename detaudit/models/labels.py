"""Names of output values: where they come from and which axis they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from detaudit.errors import UsageError
from detaudit.models.content import one_line
from detaudit.models.model import Dimension, Labels, TensorInfo

Given = str | Sequence[str] | Mapping[str, Sequence[str]]
"""Labels for the only output, or per output; as text: the name of a file, or names by commas."""


def assign_labels(
    outputs: Sequence[TensorInfo],
    given: Sequence[str] | Mapping[str, Sequence[str]] | None,
    inferred: Callable[[], Mapping[str, TensorInfo]],
    *,
    defaults: bool,
) -> tuple[Labels, ...]:
    """Give names to the values along the last axis of fixed size of each output.

    Args:
        outputs: outputs of the model
        given: labels for the only output, or per output; outputs that the model lacks are
            ignored, as audonnx does
        inferred: called for the outputs with inferred shapes when declared ones are open
        defaults: whether an output without labels gets audonnx's: ``<output>-<index>``, or
            the name of the output for a single value

    Returns:
        labels per output that has some

    Raises:
        ValueError: if their number is not the size of the axis, or they do not say for which
            of several outputs they are

    Examples:
        >>> outputs = [TensorInfo("gender", "float32", ("batch", 2))]
        >>> assign_labels(outputs, ["female", "male"], dict, defaults=True)
        (Labels(output='gender', names=('female', 'male'), axis=-1),)
        >>> assign_labels(outputs, None, dict, defaults=True)
        (Labels(output='gender', names=('gender-0', 'gender-1'), axis=-1),)

    """
    named = _per_output(outputs, given or {})
    if not named and not defaults:
        return ()
    open_axes = any(None in _sizes(output.shape) for output in outputs)
    known = inferred() if open_axes else {}
    found = []
    for output in outputs:
        names = named.get(output.name)
        axis, size = _label_axis(known.get(output.name, output).shape)
        if names is None and defaults and size:
            names = [output.name] if size == 1 else [f"{output.name}-{i}" for i in range(size)]
        if names is None:
            continue
        if size is not None and len(names) != size:
            raise ValueError(
                f"{len(names)} labels do not fit output '{one_line(output.name)}', "
                f"whose last axis of fixed size has {size} values"
            )
        found.append(Labels(output.name, tuple(str(name) for name in names), axis))
    return tuple(found)


def read_labels(given: Given) -> Sequence[str] | Mapping[str, Sequence[str]]:
    """Read labels that the user gives.

    Args:
        given: labels themselves; or as text either names divided by commas, or a file: YAML
            or JSON with a list, with lists per output, or with the ``id2label`` of a
            transformers configuration; else one name per line

    Returns:
        labels for the only output, or per output

    Raises:
        UsageError: if the file does not exist or holds no labels

    Examples:
        >>> read_labels("female,male")
        ['female', 'male']

    """
    if not isinstance(given, str):
        return given
    path = Path(given)
    try:
        is_file = path.is_file()
    except OSError:  # a long list is no name that a file can have
        is_file = False
    if is_file:
        return _read_file(path)
    if "," not in given and (path.suffix in (".yaml", ".yml", ".json", ".txt") or "/" in given):
        raise UsageError(f"labels: {given}: no such file")
    return [name.strip() for name in given.split(",")]


def _read_file(path: Path) -> Sequence[str] | Mapping[str, Sequence[str]]:
    """Read labels from a file."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8-sig")
        content: Any = [line.strip() for line in text.rstrip().splitlines()]
        if path.suffix in (".yaml", ".yml", ".json"):
            content = yaml.load(text, Loader=yaml.BaseLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError):
        raise UsageError(f"labels: {path}: cannot be read as text, YAML or JSON") from None
    if isinstance(content, dict) and isinstance(content.get("id2label"), dict):
        by_class = content["id2label"]
        content = [by_class[key] for key in sorted(by_class, key=lambda key: (len(key), key))]
    lists = content.values() if isinstance(content, dict) else [content]
    if not content or not all(_is_names(names) for names in lists):
        raise UsageError(f"labels: {path}: holds no list of names, nor lists per output")
    return content  # type: ignore[no-any-return]


def _per_output(
    outputs: Sequence[TensorInfo], given: Sequence[str] | Mapping[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Say for which outputs labels are."""
    if not isinstance(given, Mapping):
        if len(outputs) != 1:
            known = ", ".join(one_line(output.name) for output in outputs)
            raise ValueError(f"one list of labels, but several outputs: {known}; say for which")
        given = {outputs[0].name: given}
    for output, names in given.items():
        if not _is_names(names):
            raise ValueError(f"labels of output '{one_line(output)}' are no list of names")
    return dict(given)


def _is_names(names: object) -> bool:
    """Tell whether something is a list of plain names."""
    return isinstance(names, (list, tuple)) and not any(
        isinstance(name, (dict, list, tuple)) for name in names
    )


def _sizes(shape: tuple[Dimension, ...] | None) -> tuple[int | None, ...]:
    """Give the sizes of axes, None for open ones and for an undeclared rank."""
    if shape is None:
        return (None,)
    return tuple(size if isinstance(size, int) else None for size in shape)


def _label_axis(shape: tuple[Dimension, ...] | None) -> tuple[int, int | None]:
    """Find the last axis of fixed size, counted from the end, and its size.

    A scalar counts as an axis of one value. When no size is known, the last axis is meant.
    """
    sizes = _sizes(shape) or (1,)
    for axis in range(-1, -len(sizes) - 1, -1):
        if sizes[axis] is not None:
            return axis, sizes[axis]
    return -1, None
