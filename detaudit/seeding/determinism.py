"""Torch's deterministic mode, and the way back from it."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass, replace
from types import ModuleType
from typing import Any

CUBLAS = "CUBLAS_WORKSPACE_CONFIG"
CUBLAS_DEFAULT = ":4096:8"
CUBLAS_USUAL = (CUBLAS_DEFAULT, ":16:8")


@dataclass(frozen=True, slots=True)
class TorchFlags:
    """The flags of torch that deterministic mode changes.

    ``deterministic_algorithms`` counts as torch does: 0 off, 1 warns, 2 raises.
    """

    deterministic_algorithms: int
    cudnn_deterministic: bool
    cudnn_benchmark: bool


@dataclass(frozen=True, slots=True)
class Mode:
    """Deterministic mode, with what it has to put back.

    ``before`` is None as long as torch was not there to be switched. ``cublas_set`` is True if the
    environment variable was set here, ``cublas_late`` if CUDA had been initialised by then.
    """

    before: TorchFlags | None = None
    cublas_set: bool = False
    cublas_late: bool = False


_DETERMINISTIC = TorchFlags(2, cudnn_deterministic=True, cudnn_benchmark=False)
_mode: Mode | None = None


def get_mode() -> Mode | None:
    """Deterministic mode of this process, None if it was not switched on here."""
    return _mode


def switch_on(torch: ModuleType | None) -> None:
    """Switch deterministic mode on, and remember what was before.

    Args:
        torch: The torch module, None to set the environment variable only.

    """
    global _mode
    mode = _mode or Mode()
    if CUBLAS not in os.environ:
        os.environ[CUBLAS] = CUBLAS_DEFAULT
        mode = replace(mode, cublas_set=True, cublas_late=_is_cuda_initialized())
    if torch is not None:
        mode = replace(mode, before=mode.before or _read(torch))
        _write(torch, _DETERMINISTIC)
    _mode = mode


def switch_off(torch: ModuleType | None) -> list[str]:
    """Put back what deterministic mode changed, unless somebody changed it since.

    Args:
        torch: The torch module, None if it is not to be touched.

    Returns:
        Notes on what could not be put back.

    """
    global _mode
    mode, _mode = _mode, None
    if mode is None:
        if torch is not None and torch.are_deterministic_algorithms_enabled():
            return ["deterministic algorithms were switched on elsewhere and stay on"]
        return []
    notes = []
    if mode.before is not None:
        if torch is None:
            _mode = replace(mode, cublas_set=False, cublas_late=False)
            notes.append("torch was left alone: it stays in deterministic mode")
        else:
            notes += _restore(torch, mode.before)
    return notes + (_unset_cublas(mode) if mode.cublas_set else [])


def return_to(mode: Mode | None, torch: ModuleType | None) -> None:
    """Go back to an earlier deterministic mode, or to none."""
    global _mode
    if mode is None and _mode is not None:
        switch_off(torch)
    elif mode is not None and _mode is None:
        switch_on(torch if mode.before is not None else None)
        _mode = mode


def describe_cublas() -> dict[str, Any]:
    """Value of CUBLAS_WORKSPACE_CONFIG, who set it, and whether it can be trusted.

    Returns:
        ``value`` (None if unset), ``set_by`` (``set_seeds``, ``environment`` or None), ``usual``
        (False for a value that does not make cuBLAS repeat itself) and ``too_late``
        (True if CUDA had been initialised when ``set_seeds`` set the value).

    """
    value = os.environ.get(CUBLAS)
    ours = _mode is not None and _mode.cublas_set and value == CUBLAS_DEFAULT
    return {
        "value": value,
        "set_by": None if value is None else "set_seeds" if ours else "environment",
        "usual": None if value is None else value in CUBLAS_USUAL,
        "too_late": bool(ours and _mode is not None and _mode.cublas_late),
    }


def _is_cuda_initialized() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.cuda.is_initialized())


def _read(torch: ModuleType) -> TorchFlags:
    return TorchFlags(
        torch.get_deterministic_debug_mode(),
        torch.backends.cudnn.deterministic,
        torch.backends.cudnn.benchmark,
    )


def _write(torch: ModuleType, flags: TorchFlags) -> None:
    algorithms = flags.deterministic_algorithms
    torch.use_deterministic_algorithms(algorithms != 0, warn_only=algorithms == 1)
    torch.backends.cudnn.deterministic = flags.cudnn_deterministic
    torch.backends.cudnn.benchmark = flags.cudnn_benchmark


def _restore(torch: ModuleType, before: TorchFlags) -> list[str]:
    ours = asdict(_DETERMINISTIC)
    changed = {name: value for name, value in asdict(_read(torch)).items() if value != ours[name]}
    _write(torch, replace(before, **changed))
    return [f"{name} was changed since and stays as it is" for name in changed]


def _unset_cublas(mode: Mode) -> list[str]:
    if os.environ.get(CUBLAS) != CUBLAS_DEFAULT:
        return [f"{CUBLAS} was changed since and stays as it is"]
    del os.environ[CUBLAS]
    if _is_cuda_initialized() and not mode.cublas_late:
        return [f"CUDA is initialised: cuBLAS may keep {CUBLAS}={CUBLAS_DEFAULT} in this process"]
    return []
