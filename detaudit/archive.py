"""Records as files: a zip of ``record.json`` and one ``.npy`` file per array."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from detaudit.errors import RecordError, UsageError
from detaudit.plain import from_plain, to_plain
from detaudit.record import Record

FORMAT = "detaudit-record"
VERSION = 1
_FACTS = "record.json"


def save_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record, whole or not at all.

    Args:
        record: what happened
        path: file to write, by custom ending in ``.audit``

    Raises:
        OSError: if it cannot be written; an earlier file stays as it was

    """
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            facts = {"format": FORMAT, "version": VERSION, **to_plain(record)}
            archive.writestr(_FACTS, json.dumps(facts, allow_nan=False, indent=1))
            for key in record.arrays:
                with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, record.arrays[key], allow_pickle=False)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise


@contextmanager
def open_record(path: str | os.PathLike[str]) -> Iterator[Record]:
    """Open a record; its arrays are read when they are asked for.

    Args:
        path: file that :func:`save_record` wrote

    Yields:
        the record, whose arrays can be read inside the ``with`` block

    Raises:
        UsageError: if there is no such file
        RecordError: if it is no record, was damaged, or is newer than this version of detaudit

    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no record {path}")
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise RecordError(f"{path} is no record of detaudit, or was cut off") from None
    with archive:
        yield _read(path, archive)


def _read(path: Path, archive: zipfile.ZipFile) -> Record:
    try:
        facts = json.loads(archive.read(_FACTS))
    except KeyError:
        raise RecordError(f"{path} is no record of detaudit: it holds no {_FACTS}") from None
    except (zipfile.BadZipFile, ValueError) as error:
        raise RecordError(f"{path} was damaged: {error}") from None
    if facts.get("format") != FORMAT:
        raise RecordError(f"{path} is no record of detaudit")
    if facts.get("version") != VERSION:
        raise RecordError(
            f"{path} has format version {facts.get('version')}, this detaudit reads version"
            f" {VERSION}; use a newer detaudit"
        )
    arrays = _Arrays(path, archive)
    try:
        return from_plain(Record, {**facts, "arrays": arrays})
    except (TypeError, ValueError, KeyError) as error:
        raise RecordError(f"{path} was damaged: {error}") from None


class _Arrays(Mapping[str, np.ndarray]):
    """Arrays of an open archive."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path = path
        self._archive = archive
        names = (name for name in archive.namelist() if name.endswith(".npy"))
        self._keys = [name.removesuffix(".npy") for name in names]

    def __getitem__(self, key: str) -> np.ndarray:
        if f"{key}.npy" not in self._archive.NameToInfo:
            raise KeyError(key)
        try:
            with self._archive.open(f"{key}.npy") as member:
                array: np.ndarray = np.lib.format.read_array(member, allow_pickle=False)
                # Only reading to the end compares the checksum.
                member.read()
                return array
        except (zipfile.BadZipFile, ValueError) as error:
            raise RecordError(f"{self._path} was damaged: {error}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
