"""Likely causes of drift in what torch runs, in words."""

from __future__ import annotations

from collections.abc import Iterable

from detaudit.judge.causes import name_some, plural
from detaudit.record import TargetRecord
from detaudit.traits import OpTrait, Traits

_GENERATORS = {"numpy": "NumPy", "python": "Python's random"}
_FIRST = (
    "The first call may run in another way than later ones (torch.compile, TorchScript and cuDNN"
    " choose and optimise as they go): never drop it as a warm-up."
)


def name_ops(ops: Iterable[OpTrait]) -> str:
    """Operators with the modules that called them.

    Examples:
        >>> name_ops([OpTrait("aten.bernoulli_", "drop (Dropout)"), OpTrait("aten.rand", "")])
        'aten.bernoulli_ in drop (Dropout), aten.rand'

    """
    return name_some(f"{op.op} in {op.module}" if op.module else op.op for op in ops)


def name_draws(traits: Traits) -> str:
    """What draws random numbers, in words; empty where nothing does.

    Examples:
        >>> name_draws(Traits(draws=("torch", "numpy")))
        'from the generators of torch, NumPy'
        >>> name_draws(Traits(random_ops=(OpTrait("aten.rand", ""),), draws=("torch", "python")))
        "aten.rand, and from the generators of Python's random"

    """
    # Operators are what moves torch's own generators.
    unexplained = [d for d in traits.draws if d in _GENERATORS or not traits.random_ops]
    generators = name_some(_GENERATORS.get(draw, draw) for draw in unexplained)
    parts = [name_ops(traits.random_ops)] if traits.random_ops else []
    parts += [f"from the generators of {generators}"] if generators else []
    return ", and ".join(parts)


def explain_torch_drift(
    target: TargetRecord, scope: str, *, first_differs: bool, seeded: bool
) -> str:
    """Why results of a target differ, and what to try.

    Args:
        target: what happened on it
        scope: narrowest scope in which they differ
        first_differs: whether only the first run differs from the rest
        seeded: whether every process was seeded

    """
    traits = target.traits
    draws = name_draws(traits)
    if draws:
        colon = ":" if traits.random_ops else ""
        goes_on = _SEEDS_ITSELF if traits.seeds else _GOES_ON
        cause = goes_on if scope == "run" else _SEEDED if seeded else _UNSEEDED
        told = f"The model draws random numbers{colon} {draws}. {cause}"
        again = _tell_reseeded(traits)
        if traits.reseeded_calls and not traits.reseeded_equal:
            return f"{told}{again} {_explain_kernels(target, scope)}"
        return told + again
    if traits.changed_weights:
        names = name_some(traits.changed_weights)
        return f"Calls change what the model holds ({names}), and later ones go on from there."
    if first_differs:
        return _FIRST
    return _explain_kernels(target, scope)


_GOES_ON = "Every call goes on where the last one ended."
_SEEDS_ITSELF = "It seeds them itself at every call, with another seed each time."
_SEEDED = "All had the same seed: one generator is out of its reach, or another cause adds to it."
_UNSEEDED = "Nothing seeded them: leave out --no-seed."


def _tell_reseeded(traits: Traits) -> str:
    if not traits.reseeded_calls:
        return ""
    calls = plural(traits.reseeded_calls, "call")
    if traits.reseeded_equal:
        return f" With the seed set right before each call, {calls} gave the same bits."
    return (
        f" With the seed set right before each call, {calls} still differed: a seed alone does not"
        " cure it."
    )


def _explain_kernels(target: TargetRecord, scope: str) -> str:
    """Causes beside random numbers."""
    forced = target.target.option("deterministic") == "1"
    if target.target.family == "cuda":
        named = name_some(target.traits.nondeterministic)
        advice = "compare deterministic=1"
        if forced:
            advice = "this was in deterministic mode, which torch's own operators obey alone"
        elif named:
            advice += f", which refuses {named}"
        return {
            "run": f"Sums with atomic additions finish in any order on a GPU: {advice}.",
            "session": "cuDNN and cuBLAS may choose their algorithms anew"
            f"{_tell_benchmark(target)}: {advice}.",
            "process": "What is chosen once per process, such as an algorithm or a plan, differs"
            f"{_tell_benchmark(target)}: {advice}.",
        }[scope]
    return {
        "run": "What makes calls differ, no look at them showed: it may be something that the"
        " model keeps from call to call (a cache, a counter), what it draws or reads elsewhere"
        " (the time, the system, a generator of its own), or threads that finish in any order:"
        " compare threads=1.",
        "session": "Something is chosen when the model is built or first called.",
        "process": "Something is drawn or chosen once per process: seeds, hash order, addresses.",
    }[scope]


def _tell_benchmark(target: TargetRecord) -> str:
    on = target.effective.get("flags", {}).get("cudnn_benchmark")
    return " (torch.backends.cudnn.benchmark is on, which times them)" if on else ""
