"""Records as files: a zip of ``record.json`` and one ``.npy`` file per array."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from detaudit.errors import DetauditError, RecordError, UsageError
from detaudit.placing import placed
from detaudit.plain import from_plain, to_plain
from detaudit.record import Record, array_key, table_key

FORMAT = "detaudit-record"
VERSION = 1
_FACTS = "record.json"
_SMALL_BYTES = 1 << 16
_HELD_BYTES = 1 << 26
"""Arrays that are small are read once, as long as all of them take no more than this."""


def save_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record, whole or not at all.

    Args:
        record: what happened
        path: file to write, by custom ending in ``.audit``

    Raises:
        OSError: if it cannot be written; an earlier file stays as it was

    """
    with placed(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        digests = {}
        for key in record.arrays:
            array = record.arrays[key]
            digests[key] = _digest(array)
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        facts = {"format": FORMAT, "version": VERSION, **to_plain(record), "digests": digests}
        archive.writestr(_FACTS, json.dumps(facts, allow_nan=False, indent=1))


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
    except (zipfile.BadZipFile, NotImplementedError):
        raise RecordError(f"{path} is no record of detaudit, or was cut off") from None
    with archive:
        yield _read(path, archive)


def is_record(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a record, as opposed to a model; it may be damaged or too new.

    Args:
        path: a file, or what names no file

    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _FACTS in archive.NameToInfo
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def _read(path: Path, archive: zipfile.ZipFile) -> Record:
    if _FACTS not in archive.namelist():
        raise RecordError(f"{path} is no record of detaudit: it holds no {_FACTS}")
    with telling_damage(path):
        facts = json.loads(archive.read(_FACTS))
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise RecordError(f"{path} is no record of detaudit")
    if facts.get("version") != VERSION:
        raise RecordError(
            f"{path} has format version {facts.get('version')}, this detaudit reads version"
            f" {VERSION}; use a newer detaudit"
        )
    with telling_damage(path):
        arrays = _Arrays(path, archive, dict(facts["digests"]))
        held = set(arrays)
        # Decoding would read every array.
        record = dataclasses.replace(from_plain(Record, facts), arrays=arrays)
    for key in _expected_keys(record):
        if key not in held:
            raise RecordError(f"{path} was damaged: {key} is missing")
    return record


def _expected_keys(record: Record) -> Iterator[str]:
    """Arrays that the facts speak of."""
    for number, target in enumerate(record.targets):
        if target.status == "ok":
            yield table_key(number, "runs")
            yield table_key(number, "outcome")
        for seen in target.outcomes:
            for what in (*seen.kept, *(("low", "high") if seen.varies else ())):
                yield array_key(number, seen.sample, seen.output, what)


@contextmanager
def telling_damage(
    path: str | os.PathLike[str], passing: type[DetauditError] = RecordError
) -> Iterator[None]:
    """Say in one line that a record was damaged; facts that make no sense fail in any way.

    Args:
        path: file of the record
        passing: errors that are passed on as they are

    Raises:
        RecordError: in the place of any other error inside the block

    """
    try:
        yield
    except passing:
        raise
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise RecordError(f"{path} was damaged: {why}") from None


def _digest(array: np.ndarray) -> str:
    """SHA-256 over type, shape and bytes, hexadecimal."""
    sha = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    if array.size:
        sha.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return sha.hexdigest()


class _Arrays(Mapping[str, np.ndarray]):
    """Arrays of an open archive, each compared with its digest when it is first read."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, digests: dict[str, str]) -> None:
        self._path = path
        self._archive = archive
        self._digests = digests
        names = (name for name in archive.namelist() if name.endswith(".npy"))
        self._keys = [name.removesuffix(".npy") for name in names]
        self._checked: set[str] = set()
        self._held: dict[str, np.ndarray] = {}
        self._room = _HELD_BYTES

    def __getitem__(self, key: str) -> np.ndarray:
        if key in self._held:
            return self._held[key]
        info = self._archive.NameToInfo.get(f"{key}.npy")
        if info is None:
            raise KeyError(key)
        with telling_damage(self._path):
            with self._archive.open(info) as member:
                array: np.ndarray = np.lib.format.read_array(member, allow_pickle=False)
            if key not in self._checked and _digest(array) != self._digests[key]:
                raise ValueError(f"{key} is not the array that was saved")
        self._checked.add(key)
        if array.nbytes <= min(_SMALL_BYTES, self._room):
            self._room -= array.nbytes
            array.flags.writeable = False
            self._held[key] = array
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
