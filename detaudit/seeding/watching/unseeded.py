"""Generators that are made without a seed."""

from __future__ import annotations

import linecache
import random
import re
from types import FrameType
from typing import Any

import numpy as np

from .desk import Call, desk
from .patch import Target
from .place import Place, name_module
from .wrap import Conclude, wrap

_GROUP = "unseeded"
_MAKERS = ("RandomState", "SeedSequence", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def list_makers() -> list[Target]:
    """What makes generators of NumPy and of Python, or the entropy that they start from."""
    default_rng = np.random.default_rng
    # Classes of NumPy cannot be wrapped; all of them ask this one function for entropy.
    randbits = np.random.bit_generator.randbits  # type: ignore[attr-defined]
    init = random.Random.__init__
    return [
        Target(
            _GROUP,
            default_rng,
            wrap(default_rng, "numpy.random.default_rng", _observe_rng, module="numpy.random"),
        ),
        Target(_GROUP, randbits, wrap(randbits, "numpy.random", _observe_entropy)),
        Target(
            _GROUP, init, wrap(init, "random.Random", _observe_random), random.Random, "__init__"
        ),
    ]


def _observe_rng(call: Call) -> Conclude | None:
    if call.get(0, "seed") is not None or call.is_housekeeping:
        return None
    return _conclude(call, "numpy", "numpy.random.default_rng()")


def _observe_entropy(call: Call) -> Conclude | None:
    if call.is_housekeeping:
        return None
    return _conclude(call, "numpy", _name_maker(call.locate()))


def _observe_random(call: Call) -> Conclude | None:
    own = call.args[0] if call.args else None
    if call.get(1, "x") is not None or isinstance(own, random.SystemRandom):
        return None
    if call.is_housekeeping or _names_files(call.frame):
        return None
    return _conclude(call, "python", f"{_name_class(own)}()")


def _conclude(call: Call, generator: str, what: str) -> Conclude:
    return lambda _: desk.report("unseeded-generator", generator, what, call.locate())


def _name_class(own: Any) -> str:
    kind = type(own)
    return "random.Random" if kind is random.Random else f"{kind.__module__}.{kind.__qualname__}"


def _names_files(frame: FrameType) -> bool:
    """Python's own ``tempfile`` draws names of files, which nobody wants to repeat."""
    return name_module(frame) == "tempfile"


def _name_maker(place: Place) -> str:
    """Name of the class as the line has it: extension code has no frame that could tell."""
    line = linecache.getline(place.file, place.line)
    found = set(re.findall(rf"\b({'|'.join(_MAKERS)})\(", line))
    return f"numpy.random.{found.pop()}()" if len(found) == 1 else "numpy.random, a new generator"
