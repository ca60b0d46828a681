"""States of the global generators as bytes, and whether one follows from another."""

from __future__ import annotations

import ctypes
import hashlib
import random
import sys
from array import array
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ..generators import DEVICE_KINDS, Generator, Pending, find_generators

WORDS = 624  # of a Mersenne twister, the generator of Python, NumPy and torch on the CPU
TORCH_KINDS = frozenset({"torch", *DEVICE_KINDS})
_CHUNK = 16  # blocks of so many words at a time
Step = Literal["same", "ahead", "behind", "unknown"]


@dataclass(frozen=True, slots=True, eq=False)
class Twister:
    """State of a Mersenne twister: a block of words, and how many of them are used up."""

    key: NDArray[np.uint32]
    used: int


def read_twisters() -> dict[str, Twister]:
    """States of the generators that are Mersenne twisters, by name."""
    _, words, _ = random.getstate()
    found = {"python": Twister(np.array(words[:-1], np.uint32), words[-1])}
    state: Any = np.random.get_state(legacy=False)
    if state["bit_generator"] == "MT19937":
        found["numpy"] = Twister(state["state"]["key"].copy(), int(state["state"]["pos"]))
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_rng_state"):  # its import has come so far
        # Seed, numbers left in the block, a flag, the next number, then the block; 64 bits a word.
        with _below_modes(torch):
            raw = _read_tensor(torch.get_rng_state())
        left = int.from_bytes(raw[8:12], sys.byteorder)
        key = np.frombuffer(raw, np.uint64, WORDS, 24).astype(np.uint32)
        found["torch"] = Twister(key, WORDS + 1 - left)
    return found


def is_numpy_seeded() -> bool:
    """Whether somebody seeded NumPy's generator: it then forgets the entropy that it began with."""
    bits: Any = np.random.mtrand._rand._bit_generator
    return getattr(bits, "_seed_seq", bits) is None


def compare(before: Twister, after: Twister, blocks: int) -> Step:
    """How one state follows from another.

    Args:
        before: The earlier state.
        after: The later state.
        blocks: How many blocks of 624 numbers to look for it, in either direction.

    Returns:
        ``ahead`` if numbers were drawn in between, ``behind`` if the generator was put back to
        an earlier point of the same sequence, ``unknown`` if neither was found.

    """
    if np.array_equal(before.key, after.key):
        if after.used == before.used:
            return "same"
        return "ahead" if after.used > before.used else "behind"
    if _leads_to(before, after, blocks):
        return "ahead"
    return "behind" if _leads_to(after, before, blocks) else "unknown"


def find_all(names: frozenset[str]) -> tuple[Generator, ...]:
    """Generators of these names that there are in this process."""
    found = find_generators(sys.modules.get("torch") if names & TORCH_KINDS else None)
    return tuple(one for one in found if one.name in names and one.read())


def read_bytes(generators: tuple[Generator, ...]) -> dict[str, bytes]:
    """States as bytes, by name; devices of one kind share theirs."""
    with _below_modes(sys.modules.get("torch")):
        return {one.name: b"".join(map(_to_bytes, one.read())) for one in generators}


def digest(state: bytes) -> str:
    """Eight hexadecimal digits that tell states apart."""
    return hashlib.blake2b(state, digest_size=4).hexdigest()


def _below_modes(torch: Any) -> AbstractContextManager[Any]:
    """Context that reads true states even where tensors are faked or operators are listened to."""
    guard = getattr(getattr(torch, "_C", None), "_DisableTorchDispatch", nullcontext)
    return cast(AbstractContextManager[Any], guard())


def _to_bytes(state: Any) -> bytes:
    if isinstance(state, Pending):
        return b"pending %d" % state.seed
    if isinstance(state, tuple):  # Python's
        return array("I", state[1]).tobytes() + repr(state[2]).encode()
    if isinstance(state, dict):  # NumPy's
        inner = state["state"]
        if "key" in inner:
            rest = (inner["pos"], state["has_gauss"], float(state["gauss"]))
            return bytes(inner["key"].tobytes()) + repr(rest).encode()
        return repr(state).encode()
    return _read_tensor(state)


def _read_tensor(state: Any) -> bytes:
    """Bytes of a state of torch.

    They are read where they lie: any operator would run into whatever the caller is about, such as
    ``torch.func.grad`` or ``torch.jit.trace``.
    """
    return ctypes.string_at(state.data_ptr(), state.numel())


def _leads_to(start: Twister, end: Twister, blocks: int) -> bool:
    twister = np.random.MT19937(0)
    twister.state = {"bit_generator": "MT19937", "state": {"key": start.key, "pos": WORDS}}
    target = _temper(end.key)
    while blocks > 0:
        rows = twister.random_raw(WORDS * _CHUNK).astype(np.uint32).reshape(_CHUNK, WORDS)
        if any(np.array_equal(rows[at], target) for at in np.flatnonzero(rows[:, 0] == target[0])):
            return True
        blocks -= _CHUNK
    return False


def _temper(key: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Numbers that a block of words gives."""
    words: NDArray[np.uint32] = key ^ (key >> np.uint32(11))
    words ^= (words << np.uint32(7)) & np.uint32(0x9D2C5680)
    words ^= (words << np.uint32(15)) & np.uint32(0xEFC60000)
    words ^= words >> np.uint32(18)
    return words
