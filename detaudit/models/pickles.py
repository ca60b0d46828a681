"""What a pickle names, read without unpickling it."""

from __future__ import annotations

import pickletools
import re
import struct
from dataclasses import dataclass
from typing import IO

_MAGIC = 0x1950A86A20F9469CFC6C
"""Number that begins what torch before 1.6 saved."""

_AFTER_MAGIC = 4
"""Version, system, the object itself, the keys of its storages."""

DAMAGE = (ValueError, EOFError, OverflowError, MemoryError, struct.error)
"""What reading a broken pickle raises."""

_STRINGS = ("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE")
_FETCHES = ("GET", "BINGET", "LONG_BINGET")
_STORES = ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE")
_WITHOUT_EFFECT = ("PROTO", "FRAME")
_CONTAINERS = ("EMPTY_DICT", "EMPTY_LIST", "MARK DICT", "MARK LIST")
_WHAT_TENSORS_NEED = re.compile(
    r"""
      collections\.(OrderedDict|Counter)
    | (builtins|__builtin__)\.(set|bytearray|complex)
    | _codecs\.encode
    | torch\.((cuda|sparse|cuda\.sparse)\.)?[A-Z][A-Za-z0-9]*(Storage|Tensor)
    | torch\.(Tensor|Size|device|bfloat16|bool)
    | torch\.(u?int|float|complex|bits|q?u?int)[0-9]\w*
    | torch\.per_(tensor|channel)_(affine|symmetric)(_float_qparams)?
    | torch\.nn\.parameter\.Parameter
    | torch\.storage\.(Typed|Untyped)Storage
    | torch\.serialization\._get_layout
    | torch\._tensor\._rebuild_from_type_v2
    | torch\._utils\._rebuild_(
          device_tensor_from_cpu_tensor | device_tensor_from_numpy | meta_tensor_no_storage
        | nested_tensor | parameter | parameter_with_state | qtensor | sparse_tensor
        | tensor | tensor_v2 | tensor_v3 | wrapper_subclass
      )
    """,
    re.VERBOSE,
)
_COMPUTED = "a name that is computed"


@dataclass(frozen=True, slots=True)
class Pickled:
    """What one pickle holds.

    Attributes:
        names: classes and functions that it imports, such as ``torch.Size``, each once
        container: whether it is a dict or a list, and no object of a class
        number: the integer that it is, None for anything else

    """

    names: tuple[str, ...]
    container: bool
    number: int | None

    @property
    def foreign(self) -> tuple[str, ...]:
        """Names that tensors and plain values do not need, torch's own last."""
        found = [name for name in self.names if not _WHAT_TENSORS_NEED.fullmatch(name)]
        return tuple(sorted(found, key=lambda name: name.startswith("torch.")))


def read_pickle(file: IO[bytes]) -> Pickled:
    """Read a pickle up to its end, without importing or calling anything.

    Args:
        file: open at the first byte of the pickle, left after its last

    Raises:
        ValueError: if it is damaged or cut off; so do the others in ``DAMAGE``

    Examples:
        >>> import io, pickle, pathlib
        >>> read_pickle(io.BytesIO(pickle.dumps(pathlib.PurePosixPath("a")))).names
        ('pathlib.PurePosixPath',)

    """
    names: dict[str, None] = {}
    memo: dict[int, str | None] = {}
    # What the last two operations left on the stack, None for all but texts.
    below: str | None = None
    top: str | None = None
    opening: list[str] = []
    number = None
    for operation, argument, _ in pickletools.genops(file):
        code = operation.name
        if code in _WITHOUT_EFFECT:
            continue
        if code in _STORES:
            memo[len(memo) if argument is None else int(argument)] = top
            continue
        if code in ("GLOBAL", "INST"):
            names[str(argument).replace(" ", ".")] = None
        elif code == "STACK_GLOBAL":
            names[_COMPUTED if below is None or top is None else f"{below}.{top}"] = None
        elif code.startswith("EXT"):
            names[f"extension {argument}"] = None
        pushed = None
        if code in _STRINGS:
            pushed = argument
        elif code in _FETCHES:
            pushed = memo.get(int(argument or 0))
        below, top = top, pushed
        if not opening and type(argument) is int:
            number = argument
        if len(opening) < 2:
            opening.append(code)
    plain = opening[0] in _CONTAINERS or " ".join(opening) in _CONTAINERS
    ordered = next(iter(names), "") == "collections.OrderedDict"
    return Pickled(tuple(names), plain or ordered, number if opening[1:] == ["STOP"] else None)


def read_saved(file: IO[bytes]) -> tuple[Pickled, ...]:
    """Read the pickles that torch before 1.6 wrote one after the other, or a single one.

    Args:
        file: open at the first byte

    Returns:
        the one pickle, or those of torch with that of the object first

    Raises:
        ValueError: if one is damaged or cut off; so do the others in ``DAMAGE``

    """
    first = read_pickle(file)
    if first.number != _MAGIC:
        return (first,)
    version, system, *saved = (read_pickle(file) for _ in range(_AFTER_MAGIC))
    return (*saved, version, system)
