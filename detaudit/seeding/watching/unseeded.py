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
from .place import name_module
from .wrap import Conclude, wrap

_GROUP = "unseeded"
_LINES = 3  # that a call may stretch over
_MAKERS = ("RandomState", "SeedSequence", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_CALLS = re.compile(rf"\b({'|'.join(_MAKERS)})\(\s*(?:seed\s*=\s*|entropy\s*=\s*)?(\w*)\s*\)")


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
    if call.get(0, "seed") is not None or call.is_own:
        return None
    return _conclude(call, "numpy", "numpy.random.default_rng()")


def _observe_entropy(call: Call) -> Conclude | None:
    maker = None if call.is_own else _name_maker(call)
    return None if maker is None else _conclude(call, "numpy", f"numpy.random.{maker}()")


def _observe_random(call: Call) -> Conclude | None:
    own = call.args[0] if call.args else None
    if call.get(1, "x") is not None or isinstance(own, random.SystemRandom):
        return None
    if call.is_own or _names_files(call.frame):
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


def _name_maker(call: Call) -> str | None:
    """Name of the class whose call without a seed stands in the line; None if there is none.

    Extension code has no frame that could tell, and a RandomState asks for entropy even if it
    has a seed.
    """
    code, line = call.frame.f_code, call.frame.f_lineno
    text = "".join(linecache.getline(code.co_filename, line + more) for more in range(_LINES))
    names = {**call.frame.f_globals, **call.frame.f_locals}
    for maker, argument in _CALLS.findall(text):
        if argument in ("", "None") or names.get(argument, argument) is None:
            return str(maker)
    return None
