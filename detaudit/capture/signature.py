"""What has to be fed, in types that NumPy has and with a name for every open axis."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from detaudit.errors import ModelError
from detaudit.models.model import Dimension, Model, TensorInfo

SIGNAL = "signal"
"""Input of a model whose own code turns a signal into what the graph takes."""

UNKNOWN = ("", "optional(tensor())")
"""Types of inputs that the code of a model does not tell."""

_DTYPES = {
    **{name: name for name in ("float16", "float32", "float64", "bool", "string")},
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_NARROW = re.compile(r"bfloat16|float8\w+|u?int[24]")
_OPTIONAL = re.compile(r"optional\(tensor\((\w+)\)\)")
_ONNX_NAMES = {"float": "float32", "double": "float64"}


@dataclass(frozen=True, slots=True)
class Entry:
    """An input as it is fed.

    Attributes:
        name: name in the graph
        dtype: NumPy's name of the type, ``string`` for text
        declared: type as the model declares it, such as ``bfloat16``
        axes: size of each fixed axis, name of each open one; an axis without a name is
            called by its place, such as ``x[1]``
        ranked: whether the model declares how many axes there are

    """

    name: str
    dtype: str
    declared: str
    axes: tuple[int | str, ...]
    ranked: bool = True

    @property
    def floating(self) -> bool:
        """Whether it holds floating-point values."""
        return self.dtype.startswith("float")

    @property
    def integral(self) -> bool:
        """Whether it holds integers."""
        return "int" in self.dtype

    @property
    def text(self) -> str:
        """Name, type and axes, as the user is shown them."""
        return f"{self.name} {self.declared} [{', '.join(map(str, self.axes))}]"

    def unnamed(self, position: int) -> bool:
        """Whether an axis is open and the model has no name for it."""
        return self.axes[position] == place(self.name, position)


def place(name: str, position: int) -> str:
    """Name of an axis that has none.

    Examples:
        >>> place("x", 1)
        'x[1]'

    """
    return f"{name}[{position}]"


def fed_inputs(model: Model, asked: Collection[str]) -> tuple[TensorInfo, ...]:
    """Inputs that have to be fed.

    Args:
        model: the model
        asked: inputs that the user gives something for

    Returns:
        inputs with types of NumPy or of those that are widened, in the model's order; optional
        ones only when they are asked for

    Raises:
        ModelError: if an input is of a type that no array can hold

    """
    if model.transform:
        return (TensorInfo(SIGNAL, "float32", ("samples",)),)
    found = []
    for info in model.inputs:
        optional = _OPTIONAL.fullmatch(info.dtype)
        if info.dtype.startswith("optional(") and info.name not in asked:
            continue
        element = optional.group(1) if optional else info.dtype
        dtype = _ONNX_NAMES.get(element, element)
        if dtype not in _DTYPES and not _NARROW.fullmatch(dtype):
            raise ModelError(
                f"{model.path}: input '{info.name}' is of type {info.dtype or 'unknown'}, which is"
                " not supported: inputs have to be tensors of real numbers, booleans or text"
            )
        found.append(TensorInfo(info.name, dtype, info.shape))
    return tuple(found)


def name_axes(inputs: tuple[TensorInfo, ...], ranks: Mapping[str, int]) -> tuple[Entry, ...]:
    """Inputs with a name for every open axis.

    Args:
        inputs: inputs that have to be fed
        ranks: number of axes of inputs whose rank the model leaves open; two where it is
            not given

    Examples:
        >>> name_axes((TensorInfo("x", "float32", ("n", None, 3)),), {})[0].axes
        ('n', 'x[1]', 3)

    """
    return tuple(
        Entry(
            info.name,
            _DTYPES.get(info.dtype, "float32"),
            info.dtype,
            tuple(_axis(info.name, position, size) for position, size in enumerate(shape)),
            ranked=info.shape is not None,
        )
        for info in inputs
        for shape in [(None,) * ranks.get(info.name, 2) if info.shape is None else info.shape]
    )


def _axis(name: str, position: int, size: Dimension) -> int | str:
    if isinstance(size, str):
        return size
    # Some exporters write -1 for an open axis.
    return place(name, position) if size is None or size < 0 else size
