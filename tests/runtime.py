"""ONNX Runtime as the tests call it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime

LEVELS = onnxruntime.GraphOptimizationLevel


def make_session(
    path: Path, level: LEVELS = LEVELS.ORT_ENABLE_ALL, threads: int = 1
) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = level
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(path: Path, feeds: Mapping[str, np.ndarray], **options: object) -> list[object]:
    return make_session(path, **options).run(None, dict(feeds))


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def count_distinct(session: onnxruntime.InferenceSession, x: np.ndarray, runs: int = 6) -> int:
    return len({b"".join(y.tobytes() for y in session.run(None, {"x": x})) for _ in range(runs)})
