"""Interpreters of their own, and a CUDA that only pretends to be one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import detaudit
from detaudit.seeding import determinism, isolated
from detaudit.seeding.known import return_to_known

PACKAGE = Path(detaudit.__file__).parent
CUBLAS = determinism.CUBLAS


@pytest.fixture(autouse=True)
def contained(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave generators and modes as they were, and start without a seed that others have set."""
    monkeypatch.delenv(CUBLAS, raising=False)
    with isolated():
        return_to_known(frozenset())
        random.seed()
        if "torch" in sys.modules:
            sys.modules["torch"].seed()
        # NumPy's own remembers that it was seeded once.
        before = np.random.get_bit_generator()
        np.random.set_bit_generator(np.random.MT19937())
        yield
        np.random.set_bit_generator(before)


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make torch impossible to import."""
    monkeypatch.setitem(sys.modules, "torch", None)  # type: ignore[arg-type]


@pytest.fixture
def run_python() -> Callable[..., Any]:
    """Run code in a fresh interpreter; returns what it printed as JSON."""

    def run(code: str, *options: str, **variables: str) -> Any:
        environment = {key: os.environ[key] for key in os.environ if key != "PYTHONHASHSEED"}
        prologue = f"import sys, json; sys.path.insert(0, {str(PACKAGE.parent)!r})\n"
        done = subprocess.run(
            [sys.executable, *options, "-c", prologue + code],
            env={**environment, **variables},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        return json.loads(done.stdout)

    return run


@dataclass
class FakeCuda:
    """Two devices that are seeded, drawn from and initialised as torch.cuda's are."""

    initialized: bool = False
    count: int = 2
    waiting: int = 7
    states: list[tuple[int, int]] = field(default_factory=list)

    def initialize(self) -> None:
        self.initialized = True
        self.states = [(self.waiting, 0)] * self.count

    def draw(self, device: int) -> None:
        seed, offset = self.states[device]
        self.states[device] = (seed, offset + 4)

    def device_count(self) -> int:
        return self.count

    def is_initialized(self) -> bool:
        return self.initialized

    def manual_seed_all(self, seed: int) -> None:
        self.waiting = seed
        if self.initialized:
            self.states = [(seed, 0)] * self.count

    def get_rng_state(self, device: int) -> tuple[int, int]:
        assert self.initialized, "reading a state would initialise CUDA"
        return self.states[device]

    def set_rng_state(self, state: tuple[int, int], device: int) -> None:
        assert self.initialized, "setting a state would wait for CUDA"
        self.states[device] = state


@pytest.fixture
def fake_cuda(contained: None, monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    """Put a fake in the place of torch.cuda's functions."""
    import torch

    fake = FakeCuda()
    for name in (
        "device_count",
        "is_initialized",
        "manual_seed_all",
        "get_rng_state",
        "set_rng_state",
    ):
        monkeypatch.setattr(torch.cuda, name, getattr(fake, name))
    return fake
