"""Files of torch, whole and tampered with."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Evil:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch '{self.path}'",)


def export(folder: Path, model: Any, args: tuple[Any, ...], **options: Any) -> Path:
    """File of an exported program."""
    import torch

    file = folder / "m.pt2"
    # One process may export the code of a test a few times only.
    torch.compiler.reset()
    torch.export.save(torch.export.export(model, args, **options), file)
    return file


def rewrite(file: Path, change: Callable[[str, bytes], bytes]) -> None:
    """Replace the parts of an archive."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in parts.items():
            archive.writestr(name, change(name, data))


def pickle_inputs(file: Path, value: Any) -> None:
    """Put an object in the place of the example inputs of an exported program."""
    import torch

    stream = io.BytesIO()
    torch.save(value, stream)
    names = ("sample_inputs", "example_inputs")
    rewrite(file, lambda n, data: stream.getvalue() if any(s in n for s in names) else data)


def change_graph(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the graph of an exported program."""

    def apply(name: str, data: bytes) -> bytes:
        if not name.endswith(".json") or b"graph_module" not in data:
            return data
        program = json.loads(data)
        change(program["graph_module"]["graph"])
        return json.dumps(program).encode()

    rewrite(file, apply)


def add_part(file: Path, name: str, data: bytes) -> None:
    """Add a part to an archive, in the folder that it has for all."""
    with zipfile.ZipFile(file, "a") as archive:
        first = archive.namelist()[0]
        prefix = f"{first.partition('/')[0]}/" if "/" in first else ""
        archive.writestr(prefix + name, data)
