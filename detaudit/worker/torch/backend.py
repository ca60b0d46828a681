"""Torch as the library of a worker."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from detaudit.worker.backend import Live
from detaudit.worker.failures import Unavailable
from detaudit.worker.torch import settings
from detaudit.worker.torch.building import Builder, Built
from detaudit.worker.torch.install import (
    check_version,
    describe_install,
    find_device,
    list_versions,
)
from detaudit.worker.torch.live import TorchLive


def load() -> dict[str, Any]:
    """Load the library, before the job is known.

    Returns:
        what :func:`detaudit.worker.torch.install.describe_install` tells

    Raises:
        ImportError: if it is missing or its libraries cannot be loaded

    """
    try:
        return describe_install(importlib.import_module("torch"))
    except OSError as error:
        raise ImportError(str(error)) from error


def make(job: Mapping[str, Any], log: Path, described: dict[str, Any] | None) -> TorchBackend:
    """Torch, set up for the target of a job.

    Args:
        job: what the parent sent
        log: file behind stderr
        described: what :func:`load` returned, None where it failed

    Raises:
        Unavailable: if torch or the device cannot be had here

    """
    return TorchBackend(job, described or _load_again())


def describe(job: Mapping[str, Any]) -> dict[str, Any]:
    """Signature of the model of a job, which is built for that.

    Args:
        job: what the parent sent

    Returns:
        entries of the message ``described``

    Raises:
        Unavailable: if torch cannot be had here
        Misuse: if the command names what does not exist
        Failed: if the model cannot be built, or its inputs cannot be told

    """
    from detaudit.worker.torch.describing import describe_model

    backend = TorchBackend(job, _load_again())
    return describe_model(job, backend.build(), backend.builder)


def _load_again() -> dict[str, Any]:
    try:
        return load()
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        advice = "; install detaudit[torch]" if missing else ""
        raise Unavailable(f"torch cannot be used here: {error}{advice}") from None


class TorchBackend:
    """Torch, set up for one target.

    Args:
        job: what the parent sent
        described: what :func:`load` returned

    """

    def __init__(self, job: Mapping[str, Any], described: dict[str, Any]) -> None:
        import torch

        self._torch = torch
        self._job = job
        self._options: Mapping[str, str] = job["target"]["options"]
        check_version(torch)
        self.described = described
        self.versions = list_versions(torch)
        self.device = find_device(torch, job["target"]["device"])
        cuda = self.device.type == "cuda"
        self.hardware = torch.cuda.get_device_name(self.device) if cuda else ""
        settings.limit_threads(torch, self._options)
        settings.set_precision(torch, self._options)
        self.builder = Builder(job, self.device)
        self._first: Mapping[str, Any] = {}
        self._defaults: tuple[Any, ...] | None = None

    def seed(self) -> dict[str, Any]:
        """Seed all generators before any code of the user is imported, unless none is wanted."""
        return settings.seed(self._torch, self._job)

    def build(self) -> Built:
        """Fresh model, the same for every session and process where the job is seeded."""
        self.seed()
        self.builder.prepare()
        # Importing may draw or set defaults, and only the first session imports.
        self.seed()
        if self._defaults is None:
            self._defaults = self._torch.get_default_dtype(), self._torch.get_default_device()
        settings.put_back(self._torch, *self._defaults)
        return self.builder.build()

    def open(self) -> TorchLive:
        """Fresh model where the target asks for it."""
        built = self.build()
        # Code of the user may have set what the target asks for to something else.
        settings.set_precision(self._torch, self._options)
        if "threads" in self._options:
            self._torch.set_num_threads(int(self._options["threads"]))
        live = TorchLive(self._job, built, self.device, self.builder.code)
        self._first = self._first or live.effective
        return live

    def look_back(self, live: Live, values: Mapping[str, Any]) -> dict[str, Any]:
        """Traits of the model, seen in further calls."""
        from detaudit.worker.torch.probing import probe

        assert isinstance(live, TorchLive)
        live.notes += live.find_changes(self._first)
        return {"traits": probe(live, values, self._job["seed"])}
