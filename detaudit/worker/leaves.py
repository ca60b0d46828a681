"""Outputs of any type as plain arrays, each under the path that leads to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from detaudit.worker.bits import same_bytes


@dataclass(frozen=True)
class Leaf:
    """One array of an output.

    Attributes:
        path: such as ``logits``, ``boxes[2]`` or ``scores["cat"]``
        array: the values
        keys: names along the last axis when the values came from a map
        declared: type before it was widened into one that NumPy has, empty where it was not

    """

    path: str
    array: np.ndarray
    keys: tuple[str, ...] = ()
    declared: str = ""

    def equals(self, other: Leaf) -> bool:
        """Whether the digests have to be equal, told without making them."""
        return self.keys == other.keys and same_bytes(self.array, other.array)

    def digest(self) -> str:
        """SHA-256 over type, shape, keys and bytes (little endian), as hexadecimal text."""
        array = self.array
        sha = hashlib.sha256(json.dumps([array.dtype.kind, array.shape, self.keys]).encode())
        if array.dtype.kind in "OU":
            sha.update(json.dumps([str(item) for item in array.ravel().tolist()]).encode())
        else:
            sha.update(array.dtype.newbyteorder("<").str.encode())
            little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
            sha.update(little.reshape(-1).view(np.uint8).data)
        return sha.hexdigest()


def leaves(path: str, value: Any) -> Iterator[Leaf]:
    """Walk through an output.

    A sequence also yields its length, a missing optional its absence, so that a change of
    structure is a change of values too.

    Args:
        path: name of the output
        value: array, number, text, list, map or None

    Yields:
        the arrays in it

    """
    if value is None:
        yield Leaf(f"present({path})", np.array(False))
    elif isinstance(value, dict):
        yield from _map(path, [value], single=True)
    elif isinstance(value, (list, tuple)):
        if value and all(isinstance(item, dict) for item in value):
            yield from _map(path, value, single=False)
            return
        yield Leaf(f"len({path})", np.array(len(value), np.int64))
        for index, item in enumerate(value):
            yield from leaves(f"{path}[{index}]", item)
    else:
        array = np.asarray(value)
        yield Leaf(path, array.astype(np.str_) if array.dtype.kind == "O" else array)


def tell_apart(found: Iterable[Leaf]) -> Iterator[Leaf]:
    """Leaves under paths of which no two are the same.

    A key may be called as the path to something else is written.

    Args:
        found: leaves of one call

    Examples:
        >>> twice = [Leaf("a[0]", np.zeros(1)), Leaf("a[0]", np.ones(1))]
        >>> [leaf.path for leaf in tell_apart(twice)]
        ['a[0]', 'a[0] (2)']

    """
    taken: set[str] = set()
    for leaf in found:
        number, path = 1, leaf.path
        while path in taken:
            number += 1
            path = f"{leaf.path} ({number})"
        taken.add(path)
        yield leaf if path == leaf.path else replace(leaf, path=path)


def _map(path: str, rows: Sequence[dict[Any, Any]], single: bool) -> Iterator[Leaf]:
    """Maps with the same keys and one number each become one array [rows, keys]."""
    keys = _sort_keys(rows[0])
    flat = all(row.keys() == rows[0].keys() for row in rows) and all(
        np.ndim(value) == 0 and not isinstance(value, (dict, list))
        for row in rows
        for value in row.values()
    )
    if flat and keys:
        values = np.array([[row[key] for key in keys] for row in rows])
        narrow = values.astype(np.float32) if values.dtype == np.float64 else values
        if np.array_equal(narrow, values, equal_nan=narrow.dtype.kind == "f"):
            # ONNX maps hold float32, which the runtime hands over as Python numbers.
            values = narrow
        yield Leaf(path, values[0] if single else values, tuple(str(key) for key in keys))
        return
    for index, row in enumerate(rows):
        inner = path if single else f"{path}[{index}]"
        yield Leaf(f"len({inner})", np.array(len(row), np.int64))
        for key in _sort_keys(row):
            yield from leaves(f"{inner}[{json.dumps(key)}]", row[key])


def _sort_keys(row: dict[Any, Any]) -> list[Any]:
    """Keys in an order that does not depend on how the map was built."""
    return sorted(row, key=lambda key: (type(key).__name__, key))
