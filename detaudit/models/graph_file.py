"""Reading an ONNX file, and refusing one that no session could run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from detaudit.errors import ModelError
from detaudit.models.content import SUPPORTED, one_line
from detaudit.models.scope import walk

if TYPE_CHECKING:
    import onnx

_LARGEST = 2**31 - 1
"""Bytes that one protobuf message can have."""

_DOMAINS = frozenset(
    {
        *("", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"),
        *("ai.onnx.training", "com.microsoft", "com.microsoft.dml", "com.microsoft.experimental"),
        *("com.microsoft.nchwc", "com.ms.internal.nhwc", "org.pytorch.aten", "trt.plugins"),
    }
)
"""Operator domains that ONNX Runtime or one of its providers implements."""


def read_graph(path: Path, shown: str) -> tuple[onnx.ModelProto, str]:
    """Parse an ONNX file, its external data left aside.

    Args:
        path: the file
        shown: how messages name it

    Returns:
        the model and the SHA-256 digest of the bytes that it was parsed from

    Raises:
        ModelError: if the file is no ONNX, cut off, of a version newer than what is
            installed, or uses operators that ONNX Runtime does not have

    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        if path.stat().st_size > _LARGEST:
            raise ModelError(
                f"{shown}: is larger than the 2 GB that one ONNX file can have; "
                "weights beyond that belong into external data"
            )
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{shown}: cannot be read: {error.strerror}") from None
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError:
        if data[0] == 0x08:  # the tag of the format version, with which exporters begin
            raise ModelError(f"{shown}: the ONNX file is damaged or was cut off") from None
        raise ModelError(f"{shown}: is no ONNX file; {SUPPORTED}") from None
    _check_whole(model, shown)
    if any(isinstance(text, bytes) for text in _texts(model)):
        raise ModelError(f"{shown}: the ONNX file is damaged: a name in it is no text")
    _check_version(model.ir_version, shown)
    _check_operators(model, shown)
    return model, hashlib.sha256(data).hexdigest()


def _check_whole(model: onnx.ModelProto, shown: str) -> None:
    """Refuse what parses by accident, or lacks what every ONNX model has."""
    if not model.ir_version or not model.HasField("graph"):
        raise ModelError(f"{shown}: is no ONNX file; {SUPPORTED}")
    if not model.graph.output:
        raise ModelError(f"{shown}: the graph has no output; nothing could be compared")
    if not model.opset_import and model.ir_version >= 3:
        raise ModelError(
            f"{shown}: names no operator set version; the file is damaged or was cut off"
        )


def _texts(model: onnx.ModelProto) -> Iterator[object]:
    """Give the names in a model; protobuf leaves those as bytes that are no UTF-8."""
    yield from (model.producer_name, model.producer_version)
    yield from (entry.domain for entry in model.opset_import)
    yield from (text for function in model.functions for text in (function.domain, function.name))
    for scope in walk(model):
        yield from (*scope.outputs, *scope.tensors.maps[0])
        for name, kind in scope.types.maps[0].items():
            yield name
            yield from (axis.dim_param for axis in kind.tensor_type.shape.dim)
        for node in scope.nodes:
            yield from (node.op_type, node.domain, node.name, *node.input, *node.output)
            yield from (entry.name for entry in node.attribute)


def _check_version(version: int, shown: str) -> None:
    """Refuse a format version that neither onnx nor ONNX Runtime knows."""
    import onnx

    if version <= onnx.IR_VERSION:
        return
    newest = {f"onnx {onnx.__version__}": int(onnx.IR_VERSION), **_newest_of_runtime()}
    if version > max(newest.values()):
        known = ", ".join(f"{number} ({name})" for name, number in newest.items())
        raise ModelError(
            f"{shown}: has ONNX format version (ir_version) {version}, but the newest that is "
            f"known here is {known}; update them or export for an older version"
        )


def _newest_of_runtime() -> dict[str, int]:
    """Ask ONNX Runtime for the newest format version that it loads.

    No function tells; the message about a version that is too new does.
    """
    import re

    try:
        import onnxruntime
    except ImportError:
        return {}
    from onnx import helper

    empty = helper.make_model(helper.make_graph([], "empty", [], []), ir_version=2**30)
    try:
        onnxruntime.InferenceSession(empty.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception as error:  # a class of the runtime's own, different between versions
        found = re.search(r"max supported IR version: (\d+)", str(error))
        return {f"onnxruntime {onnxruntime.__version__}": int(found[1])} if found else {}
    return {}


def _check_operators(model: onnx.ModelProto, shown: str) -> None:
    """Refuse operators of domains that ONNX Runtime does not know."""
    unknown = sorted(set(_unknown_operators(model)))
    if unknown:
        raise ModelError(
            f"{shown}: uses operators that ONNX Runtime does not have: {', '.join(unknown)}; "
            "models that need custom operator libraries cannot be audited"
        )


def _unknown_operators(model: onnx.ModelProto) -> Iterator[str]:
    """Name the operators of unknown domains that no local function defines."""
    functions = {(function.domain, function.name) for function in model.functions}
    for scope in walk(model):
        for node in scope.nodes:
            if node.domain not in _DOMAINS and (node.domain, node.op_type) not in functions:
                yield one_line(f"{node.domain}:{node.op_type}")
