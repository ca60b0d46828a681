"""External data: the files beside a model that hold its weights."""

from __future__ import annotations

import errno
import hashlib
import ntpath
import os
import posixpath
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

from detaudit.errors import ModelError
from detaudit.models.content import one_line

if TYPE_CHECKING:
    import onnx

_BLOCK = 1 << 20


def find_parts(model: onnx.ModelProto, graph: Path, shown: str) -> dict[str, Path]:
    """Find the external files of a model, without following a location out of its folder.

    A symbolic link is followed where ONNX Runtime would follow it: inside the model's folder or
    the folder that a linked model file really lies in. In a cache where the model file is a
    link itself, its data may be links to anywhere.

    Args:
        model: parsed model, external data not loaded
        graph: its file
        shown: how messages name it

    Returns:
        file per location, as the model writes locations; empty without external data

    Raises:
        ModelError: if a location leaves the folder, or a file is missing or too short

    """
    ends: dict[str, int] = {}
    for tensor in _external_tensors(model):
        entries = {entry.key: os.fsdecode(entry.value) for entry in tensor.external_data}
        location = entries.get("location", "")
        check_location(location, f"{shown}: external data")
        ends[location] = max(ends.get(location, 0), _end(entries, shown))
    return {location: _part(graph, location, end, shown) for location, end in sorted(ends.items())}


def check_location(location: str, what: str) -> None:
    """Refuse a location that is absolute or climbs out of its folder, on any system.

    Args:
        location: relative path as a file writes it
        what: what it locates, the beginning of messages

    Raises:
        ModelError: if it is empty or leaves the folder

    """
    windows, name = PureWindowsPath(location), one_line(location)
    if not location or "\0" in location:
        raise ModelError(f"{what} has no file name")
    if (
        windows.drive
        or windows.root
        or posixpath.normpath(location).startswith("..")
        or ntpath.normpath(location).startswith("..")
    ):
        raise ModelError(f"{what} '{name}' leaves the folder of the model; not read")


def digest(parts: Mapping[str, str | Path]) -> str:
    """Digest several files as one.

    Args:
        parts: file, or its SHA-256 digest in hexadecimal, per name

    Returns:
        SHA-256 of the lines that ``sha256sum`` prints for them, sorted by name

    """
    whole = hashlib.sha256()
    for name, part in sorted(parts.items()):
        one = part if isinstance(part, str) else digest_file(part)
        whole.update(f"{one}  {name}\n".encode())
    return whole.hexdigest()


def digest_file(path: Path) -> str:
    """Digest a file of any size in constant memory.

    Args:
        path: file

    Returns:
        SHA-256 in hexadecimal

    Raises:
        ModelError: if it cannot be read

    """
    hasher = hashlib.sha256()
    block = memoryview(bytearray(_BLOCK))
    try:
        with path.open("rb", buffering=0) as file:
            while count := file.readinto(block):
                hasher.update(block[:count])
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    return hasher.hexdigest()


def stage(parts: Mapping[str, Path], folder: Path) -> None:
    """Lay files into a folder under given names, as hard links where possible.

    ONNX Runtime refuses symbolic links that leave the folder of the model.

    Args:
        parts: file per relative name
        folder: existing folder

    Raises:
        ModelError: if there is no room for a copy

    """
    for name, part in parts.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = part.resolve()
        try:
            os.link(source, target)
        except OSError:  # another file system, or one without hard links
            try:
                shutil.copyfile(source, target)
            except OSError as error:
                target.unlink(missing_ok=True)
                raise ModelError(
                    f"{part}: cannot be copied to {folder}: {error.strerror}"
                    + ("; free some space there" if error.errno == errno.ENOSPC else "")
                ) from None


def loadable(graph: Path, parts: Mapping[str, Path]) -> bool:
    """Tell whether ONNX Runtime follows the path to a model and from there to its data.

    Args:
        graph: the model file
        parts: external file per location

    Returns:
        whether each part lies, links resolved, in the folder of the model or in that which
        the model file really lies in

    """
    homes = (graph.parent.resolve(), graph.resolve().parent)
    return all(
        (graph.parent / location).exists() and _inside(graph.parent / location, homes)
        for location in parts
    )


def _part(graph: Path, location: str, end: int, shown: str) -> Path:
    """Find one external file, beside the model or beside what the model is a link to."""
    homes = (graph.parent.resolve(), graph.resolve().parent)
    data = f"{shown}: external data '{one_line(location)}'"
    for folder in (graph.parent, graph.resolve().parent):
        path = folder / location
        if not path.is_file():
            continue
        if not graph.is_symlink() and not _inside(path, homes):
            raise ModelError(
                f"{data} is a link that leaves the folder of the model, which ONNX Runtime "
                "refuses; copy the file there"
            )
        size = path.stat().st_size
        if size < end:
            raise ModelError(f"{data} was cut off: {size} bytes of {end}")
        return path
    raise ModelError(f"{data} is missing; it belongs beside the model")


def _inside(path: Path, folders: tuple[Path, ...]) -> bool:
    """Tell whether a file lies in one of some folders, links resolved."""
    real = path.resolve()
    return any(folder in real.parents for folder in folders)


def _end(entries: Mapping[str, str], shown: str) -> int:
    """Compute how many bytes an external file has at least."""
    try:
        offset, length = int(entries.get("offset", 0)), int(entries.get("length", 0))
    except ValueError:
        offset = -1
        length = 0
    if offset < 0 or length < 0:
        raise ModelError(f"{shown}: external data with an offset or length that is no number")
    return offset + length


def _external_tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Give every tensor of a model whose values lie in another file."""
    from onnx import TensorProto

    for tensor in _tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL:
            yield tensor


def _tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Give every tensor of a model: initializers and attributes, in functions too."""
    graphs = [model.graph]
    nodes = [node for function in model.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            for sparse in graph.sparse_initializer:
                yield from (sparse.values, sparse.indices)
            nodes.extend(graph.node)
        else:
            for entry in nodes.pop().attribute:
                if entry.HasField("t"):
                    yield entry.t
                if entry.HasField("g"):
                    graphs.append(entry.g)
                yield from entry.tensors
                graphs.extend(entry.graphs)
