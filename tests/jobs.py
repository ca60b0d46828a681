"""Jobs for a worker, as a capture would write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from detaudit.target import parse_target
from detaudit.worker.feeds import hash_bytes


def make_job(
    graph: Path,
    samples: Sequence[Mapping[str, np.ndarray]],
    *,
    outputs: Sequence[str] = ("y",),
    target: str = "cpu",
    folder: Path | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """Job on a graph.

    Args:
        graph: ONNX file
        samples: inputs by name, per sample
        outputs: names of the outputs to return
        target: where to run
        folder: where the inputs are written, beside the graph by default
        changes: other entries of the job

    """
    parsed = parse_target(target)
    entries = []
    for number, sample in enumerate(samples):
        files, digests = {}, {}
        for name, array in sample.items():
            path = (folder or graph.parent) / f"{number}-{len(files)}.npy"
            np.save(path, array)
            files[name], digests[name] = str(path), hash_bytes(array)
        entries.append({"files": files, "digests": digests})
    return {
        "graph": str(graph),
        "root": None,
        "transform": False,
        "threads": None,
        "outputs": list(outputs),
        "target": {
            "name": parsed.name,
            "provider": parsed.provider,
            "index": parsed.index,
            "session_options": parsed.session_options,
            "provider_options": parsed.provider_options,
        },
        "inputs": entries,
        "batch": None,
        "sampling_rate": None,
        "runs": 3,
        "sessions": 2,
        "seed": 1,
        "seed_runtime": False,
        "probe": True,
        **changes,
    }
