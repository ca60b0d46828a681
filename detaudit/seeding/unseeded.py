"""What a seed does not reach."""

from __future__ import annotations

import os
import sys

FOREIGN = ("cupy", "jax", "mxnet", "paddle", "tensorflow")


def list_unseeded(seeded: set[str], *, runtimes: bool) -> list[dict[str, str]]:
    """Sources of randomness that a call of ``set_seeds`` left as they are.

    Args:
        seeded: Keys of the generators that were seeded.
        runtimes: Whether ONNX Runtime was asked for.

    Returns:
        Rows of ``what`` and ``why``.

    """
    rows = [
        (
            "numpy.random.default_rng()",
            "a generator of its own: without a seed it starts from the operating system's entropy",
        ),
        (
            "random.Random(), torch.Generator(), numpy.random.RandomState()",
            "generators of their own: each is seeded where it is made",
        ),
        (
            "random in forked processes",
            "Python seeds it anew from the operating system's entropy in every child",
        ),
    ]
    if not _is_hash_fixed():
        why = (
            "PYTHONHASHSEED acts at interpreter start only and was not set to a number: "
            "the order of sets can differ between processes"
        )
        rows.append(("hash of str and bytes", why))
    if "torch" not in seeded:
        missing = sys.modules.get("torch") is None
        rows.append(("torch", f"{'not imported' if missing else 'left alone'}; see torch=True"))
    if "onnxruntime" not in seeded:
        rows.append(("onnxruntime", "cannot be imported" if runtimes else "see runtimes=True"))
    rows += [
        (name, "imported, and keeps its own generators: seed it yourself")
        for name in FOREIGN
        if name in sys.modules
    ]
    return [{"what": what, "why": why} for what, why in rows]


def _is_hash_fixed() -> bool:
    if not sys.flags.hash_randomization:
        return True
    value = os.environ.get("PYTHONHASHSEED", "")
    return value.isdigit() and not sys.flags.ignore_environment
