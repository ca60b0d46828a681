"""Giving a model whose inputs or outputs have types that NumPy lacks a float32 surface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from detaudit.errors import ModelError
from detaudit.models.external import stage
from detaudit.models.scope import subgraphs

if TYPE_CHECKING:
    import onnx

_LACKING = (
    *("BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"),
    *("FLOAT8E8M0", "INT4", "UINT4", "INT2", "UINT2"),
)
"""Types that ONNX Runtime cannot return, or returns as bare bits; float32 holds each exactly."""


def widen(model: onnx.ModelProto) -> tuple[str, ...]:
    """Put a Cast between the graph and each input or output of a type that NumPy lacks.

    Inputs and outputs keep their names; the tensors inside are renamed.

    Args:
        model: parsed model, changed in place

    Returns:
        names of inputs and outputs that are float32 from now on

    Examples:
        >>> from onnx import parser
        >>> text = '''<ir_version: 9, opset_import: ["" : 17]>
        ...     net (float[n] x) => (bfloat16[n] y) { y = Cast <to = 16> (x) }'''
        >>> model = parser.parse_model(text)
        >>> widen(model)
        ('y',)
        >>> [node.op_type for node in model.graph.node]
        ['Cast', 'Cast']

    """
    from onnx import TensorProto, helper

    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights and _lacking(value)]
    outputs = [value for value in graph.output if _lacking(value)]
    taken = _names(graph)
    inner = {value.name: _free(value.name, taken) for value in (*inputs, *outputs)}
    if not inner:
        return ()
    fed = {value.name for value in inputs}
    declared = {value.name: value.type.tensor_type.elem_type for value in (*inputs, *outputs)}
    for value in graph.input:
        if value.name in weights:
            value.name = inner.get(value.name, value.name)
    _rename(graph, inner)
    before = [
        helper.make_node("Cast", [value.name], [inner[value.name]], to=declared[value.name])
        for value in inputs
    ]
    after = [
        helper.make_node("Cast", [inner[value.name]], [value.name], to=TensorProto.FLOAT)
        for value in outputs
        if value.name not in fed
    ]
    nodes = [*before, *graph.node, *after]
    del graph.node[:]
    graph.node.extend(nodes)
    for value in (*inputs, *outputs):
        value.type.tensor_type.elem_type = TensorProto.FLOAT
    return tuple(inner)


def save_beside(model: onnx.ModelProto, parts: Mapping[str, Path], folder: Path) -> Path:
    """Write a rewritten model into a folder, with its external data beside it.

    Args:
        model: model, external data not loaded
        parts: external file per location
        folder: existing, empty folder

    Returns:
        path of the file

    Raises:
        ModelError: if there is no room

    """
    path = folder / "model.onnx"
    stage(parts, folder)
    while path.exists():  # a part of that very name
        path = path.with_name(f"_{path.name}")
    try:
        path.write_bytes(model.SerializeToString())
    except OSError as error:
        raise ModelError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def _lacking(value: onnx.ValueInfoProto) -> bool:
    """Tell whether NumPy lacks the type of an input or output."""
    from onnx import TensorProto

    numbers = {getattr(TensorProto, name, None) for name in _LACKING}
    return value.type.tensor_type.elem_type in numbers


def _names(graph: onnx.GraphProto) -> set[str]:
    """Collect every tensor name of a graph and its subgraphs."""
    names = {value.name for value in (*graph.input, *graph.output, *graph.value_info)}
    names.update(tensor.name for tensor in graph.initializer)
    for node in graph.node:
        names.update((*node.input, *node.output))
        for _, inner in subgraphs(node):
            names |= _names(inner)
    return names


def _free(name: str, taken: set[str]) -> str:
    """Make up a tensor name that is not in use, and take it."""
    new = f"{name}_narrow"
    while new in taken:
        new += "_"
    taken.add(new)
    return new


def _rename(graph: onnx.GraphProto, new: Mapping[str, str]) -> None:
    """Rename tensors wherever nodes make or take them, inside subgraphs too."""
    for tensor in graph.initializer:
        tensor.name = new.get(tensor.name, tensor.name)
    for value in graph.value_info:
        value.name = new.get(value.name, value.name)
    for node in graph.node:
        node.input[:] = [new.get(name, name) for name in node.input]
        node.output[:] = [new.get(name, name) for name in node.output]
        for _, inner in subgraphs(node):
            for value in inner.output:
                value.name = new.get(value.name, value.name)
            _rename(inner, new)
