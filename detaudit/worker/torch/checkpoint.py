"""Weights from a checkpoint, which is never unpickled in a way that could run code."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from detaudit.worker.failures import Failed, Misuse
from detaudit.worker.torch.blame import first_line

_WRAPPERS = ("state_dict", "model_state_dict", "model")
_SHOWN = 3


def load_checkpoint(model: Any, file: Path) -> None:
    """Put the weights of a checkpoint into a model; every one of them has to fit.

    Args:
        model: a module
        file: state dict that ``torch.save`` wrote, or a safetensors file

    Raises:
        Misuse: if there is no such file
        Failed: if it holds more than weights, is damaged, or does not fit

    """
    import torch

    if not file.is_file():
        raise Misuse(f"there is no checkpoint {file.name}")
    if not isinstance(model, torch.nn.Module):
        raise Failed(
            f"the checkpoint {file.name} cannot be loaded into a {type(model).__name__},"
            " which is no torch.nn.Module"
        )
    weights = _read_safetensors(file) if file.suffix == ".safetensors" else _read(file)
    if misfit := _compare(model.state_dict(), weights):
        raise Failed(f"the checkpoint {file.name} does not fit the model: {misfit}")
    try:
        model.load_state_dict(weights)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = lines[1] if len(lines) > 1 else first_line(error)
        raise Failed(f"the checkpoint {file.name} does not fit the model: {reason}") from None


def _read(file: Path) -> Mapping[str, Any]:
    import torch

    if _is_other_archive(file):
        raise Failed(
            f"the checkpoint {file.name} is an archive that torch.save has not written, and no"
            " state dict"
        )
    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        # A file that is no pickle at all is told by the same exception.
        if not zipfile.is_zipfile(file) and not _is_pickle(file, error):
            raise Failed(f"the checkpoint {file.name} is damaged or no file of torch's") from None
        raise _unsafe(file) from None
    except Exception as error:
        if "TorchScript" in str(error):
            raise Failed(
                f"the checkpoint {file.name} is a TorchScript model and no state dict"
            ) from None
        raise Failed(f"the checkpoint {file.name} is damaged or no file of torch's") from None
    weights = _unwrap(found)
    if weights is None:
        raise Failed(
            f"the checkpoint {file.name} holds no state dict:"
            f" {_outline(found)}; a state dict names a tensor per weight"
        )
    return weights


def _is_other_archive(file: Path) -> bool:
    try:
        with zipfile.ZipFile(file) as archive:
            return not any(name.endswith("/data.pkl") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def _is_pickle(file: Path, error: pickle.UnpicklingError) -> bool:
    with file.open("rb") as opened:
        return opened.read(1) == pickle.PROTO and "Unsupported" in str(error)


def _unsafe(file: Path) -> Failed:
    return Failed(
        f"the checkpoint {file.name} holds pickled objects, not only weights, and unpickling them"
        " could run any code; save the weights alone: torch.save(model.state_dict(), FILE)"
    )


def _unwrap(found: Any) -> Mapping[str, Any] | None:
    if not isinstance(found, Mapping):
        return None
    for key in _WRAPPERS:
        if _holds_tensors(found.get(key)):
            inner: Mapping[str, Any] = found[key]
            return inner
    return found if _holds_tensors(found) else None


def _holds_tensors(found: Any) -> bool:
    import torch

    return isinstance(found, Mapping) and any(isinstance(v, torch.Tensor) for v in found.values())


def _outline(found: Any) -> str:
    if isinstance(found, Mapping):
        return f"its keys are {_show(map(str, found))}" if found else "it is an empty dict"
    return f"it is a {type(found).__name__}"


def _read_safetensors(file: Path) -> Mapping[str, Any]:
    try:
        from safetensors.torch import load_file
    except ImportError:
        raise Failed(
            f"the checkpoint {file.name} needs the package safetensors, which is not installed"
        ) from None
    try:
        weights: Mapping[str, Any] = load_file(file)
    except Exception as error:
        raise Failed(
            f"the checkpoint {file.name} is damaged or no safetensors file: {first_line(error)}"
        ) from None
    return weights


def _compare(expected: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """What does not fit, in words; empty where all does."""
    other = [
        f"{name} is {_shape(given[name])}, not {_shape(expected[name])}"
        for name in expected.keys() & given.keys()
        if _shape(given[name]) != _shape(expected[name])
    ]
    missing = [name for name in expected if name not in given]
    unexpected = [str(name) for name in given if name not in expected]
    parts = [
        f"{len(names)} of {total} {what} ({_show(names)})"
        for names, total, what in (
            (missing, len(expected), "weights missing from it"),
            (unexpected, len(given), "weights in it unknown to the model"),
            (sorted(other), len(expected), "weights of another shape"),
        )
        if names
    ]
    return "; ".join(parts)


def _shape(value: Any) -> str:
    from torch.nn.parameter import is_lazy

    if is_lazy(value):
        return "open"
    shape = getattr(value, "shape", None)
    return "no tensor" if shape is None else f"[{', '.join(map(str, shape))}]"


def _show(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
