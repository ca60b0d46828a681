"""The global generators of a process, one record per kind.

Every kind can be seeded, and all but ONNX Runtime's can be read and put back.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np


class Generator(Protocol):
    """A kind of global generator whose states can be read and put back.

    ``read`` returns one state per generator of the kind; ``restore`` takes what ``read`` returned.
    """

    @property
    def name(self) -> str:
        """Key of the kind in records and states."""

    def read(self) -> tuple[Any, ...]:
        """States, without drawing and without initialising a device."""

    def restore(self, states: tuple[Any, ...]) -> None:
        """Put states back that ``read`` returned."""


@dataclass(frozen=True, slots=True)
class PythonGenerator:
    """Generator behind the functions of Python's ``random``."""

    name: str = "python"

    def seed(self, seed: int) -> None:
        """Start anew from a seed."""
        random.seed(seed)

    def read(self) -> tuple[Any, ...]:
        """State, including the cached second value of ``random.gauss``."""
        return (random.getstate(),)

    def restore(self, states: tuple[Any, ...]) -> None:
        """Put the state back."""
        random.setstate(states[0])


@dataclass(frozen=True, slots=True)
class NumpyGenerator:
    """NumPy's global generator, whichever bit generator it holds."""

    name: str = "numpy"

    def seed(self, seed: int) -> None:
        """Start anew from a seed."""
        np.random.seed(seed)
        state = self.read()[0]
        if state["has_gauss"]:
            # NumPy drops the cached normal value only for its Mersenne twister.
            self.restore(({**state, "has_gauss": 0, "gauss": 0.0},))

    def read(self) -> tuple[Any, ...]:
        """State, including the cached second value of ``numpy.random.normal``."""
        return (np.random.get_state(legacy=False),)

    def restore(self, states: tuple[Any, ...]) -> None:
        """Put the state back."""
        np.random.set_state(states[0])


@dataclass(frozen=True, slots=True)
class TorchGenerator:
    """Torch's generator on the CPU; seeding it seeds the generators of every device too."""

    torch: ModuleType
    name: str = "torch"

    def seed(self, seed: int) -> None:
        """Start anew from a seed, on devices that are not initialised as soon as they are."""
        self.torch.manual_seed(seed)

    def read(self) -> tuple[Any, ...]:
        """State, a uint8 tensor."""
        return (self.torch.get_rng_state(),)

    def restore(self, states: tuple[Any, ...]) -> None:
        """Put the state back."""
        self.torch.set_rng_state(states[0])


@dataclass(frozen=True, slots=True)
class Pending:
    """State of a generator whose device is not initialised: torch's seed, waiting for it."""

    seed: int


@dataclass(frozen=True, slots=True)
class TorchDeviceGenerators:
    """Torch's generators on the devices of one kind, ``cuda`` or ``xpu``."""

    torch: ModuleType
    name: str

    def read(self) -> tuple[Any, ...]:
        """State per device; ``Pending`` as long as the kind is not initialised."""
        devices = getattr(self.torch, self.name)
        count = int(devices.device_count())
        if not devices.is_initialized():
            return (Pending(self.torch.initial_seed()),) * count
        return tuple(devices.get_rng_state(index) for index in range(count))

    def restore(self, states: tuple[Any, ...]) -> None:
        """Put the states back, or the seed that was waiting when they were read."""
        devices = getattr(self.torch, self.name)
        for index, state in enumerate(states):
            if isinstance(state, Pending):
                devices.manual_seed_all(state.seed)
                return
            devices.set_rng_state(state, index)


@dataclass(frozen=True, slots=True)
class TorchMpsGenerator:
    """Torch's generator on an Apple GPU."""

    torch: ModuleType
    name: str = "mps"

    def read(self) -> tuple[Any, ...]:
        """State, a uint8 tensor; nothing on other machines."""
        available = self.torch.backends.mps.is_available()
        return (self.torch.mps.get_rng_state(),) if available else ()

    def restore(self, states: tuple[Any, ...]) -> None:
        """Put the state back."""
        for state in states:
            self.torch.mps.set_rng_state(state)


@dataclass(frozen=True, slots=True)
class OnnxruntimeGenerator:
    """ONNX Runtime's default seed, for sessions created later; it cannot be read."""

    onnxruntime: ModuleType
    name: str = "onnxruntime"

    def seed(self, seed: int) -> None:
        """Start the random operators of later sessions from a seed."""
        self.onnxruntime.set_seed(seed)


DEVICE_KINDS = ("cuda", "mps", "xpu")


def find_generators(torch: ModuleType | None) -> tuple[Generator, ...]:
    """Generators of this process whose states can be read.

    Args:
        torch: The torch module, None to leave it out.

    """
    found: list[Generator] = [PythonGenerator(), NumpyGenerator()]
    if torch is not None:
        found += [TorchGenerator(torch), TorchDeviceGenerators(torch, "cuda")]
        if hasattr(torch, "mps"):
            found.append(TorchMpsGenerator(torch))
        if hasattr(torch, "xpu"):
            found.append(TorchDeviceGenerators(torch, "xpu"))
    return tuple(found)
