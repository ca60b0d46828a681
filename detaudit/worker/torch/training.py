"""Modules whose result depends on more than their input and their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from detaudit.worker.torch.parts import find_modules, name_modules

_RATES = ("p", "drop_prob", "drop_rate")
"""What dropout layers, those of other libraries too, call their rate."""

_GRAPH = "GraphModule"
"""Its code was written down in one mode, whichever it is in now."""

_RECURRENT = ("RNNBase", "RNN", "LSTM", "GRU")


def find_training(model: Any) -> list[dict[str, str]]:
    """Modules that matter: in training mode, or without statistics of their own.

    A model in training mode without any such module is named as a whole, since its code may ask
    for the mode.

    Args:
        model: module or callable that keeps modules

    Returns:
        rows of ``module``, ``type`` and ``effect``

    """
    found = [
        {"module": path, "type": name_type(module), "effect": effect}
        for path, module in name_modules(model).values()
        for effect in _find_effects(module)
    ]
    if found:
        return found
    return [
        {
            "module": path,
            "type": name_type(module),
            "effect": "is in training mode, which its code may ask for",
        }
        for path, module in find_modules(model).items()
        if _is_training(module) and not path and _GRAPH not in _name_kinds(module)
    ]


def name_type(module: Any) -> str:
    """Class of a module, of the one it was scripted from too."""
    return str(getattr(module, "original_name", type(module).__name__))


def _find_effects(module: Any) -> Iterator[str]:
    kinds = _name_kinds(module)
    for effect in _EFFECTS:
        if told := effect(module, kinds):
            yield told


def _name_kinds(module: Any) -> set[str]:
    return {name_type(module), *(kind.__name__ for kind in type(module).__mro__)}


def _dropout(module: Any, kinds: set[str]) -> str:
    if not _is_training(module) or not any("Drop" in kind for kind in kinds):
        return ""
    rate = next((r for name in _RATES if (r := _number(module, name)) is not None), None)
    return f"draws a new mask at every call (p={rate:g})" if rate else ""


def _inner_dropout(module: Any, kinds: set[str]) -> str:
    recurrent = not kinds.isdisjoint(_RECURRENT) and (_number(module, "num_layers") or 0) > 1
    rate = _number(module, "dropout") if recurrent or "MultiheadAttention" in kinds else None
    if not rate or not _is_training(module):
        return ""
    return f"draws new dropout masks at every call (dropout={rate:g})"


def _slope(module: Any, kinds: set[str]) -> str:
    drawn = "RReLU" in kinds and _is_training(module)
    if not drawn or _number(module, "lower") == _number(module, "upper"):
        return ""
    return "draws new slopes at every call"


def _norm(module: Any, kinds: set[str]) -> str:
    batch = any("BatchNorm" in kind for kind in kinds)
    instance = any("InstanceNorm" in kind for kind in kinds)
    if not (batch or instance) or not hasattr(module, "running_mean"):
        return ""
    tracked = module.running_mean is not None
    if _is_training(module) and tracked:
        what = "the batch" if batch else "each sample"
        return f"normalises by {what}, and changes its running statistics at every call"
    if batch and not tracked:
        return "normalises by the batch, since it has no running statistics"
    return ""


_EFFECTS: tuple[Callable[[Any, set[str]], str], ...] = (_dropout, _inner_dropout, _slope, _norm)


def _is_training(module: Any) -> bool:
    return bool(getattr(module, "training", False))


def _number(module: Any, name: str) -> float | None:
    value = getattr(module, name, None)
    return float(value) if isinstance(value, (int, float)) else None
