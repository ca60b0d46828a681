"""What the user gives for the inputs: arrays by name, words by name, or a sound file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detaudit.capture import audio
from detaudit.capture.files import load_archive, load_array, load_folder
from detaudit.capture.signature import SIGNAL, fed_inputs
from detaudit.errors import UsageError
from detaudit.models.model import Model
from detaudit.spec import InputSpec

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Sound:
    """A signal of a file.

    Attributes:
        signal: values, shape ``(channels, samples)``
        rate: samples per second
        source: name of the file

    """

    signal: NDArray[np.float32]
    rate: int
    source: str


@dataclass(frozen=True, slots=True)
class Given:
    """What the user gives.

    Attributes:
        arrays: array and name of its file per input
        words: such as ``uniform:-1:1`` per input
        sound: a signal for the input that takes one

    """

    arrays: Mapping[str, tuple[Array, str]]
    words: Mapping[str, str]
    sound: Sound | None


def read_given(model: Model, spec: InputSpec) -> Given:
    """Read all that the user gives.

    Args:
        model: the model
        spec: where the inputs come from; what is given by name goes before the source

    Raises:
        UsageError: if a name is unknown or given twice, or a file cannot be used
        ModelError: if an input is of a type that no array can hold

    """
    known = (SIGNAL,) if model.transform else tuple(info.name for info in model.inputs)
    values: dict[str, str] = {}
    for name, text in spec.values:
        if name not in known:
            raise UsageError(
                f"--input {name}={text}: the model has no input '{name}';"
                f" inputs of the model: {', '.join(known)}"
            )
        if name in values:
            raise UsageError(f"--input {name} is given twice")
        values[name] = text
    arrays, sound = {}, None
    if spec.source is not None:
        required = [info.name for info in fed_inputs(model, ()) if info.name not in values]
        loaded = _read_source(Path(spec.source), required, known)
        if isinstance(loaded, Sound):
            sound = loaded
        else:
            arrays = {name: (array, Path(spec.source).name) for name, array in loaded.items()}
    for name, text in values.items():
        if text.startswith("@"):
            arrays[name] = (load_array(text[1:]), Path(text[1:]).name)
    words = {name: text for name, text in values.items() if not text.startswith("@")}
    return Given({n: a for n, a in arrays.items() if n not in words}, words, sound)


def _read_source(
    path: Path, required: list[str], known: tuple[str, ...]
) -> dict[str, Array] | Sound:
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    if path.is_dir():
        return load_folder(path, required, known)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return load_archive(path, required, known)
    if suffix in audio.SUFFIXES:
        return Sound(*audio.read_audio(path), path.name)
    hint = f"; write --input {known[0]}=@{path}" if suffix == ".npy" and known else ""
    raise UsageError(
        f"{path}: is none of the sources for all inputs, which are a .npz file, a folder of .npy"
        f" files and a sound file ({', '.join(audio.SUFFIXES)}){hint}"
    )
