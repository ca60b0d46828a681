"""Models as audonnx keeps them: a folder with a graph and a description."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.builders.outputs import classifier

DESCRIPTION = """$audonnx.core.model.Model==1.0.1:
  path: model.onnx
  labels:
{labels}
  transform: null
"""


def audonnx_folder(folder: Path, labels: Sequence[str] = ("cat", "dog", "owl")) -> Path:
    """Build the folder of a `classifier` with labels and without a transform; returns it."""
    target = folder / "audonnx"
    graph = classifier(target, len(labels))
    graph.replace(target / "model.onnx")
    lines = "\n".join(f"  - {label}" for label in labels)
    (target / "model.yaml").write_text(DESCRIPTION.format(labels=lines), "utf-8")
    return target
