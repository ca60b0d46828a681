"""ONNX Runtime as the library of a worker."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from detaudit.seeding import set_seeds
from detaudit.worker.backend import Live
from detaudit.worker.failures import Unavailable
from detaudit.worker.feeds import Batch, Feeds
from detaudit.worker.leaves import Leaf, leaves
from detaudit.worker.ort.install import describe_runtime
from detaudit.worker.ort.session import Runtime


def load() -> dict[str, Any]:
    """Load the library, before the job is known.

    Returns:
        what :func:`describe_runtime` tells

    Raises:
        ImportError: if it is missing

    """
    return describe_runtime(importlib.import_module("onnxruntime"))


def make(job: Mapping[str, Any], log: Path, described: dict[str, Any] | None) -> OrtBackend:
    """ONNX Runtime, set up for the target of a job.

    Args:
        job: what the parent sent
        log: file behind stderr
        described: what :func:`load` returned, None where it failed

    Raises:
        Unavailable: if the device or provider cannot be had here

    """
    try:
        return OrtBackend(job, Runtime(job, log, described))
    except ModuleNotFoundError as error:
        if error.name != "onnxruntime":
            raise
        raise Unavailable(f"{error}; install detaudit[cpu] or detaudit[gpu]") from None


class OrtBackend:
    """ONNX Runtime, set up for one target.

    Args:
        job: what the parent sent
        runtime: the set-up runtime of the target

    """

    def __init__(self, job: Mapping[str, Any], runtime: Runtime) -> None:
        self._job = job
        self._runtime = runtime
        self.described = self._runtime.described
        self.versions = {
            key: self.described[key] for key in ("onnxruntime", "package") if key in self.described
        }
        self.hardware = self._runtime.hardware

    def seed(self) -> dict[str, Any]:
        """Seed what Python code of the model may draw from, the runtime's own only if asked."""
        return set_seeds(self._job["seed"], runtimes=self._job["seed_runtime"])

    def open(self) -> OrtLive:
        """Fresh session of the model, proven to be the one that was asked for."""
        return OrtLive(self._job, self._runtime)

    def look_back(self, live: Live, values: Mapping[str, Any]) -> dict[str, Any]:
        """Placement where the session did not tell it, and the precision of OpenVINO."""
        found: dict[str, Any] = {}
        if self._job["transform"]:
            # Its session cannot be opened once more with a profile.
            self._runtime.check_known(live.placement)
        elif live.placement is None:
            with tempfile.TemporaryDirectory() as folder:
                placement = self._runtime.profile(self._job["graph"], values, Path(folder))
            found["placement"] = placement
            self._runtime.check_placed(placement)
        if self._runtime.provider == "OpenVINOExecutionProvider":
            found["precision"] = self._runtime.precision(self._job["graph"], values)
        return found


class OrtLive:
    """A session of ONNX Runtime, of audonnx's own loader where the model has a transform.

    Args:
        job: what the parent sent
        runtime: the set-up runtime of the target

    Raises:
        Unavailable: if the session is not the one that was asked for

    """

    weights = None

    def __init__(self, job: Mapping[str, Any], runtime: Runtime) -> None:
        self._batch = job["batch"]
        self._model = _open(job, runtime)
        session = self._model.session
        self.placement = runtime.placement(session)
        runtime.check_ran(session, self.placement)
        self.effective = runtime.effective(session)

    def run(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Outputs by name."""
        outputs: dict[str, Any] = self._model.run(values)
        return outputs

    def leaves(self, outputs: Mapping[str, Any], feeds: Feeds | Batch) -> Iterator[Leaf]:
        """Arrays of the audited sample."""
        for name, value in outputs.items():
            if isinstance(feeds, Batch):
                value = feeds.own_rows(value, self._batch["outputs"].get(name))
            yield from leaves(name, value)


def _open(job: Mapping[str, Any], runtime: Runtime) -> Any:
    if job["transform"]:
        from detaudit.worker.ort.transformed import TransformedModel

        return TransformedModel(job, runtime)
    return _PlainModel(job, runtime)


class _PlainModel:
    def __init__(self, job: Mapping[str, Any], runtime: Runtime) -> None:
        self.session = runtime.open(job["graph"])
        self._names = list(job["outputs"])

    def run(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return dict(zip(self._names, self.session.run(self._names, values), strict=True))
