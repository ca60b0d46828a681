"""Jobs for a worker that drives torch, and its messages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from detaudit.worker import channel
from detaudit.worker.feeds import hash_bytes

ENTRY = Path(channel.__file__).parent / "__main__.py"

Message = tuple[dict[str, Any], list[np.ndarray]]


def make_recipe(reference: str | Path) -> dict[str, Any]:
    """Recipe of ``file.py:attribute`` or of a file of torch, told by its suffix."""
    text = str(reference)
    recipe: dict[str, Any] = dict.fromkeys(("file", "module", "attribute", "checkpoint"))
    if ":" not in text:
        kinds = {".pt2": "export", ".pt": "script", ".pkl": "pickle"}
        return {**recipe, "kind": kinds[Path(text).suffix], "file": text}
    place, _, rest = text.partition(":")
    attribute, _, checkpoint = rest.partition(":")
    key = "file" if place.endswith(".py") else "module"
    return {
        **recipe,
        "kind": "factory",
        key: place,
        "attribute": attribute,
        "checkpoint": checkpoint or None,
    }


def make_job(
    reference: str | Path,
    samples: Sequence[Mapping[str, np.ndarray]] = (),
    *,
    folder: Path | None = None,
    device: str = "cpu",
    options: Mapping[str, str] | None = None,
    call: Mapping[str, Any] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """Job on a model.

    Args:
        reference: what :func:`make_recipe` takes
        samples: inputs by name, per sample
        folder: where the inputs are written
        device: of the target
        options: of the target
        call: call tree; all inputs by keyword where it is left out
        changes: other entries of the job

    """
    entries = []
    for number, sample in enumerate(samples):
        assert folder is not None
        files, digests = {}, {}
        for name, array in sample.items():
            path = folder / f"{number}-{len(files)}.npy"
            np.save(path, array)
            files[name], digests[name] = str(path), hash_bytes(array)
        entries.append({"files": files, "digests": digests})
    names = [name for sample in samples[:1] for name in sample]
    return {
        "model": make_recipe(reference),
        "call": call or {"args": [], "kwargs": {name: {"input": name} for name in names}},
        "evaluate": False,
        "trust": False,
        "seeded": True,
        "seed": 1,
        "seed_runtime": False,
        "outputs": [],
        "target": {"name": device, "device": device, "options": dict(options or {})},
        "inputs": entries,
        "batch": None,
        "runs": 2,
        "sessions": 2,
        "probe": False,
        **changes,
    }


def talk(job: Mapping[str, Any], log: Path, **variables: str) -> list[Message]:
    """All messages of a worker.

    Args:
        job: what it is told to do
        log: file that its stderr is written to
        variables: of its environment, beside those of this process

    """
    import os

    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, str(ENTRY), "torch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, **variables},
        )
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({**job, "log": str(log)}).encode() + b"\n")
            process.stdin.flush()
            found = []
            while True:
                try:
                    found.append(channel.receive(process.stdout))
                except EOFError:
                    return found
        finally:
            process.kill()
            process.wait()


def last(messages: Sequence[Message]) -> dict[str, Any]:
    """Last message without its arrays."""
    return messages[-1][0]
