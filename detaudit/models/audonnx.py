"""Reading an audonnx folder without running any code in it.

What is read means what it means to audonnx: a ``model.yaml`` whose first line begins with
``$audonnx`` describes the model; without one the folder has the legacy layout of ``model.onnx``
with optional ``labels.yaml`` and ``transform.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from detaudit.errors import ModelError
from detaudit.models.content import one_line
from detaudit.models.external import check_location
from detaudit.models.model import TensorInfo

THREADS = 1
"""Threads that audonnx gives a session unless told otherwise."""

_MARK = "$audonnx"
_MODEL_CLASS = re.compile(r"\$(?:[^:]*:)?audonnx(?:\.[a-z_]+)*\.Model(?:==.*)?")
_NULL = ("", "~", "null", "Null", "NULL")
_LARGEST = 2**20
"""Bytes of a description; the reader takes some ten seconds for as many."""


@dataclass(frozen=True, slots=True)
class Package:
    """What an audonnx folder says of its model.

    Attributes:
        graph: the ONNX file
        labels: names of output values, for the only output or per output; None without
        transforms: classes that turn the signal into an input, such as
            ``opensmile.core.smile.Smile``; their code runs when audonnx loads the model
        parts: files that were read, the ONNX file aside, per relative name

    """

    graph: Path
    labels: Any
    transforms: tuple[str, ...]
    parts: dict[str, Path]


def read_package(root: Path, shown: str) -> Package:
    """Read the description of a model in an audonnx folder.

    Args:
        root: the folder
        shown: how messages name it

    Returns:
        the description

    Raises:
        ModelError: if a file is missing or no valid description, or the model lies elsewhere

    """
    description = root / "model.yaml"
    if description.is_file() and _first_line(description, shown).startswith(_MARK):
        return _described(root, description, shown)
    graph = root / "model.onnx"
    if not graph.is_file():
        raise ModelError(
            f"{shown}: model.yaml does not begin with {_MARK}, "
            "and there is no model.onnx beside it, as the older layout has"
        )
    return _legacy(root, graph, shown)


def audonnx_shape(model_input: TensorInfo) -> tuple[int, ...]:
    """Give the shape that audonnx brings every array to before it feeds it.

    Args:
        model_input: input of the graph

    Returns:
        declared sizes, ``-1`` for open axes; NumPy's ``reshape`` takes at most one of these

    Examples:
        >>> audonnx_shape(TensorInfo("signal", "float32", (1, "time")))
        (1, -1)

    """
    return tuple(size if isinstance(size, int) else -1 for size in model_input.shape or ())


def _described(root: Path, description: Path, shown: str) -> Package:
    """Read the layout with a description."""
    content = _read_yaml(description, shown)
    if not isinstance(content, dict) or len(content) != 1:
        raise ModelError(f"{shown}: model.yaml describes no single object")
    (name, arguments), *_ = content.items()
    if not _MODEL_CLASS.fullmatch(str(name)):
        raise ModelError(f"{shown}: model.yaml describes {one_line(name)}, not an audonnx model")
    path = arguments.get("path") if isinstance(arguments, dict) else None
    if not isinstance(path, str) or path in _NULL:
        raise ModelError(f"{shown}: model.yaml names no ONNX file as its path")
    labels = arguments.get("labels")
    if list(_classes(labels)):
        raise ModelError(f"{shown}: model.yaml has an object instead of a list of labels")
    check_location(path, f"{shown}: the path in model.yaml")
    if not (root / path).is_file():
        raise ModelError(
            f"{shown}: the ONNX file '{one_line(path)}' that model.yaml names is missing"
        )
    return Package(
        root / path,
        None if isinstance(labels, str) and labels in _NULL else labels,
        _transforms(arguments.get("transform")),
        {"model.yaml": description},
    )


def _legacy(root: Path, graph: Path, shown: str) -> Package:
    """Read the layout without a description."""
    files = {name: root / name for name in ("labels.yaml", "transform.yaml")}
    parts = {name: path for name, path in files.items() if path.is_file()}
    content = {name: _read_yaml(path, shown) for name, path in parts.items()}
    transform = content.get("transform.yaml")
    return Package(graph, content.get("labels.yaml"), _transforms(transform), parts)


def _transforms(transform: Any) -> tuple[str, ...]:
    """Name the classes of a transform, or of one per input."""
    if transform is None or (isinstance(transform, str) and transform in _NULL):
        return ()
    if isinstance(transform, dict) and all(
        isinstance(value, str) and value in _NULL for value in transform.values()
    ):
        return ()
    return tuple(dict.fromkeys(_classes(transform))) or ("of an unknown class",)


def _classes(content: Any) -> Iterator[str]:
    """Name the classes of all objects in a description, without their versions."""
    pending, seen = [content], set()
    while pending:
        part = pending.pop()
        if id(part) in seen or not isinstance(part, (dict, list)):
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            for key in part:
                if isinstance(key, str) and key.startswith("$"):
                    yield one_line(key[1:].split("==")[0])
        pending.extend(part.values() if isinstance(part, dict) else part)


def _first_line(path: Path, shown: str) -> str:
    """Read the line that tells whose description this is."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline(_LARGEST)
    except OSError as error:
        raise ModelError(f"{shown}: {path.name} cannot be read: {error.strerror}") from None


def _read_yaml(path: Path, shown: str) -> Any:
    """Read a YAML file into dictionaries, lists and strings, and nothing else.

    The loader makes no object of any class, and leaves ``no`` or ``1.0`` the text it is.
    """
    import yaml

    try:
        if path.stat().st_size > _LARGEST:
            raise ModelError(f"{shown}: {path.name} is larger than {_LARGEST} bytes")
        return yaml.load(path.read_bytes(), Loader=yaml.BaseLoader)
    except OSError as error:
        raise ModelError(f"{shown}: {path.name} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark else ""
        raise ModelError(f"{shown}: {path.name} is no valid YAML{line}") from None
