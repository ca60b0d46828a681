"""Models that files of torch hold."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from detaudit.worker.failures import Failed, Misuse
from detaudit.worker.torch.blame import first_line
from detaudit.worker.torch.guard import check_program

_FORCE = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"


def load_program(file: Path, *, trust: bool) -> Any:
    """Exported program.

    Args:
        file: what ``torch.export.save`` wrote
        trust: whether the file may run code while it is loaded

    Raises:
        Failed: if it is damaged, or holds what could run code and is not trusted

    """
    import torch

    _check_archive(file)
    if not trust:
        check_program(file)
    try:
        with _weights_only(not trust), file.open("rb") as stream:
            return torch.export.load(stream)
    except pickle.UnpicklingError:
        raise Failed(
            f"{file.name} holds pickled objects, and unpickling them could run any code;"
            " if you trust its source, allow it with --trust"
        ) from None
    except Exception as error:
        raise Failed(_damaged(file, "torch.export", error)) from None


def load_script(file: Path, device: Any) -> Any:
    """TorchScript module or function.

    Args:
        file: what ``torch.jit.save`` wrote
        device: ``torch.device`` that it is for, its constants included

    Raises:
        Failed: if it is damaged

    """
    import torch

    _check_archive(file)
    try:
        return torch.jit.load(file, map_location=device)
    except Exception as error:
        raise Failed(_damaged(file, "TorchScript", error)) from None


def load_pickle(file: Path, *, trust: bool) -> Any:
    """Pickled module.

    Args:
        file: what ``torch.save`` wrote
        trust: whether the file may run code while it is loaded

    Raises:
        Failed: if it is not trusted, is damaged, or holds no model

    """
    import torch

    if not trust:
        raise Failed(
            f"{file.name} is a pickled model, and unpickling runs whatever code it holds;"
            " if you trust its source, allow it with --trust"
        )
    _check_archive(file)
    try:
        model = torch.load(file, map_location="cpu", weights_only=False)
    except ModuleNotFoundError as error:
        raise Failed(
            f"{file.name} needs the package '{error.name}', which is not installed for this target"
        ) from None
    except AttributeError as error:
        raise Failed(f"{file.name} needs code that is not here: {first_line(error)}") from None
    except Exception as error:
        raise Failed(_damaged(file, "torch.save", error)) from None
    if not callable(model):
        raise Failed(
            f"{file.name} holds a {type(model).__name__}, and no model that can be called;"
            " weights alone need the code of their model: FILE.py:FACTORY:CHECKPOINT"
        )
    return model


def _check_archive(file: Path) -> None:
    if not file.is_file():
        raise Misuse(f"there is no file {file.name}")
    if not zipfile.is_zipfile(file):
        raise Failed(f"{file.name} is damaged or cut off: it is no zip archive")


def _damaged(file: Path, writer: str, error: Exception) -> str:
    import torch

    with zipfile.ZipFile(file) as archive:
        try:
            broken = archive.testzip()
        except Exception:
            broken = "one that cannot be read"
        newer = any(PurePosixPath(name).name == "archive_format" for name in archive.namelist())
    if broken:
        return f"{file.name} is damaged: its part {Path(broken).name} is not what was written"
    if newer and isinstance(error, KeyError):
        return f"{file.name} was written by a newer torch than {torch.__version__}"
    # Torch goes on with guesses.
    reason, _, _ = first_line(error).partition(". ")
    return f"{file.name} is no {writer} file that this torch can load: {reason}"


@contextmanager
def _weights_only(force: bool) -> Iterator[None]:
    """Keep torch from unpickling objects where its own loader asks for them.

    The loader of exported programs reads sample inputs, constants and old weights with
    ``weights_only=False``.
    """
    before = os.environ.get(_FORCE)
    if force:
        os.environ[_FORCE] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_FORCE, None)
        else:
            os.environ[_FORCE] = before
