"""Inputs that the user brings in files."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detaudit.capture.signature import Entry
from detaudit.errors import UsageError

Array = NDArray[Any]

_NO_FILE_NAME = str.maketrans("/\\:", "___")


def load_array(path: str | Path) -> Array:
    """Array of a ``.npy`` file.

    Raises:
        UsageError: if there is no such file, or it holds something else

    """
    try:
        array = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path}: is no readable .npy file: {_line(error)}") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise UsageError(f"{path}: holds several arrays; give it as --input {path}")
    return array


def load_archive(path: str | Path, wanted: Iterable[str], known: Iterable[str]) -> dict[str, Array]:
    """Arrays of a ``.npz`` file, one per input.

    Args:
        path: file that exists
        wanted: inputs that it has to hold
        known: inputs that it may hold

    Raises:
        UsageError: if it cannot be read, or arrays are missing or belong to no input

    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            names = list(archive.files)
            _check_names(str(path), names, wanted, known)
            return {name: archive[name] for name in names}
    except (
        *(OSError, ValueError, EOFError, MemoryError),
        *(AttributeError, TypeError, zipfile.BadZipFile),
    ) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"{path}: is no readable .npz file: {_line(error)}") from None


def load_folder(path: str | Path, wanted: Iterable[str], known: Iterable[str]) -> dict[str, Array]:
    r"""Arrays of a folder with one ``.npy`` file per input.

    The file is called like the input; ``/``, ``\`` and ``:`` become ``_``.

    Args:
        path: folder that exists
        wanted: inputs that it has to hold
        known: inputs that it may hold

    Raises:
        UsageError: if a file cannot be read, is missing or belongs to no input

    """
    inputs: dict[str, list[str]] = {}
    for name in known:
        inputs.setdefault(name.translate(_NO_FILE_NAME), []).append(name)
    files = {file.stem: file for file in sorted(Path(path).iterdir()) if file.suffix == ".npy"}
    shared = next((names for stem, names in inputs.items() if stem in files and names[1:]), None)
    if shared:
        raise UsageError(f"{path}: the same file name stands for {' and '.join(shared)}; use .npz")
    found = {inputs.get(stem, [stem])[0]: file for stem, file in files.items()}
    _check_names(str(path), list(found), wanted, known)
    return {name: load_array(file) for name, file in found.items()}


def fit_array(array: Array, entry: Entry, source: str) -> Array:
    """Array in the type of an input, without a change of any value.

    Args:
        array: what a file holds
        entry: the input
        source: the file, for the message

    Returns:
        copy in C order and in the byte order of the machine

    Raises:
        UsageError: if the values are of another kind or do not fit the type exactly

    """
    kinds = {"string": "U", "bool": "b"}.get(entry.dtype, "f" if entry.floating else "iu")
    if array.dtype.kind not in kinds:
        raise UsageError(f"{source}: holds {array.dtype.name}, but {entry.text} takes none of that")
    if entry.dtype == "string":
        return np.array(array, np.str_, order="C")
    with np.errstate(over="ignore"):
        fitted = np.array(array, dtype=entry.dtype, order="C")
    if not _same_values(array, fitted):
        raise UsageError(
            f"{source}: some of its {array.dtype.name} values have no equal in {entry.dtype},"
            f" which {entry.text} takes"
        )
    return fitted


def reshape_open(array: Array, entry: Entry, source: str) -> Array:
    """Array in the shape that audonnx brings it to, one open axis taking what is left.

    Args:
        array: what a file holds
        entry: the input
        source: the file, for the message

    Returns:
        the array as it is when more than one axis is open

    Raises:
        UsageError: if the number of elements does not fit

    """
    shape = tuple(-1 if isinstance(axis, str) else axis for axis in entry.axes)
    if shape.count(-1) > 1:
        return array
    try:
        return array.reshape(shape)
    except ValueError:
        sizes = "x".join(map(str, array.shape))
        raise UsageError(f"{source}: shape {sizes} cannot be brought to {entry.text}") from None


def _same_values(array: Array, fitted: Array) -> bool:
    if fitted.dtype.kind == "f":
        return np.array_equal(fitted.astype(array.dtype), array, equal_nan=True)
    if fitted.dtype.kind == "b" or fitted.size == 0:
        return True
    limits = np.iinfo(fitted.dtype)
    # As Python integers, since NumPy compares int64 with uint64 as float64.
    return limits.min <= int(array.min()) and int(array.max()) <= limits.max


def _check_names(path: str, found: list[str], wanted: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    missing = [name for name in wanted if name not in found]
    unknown = [name for name in found if name not in known]
    problems = [
        f"{text} {', '.join(names)}"
        for text, names in (("it lacks", missing), ("the model has no input", unknown))
        if names
    ]
    if problems:
        raise UsageError(
            f"{path}: {' and '.join(problems)}; inputs of the model: {', '.join(known)}"
        )


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
