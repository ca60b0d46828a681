"""Describing a parsed model: its signature and the arithmetic that it uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from detaudit.models.model import Dimension, TensorInfo
from detaudit.models.scope import attribute, walk

if TYPE_CHECKING:
    import onnx

    from detaudit.models.scope import Scope

_NAMES = {"float": "float32", "double": "float64"}
"""NumPy's name of the types that ONNX calls otherwise."""

_WITHOUT_ARITHMETIC = ("Cast", "Constant", "Identity", "DequantizeLinear", "QuantizeLinear")

_SMALL = 1024
"""Bytes up to which an initializer may be a shape, which inference reads."""

_INTEGER_OPS = frozenset(
    {
        *("QuantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "ConvInteger"),
        *("MatMulInteger16", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "MulInteger"),
        *("DynamicQuantizeLSTM", "QGemm", "QAttention", "QEmbedLayerNormalization"),
    }
)
_INTEGER_PREFIXES = ("QLinear", "QOrdered")


def signature(
    model: onnx.ModelProto,
) -> tuple[tuple[TensorInfo, ...], tuple[TensorInfo, ...]]:
    """Read what has to be fed and what comes back.

    Args:
        model: parsed model

    Returns:
        inputs, without the weights that old files list among them, and outputs; an output
        that the file gives no type gets the inferred one

    Examples:
        >>> from onnx import parser
        >>> text = '''<ir_version: 3, opset_import: ["" : 17]>
        ...     net (float[n, 2] x, float[2] w) => (float[n, 2] y) <float[2] w = {1, 2}> {
        ...         y = Mul (x, w)
        ...     }'''
        >>> inputs, outputs = signature(parser.parse_model(text))
        >>> inputs
        (TensorInfo(name='x', dtype='float32', shape=('n', 2)),)

    """
    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    weights.update(tensor.values.name for tensor in graph.sparse_initializer)
    inputs = tuple(_info(value) for value in graph.input if value.name not in weights)
    outputs = tuple(_info(value) for value in graph.output)
    if any(value.dtype == "" for value in outputs):
        inferred = {value.name: value for value in inferred_outputs(model)}
        outputs = tuple(value if value.dtype else inferred[value.name] for value in outputs)
    return inputs, outputs


def inferred_outputs(model: onnx.ModelProto) -> tuple[TensorInfo, ...]:
    """Infer types and sizes of the outputs from those of the inputs.

    Weights do not take part beyond their shapes, so that size is no matter.

    Args:
        model: parsed model

    Returns:
        outputs; as declared where nothing can be inferred

    """
    import onnx

    try:
        inferred = onnx.shape_inference.infer_shapes(_without_weights(model)).graph.output
    except Exception:  # classes of the library's own; a broken graph is told of by the session
        inferred = model.graph.output
    return tuple(_info(value) for value in inferred)


def computes_low(model: onnx.ModelProto) -> bool:
    """Tell whether nodes compute in float16 or bfloat16.

    Args:
        model: parsed model

    Returns:
        whether an operator takes such a tensor; weights that are stored so and cast before
        they are used do not count

    """
    scopes = tuple(walk(model))
    low = {name for scope in scopes for name in _low_tensors(scope)}
    return any(
        node.op_type not in _WITHOUT_ARITHMETIC and not low.isdisjoint(node.input)
        for scope in scopes
        for node in scope.nodes
    )


def computes_in_integers(model: onnx.ModelProto) -> bool:
    """Tell whether nodes compute in quantised integers.

    Args:
        model: parsed model

    Returns:
        whether there are QLinear, QDQ or dynamically quantised operators; weights that are
        only stored as integers do not count

    """
    return any(
        node.op_type in _INTEGER_OPS or node.op_type.startswith(_INTEGER_PREFIXES)
        for scope in walk(model)
        for node in scope.nodes
    )


def _info(value: onnx.ValueInfoProto) -> TensorInfo:
    """Describe an input or output."""
    shape: tuple[Dimension, ...] | None = None
    tensor = value.type.tensor_type
    if value.type.HasField("tensor_type") and tensor.HasField("shape"):
        shape = tuple(
            axis.dim_value if axis.HasField("dim_value") else axis.dim_param or None
            for axis in tensor.shape.dim
        )
    return TensorInfo(value.name, _dtype(value.type), shape)


def _dtype(kind: onnx.TypeProto) -> str:
    """Name a type: a tensor's as NumPy does, others as ONNX does, empty when undeclared."""
    if not kind.HasField("tensor_type"):
        return _text(kind)
    name = _element(kind.tensor_type.elem_type)
    return _NAMES.get(name, name)


def _text(kind: onnx.TypeProto) -> str:
    """Write a type as ONNX does."""
    form = kind.WhichOneof("value")
    if form == "tensor_type":
        return f"tensor({_element(kind.tensor_type.elem_type)})"
    if form == "sparse_tensor_type":
        return f"sparse_tensor({_element(kind.sparse_tensor_type.elem_type)})"
    if form == "sequence_type":
        return f"seq({_text(kind.sequence_type.elem_type)})"
    if form == "optional_type":
        return f"optional({_text(kind.optional_type.elem_type)})"
    if form == "map_type":
        return f"map({_element(kind.map_type.key_type)},{_text(kind.map_type.value_type)})"
    return ""


def _element(number: int) -> str:
    """Name an element type as ONNX does."""
    from onnx import TensorProto

    try:
        return TensorProto.DataType.Name(number).lower() if number else ""
    except ValueError:  # newer than the installed onnx
        return f"type{number}"


def _low_tensors(scope: Scope) -> Iterator[str]:
    """Name the tensors that a scope adds in float16 or bfloat16, as far as it is declared."""
    from onnx import TensorProto

    low = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
    yield from (name for name, tensor in scope.tensors.maps[0].items() if tensor.data_type in low)
    for name, kind in scope.types.maps[0].items():
        if kind.tensor_type.elem_type in low:
            yield name
    for node in scope.nodes:
        value = attribute(node, {"Cast": "to", "Constant": "value"}.get(node.op_type, ""))
        if value is not None and getattr(value, "data_type", value) in low:
            yield from node.output


def _without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Copy a model, of large initializers only name, type and shape."""
    import onnx

    light = onnx.ModelProto(ir_version=model.ir_version)
    light.opset_import.extend(model.opset_import)
    light.functions.extend(model.functions)
    graph = light.graph
    graph.name = model.graph.name
    for part in ("input", "output", "value_info", "node"):
        getattr(graph, part).extend(getattr(model.graph, part))
    for tensor in model.graph.initializer:
        if tensor.ByteSize() <= _SMALL:
            graph.initializer.append(tensor)
        else:
            graph.initializer.add(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
    return light
