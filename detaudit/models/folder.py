"""Finding the model in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from detaudit.errors import ModelError
from detaudit.models.content import SUPPORTED, one_line

_IGNORED = ("__MACOSX",)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model lies.

    Attributes:
        root: the audonnx folder, None for a plain ONNX file
        graph: the ONNX file; in an audonnx folder its description may name another
        unpacked: whether it was unpacked from an archive

    """

    root: Path | None
    graph: Path
    unpacked: bool = False


def find_model(folder: Path, shown: Path) -> Place:
    """Find the one model in a folder, or in one of the folders directly inside it.

    An audonnx folder is one that has ``model.yaml`` or ``model.onnx``.

    Args:
        folder: folder to look into
        shown: what the user named, for messages

    Returns:
        where the model lies

    Raises:
        ModelError: if there is none, or more than one

    """
    try:
        places = _places(folder)
        if not places:
            inner = sorted(path for path in folder.iterdir() if path.is_dir())
            places = [place for path in inner for place in _places(path)]
    except OSError as error:
        raise ModelError(f"{shown}: cannot be read: {error.strerror}") from None
    if not places:
        raise ModelError(
            f"{shown}: holds no model: neither model.yaml nor model.onnx nor another .onnx file; "
            f"{SUPPORTED}"
        )
    if len(places) > 1:
        found = ((place.root or place.graph).relative_to(folder) for place in places)
        names = ", ".join(one_line(path) for path in found)
        advice = "name one of them" if shown == folder else "unpack it and name one of them"
        raise ModelError(f"{shown}: holds several models: {names}; {advice}")
    return places[0]


def _places(folder: Path) -> list[Place]:
    """List the models that lie directly in a folder."""
    if folder.name in _IGNORED:
        return []
    graph = folder / "model.onnx"
    if graph.is_file() or (folder / "model.yaml").is_file():
        return [Place(folder, graph)]
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".onnx")
    return [Place(None, path) for path in files if path.is_file() and path.name[0] != "."]
