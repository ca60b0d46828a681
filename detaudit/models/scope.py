"""Walking an ONNX graph: subgraphs, local functions, producers and constants."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import onnx

_LARGEST_VALUE = 65_536
"""Elements up to which a constant is read; index and shape arithmetic needs a few."""

_UNCHANGED = ("Cast", "Identity")
"""Operators behind which a constant keeps its integers and its shape."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The nodes of one graph, subgraph or function, with the names that they can see.

    Attributes:
        path: where it lies, such as ``If_0/then_branch``; empty for the main graph
        nodes: its nodes
        outputs: names of its outputs
        producers: node per tensor name, those of the enclosing graphs included
        tensors: initializer per name, those of the enclosing graphs included
        types: declared type per tensor name, those of the enclosing graphs included
        function: whether it is the body of a local function, in whole or in part

    """

    path: str
    nodes: Sequence[onnx.NodeProto]
    outputs: tuple[str, ...]
    producers: ChainMap[str, onnx.NodeProto]
    tensors: ChainMap[str, onnx.TensorProto]
    types: ChainMap[str, onnx.TypeProto] = field(default_factory=ChainMap)
    function: bool = False

    def children(self, node: onnx.NodeProto) -> Iterator[Scope]:
        """Give the subgraphs of a node of this scope."""
        for branch, graph in subgraphs(node):
            yield _graph_scope(graph, f"{self.path}/{label(node)}/{branch}".lstrip("/"), self)

    def tensor(self, name: str) -> onnx.TensorProto | None:
        """Find the constant behind a name, through Cast and Identity.

        Args:
            name: tensor name

        Returns:
            an initializer or the value of a Constant node, None when it is computed

        """
        for _ in range(len(self.producers) + 1):
            if name in self.tensors:
                return self.tensors[name]
            node = self.producers.get(name)
            if node is None:
                return None
            if node.op_type == "Constant":
                return _constant(node)
            if node.op_type not in _UNCHANGED:
                return None
            name = operand(node, 0)
        return None

    def value(self, name: str) -> np.ndarray[Any, Any] | None:
        """Read a small constant.

        Args:
            name: tensor name

        Returns:
            its elements, None when it is computed, large or lies in another file

        """
        import numpy as np
        from onnx import TensorProto, numpy_helper

        tensor = self.tensor(name)
        if tensor is None or tensor.data_location == TensorProto.EXTERNAL:
            return None
        if np.prod(tensor.dims, dtype=float) > _LARGEST_VALUE:
            return None
        try:
            return numpy_helper.to_array(tensor)
        except (KeyError, TypeError, ValueError):  # unknown type, too few elements
            return None

    def dims(self, name: str) -> tuple[int, ...] | None:
        """Give the shape of a constant or of a tensor that is declared with fixed axes.

        Args:
            name: tensor name; a table may be dequantised or transposed on its way

        Returns:
            sizes of all axes, ``-1`` for an open one, None when nothing is known

        """
        orders: list[Sequence[int] | None] = []
        for _ in range(len(self.producers) + 1):
            node = self.producers.get(name)
            if node is None or node.op_type not in ("DequantizeLinear", "Transpose"):
                break
            if node.op_type == "Transpose":
                orders.append(attribute(node, "perm"))
            name = operand(node, 0)
        dims = self._declared_dims(name)
        for order in reversed(orders):
            if dims is not None:
                dims = tuple(dims[axis] for axis in order) if order else dims[::-1]
        return dims

    def _declared_dims(self, name: str) -> tuple[int, ...] | None:
        """Give the shape of a constant, or of a tensor as the graph declares it."""
        tensor = self.tensor(name)
        if tensor is not None:
            return tuple(tensor.dims)
        if name not in self.types or not self.types[name].tensor_type.HasField("shape"):
            return None
        axes = self.types[name].tensor_type.shape.dim
        return tuple(axis.dim_value if axis.HasField("dim_value") else -1 for axis in axes)


def walk(model: onnx.ModelProto) -> Iterator[Scope]:
    """Give the main graph, every subgraph and every local function that is called.

    Args:
        model: parsed model

    Yields:
        scopes, a graph before what it holds, each function once

    """
    functions = {(f.domain, f.name): f for f in model.functions}
    called: set[tuple[str, str]] = set()
    open_scopes = [_graph_scope(model.graph, "", None)]
    while open_scopes:
        scope = open_scopes.pop()
        yield scope
        inner: list[Scope] = []
        for node in scope.nodes:
            inner.extend(scope.children(node))
            key = (node.domain, node.op_type)
            if key in functions and key not in called:
                called.add(key)
                inner.append(_function_scope(functions[key]))
        open_scopes.extend(reversed(inner))


def label(node: onnx.NodeProto) -> str:
    """Name a node, by its first output when it has no name of its own."""
    return node.name or next((name for name in node.output if name), node.op_type)


def operand(node: onnx.NodeProto, position: int) -> str:
    """Name an input of a node, empty when it is left out."""
    return node.input[position] if position < len(node.input) else ""


def attribute(node: onnx.NodeProto, name: str, default: Any = None) -> Any:
    """Read an attribute of a node.

    Args:
        node: node
        name: name of the attribute
        default: what to return when the node lacks it

    Returns:
        its value; the default also when a function's caller sets it

    """
    import onnx

    for entry in node.attribute:
        if entry.name == name and not entry.ref_attr_name:
            return onnx.helper.get_attribute_value(entry)
    return default


def subgraphs(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.GraphProto]]:
    """Give the graphs among the attributes of a node, each with the attribute's name."""
    for entry in node.attribute:
        if entry.HasField("g"):
            yield entry.name, entry.g
        for index, graph in enumerate(entry.graphs):
            yield f"{entry.name}[{index}]", graph


def _graph_scope(graph: onnx.GraphProto, path: str, parent: Scope | None) -> Scope:
    """Build the scope of a graph inside the scope that it lies in."""
    producers = _producers(graph.node)
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    declared = (*graph.input, *graph.output, *graph.value_info)
    types = {value.name: value.type for value in declared}
    return Scope(
        path,
        graph.node,
        tuple(value.name for value in graph.output),
        parent.producers.new_child(producers) if parent else ChainMap(producers),
        parent.tensors.new_child(tensors) if parent else ChainMap(tensors),
        parent.types.new_child(types) if parent else ChainMap(types),
        parent.function if parent else False,
    )


def _function_scope(function: onnx.FunctionProto) -> Scope:
    """Build the scope of a local function, which sees nothing of its caller."""
    return Scope(
        f"{function.domain}:{function.name}",
        function.node,
        tuple(function.output),
        ChainMap(_producers(function.node)),
        ChainMap(),
        function=True,
    )


def _producers(nodes: Sequence[onnx.NodeProto]) -> dict[str, onnx.NodeProto]:
    """Map each tensor to the node that makes it."""
    return {name: node for node in nodes for name in node.output if name}


def _constant(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """Read the value of a Constant node as a tensor."""
    import numpy as np
    from onnx import TensorProto, numpy_helper

    for entry in node.attribute:
        value = attribute(node, entry.name)
        if isinstance(value, TensorProto):
            return value
        if entry.name in ("value_int", "value_ints"):
            return numpy_helper.from_array(np.asarray(value, np.int64))
        if entry.name in ("value_float", "value_floats"):
            return numpy_helper.from_array(np.asarray(value, np.float32))
    return None
