"""What further calls show of a model, once all its runs are over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detaudit.seeding import Event, get_seeds_state, watch
from detaudit.seeding.generators import NumpyGenerator, PythonGenerator, TorchGenerator
from detaudit.worker.torch.alerts import collect_alerts
from detaudit.worker.torch.blame import first_line
from detaudit.worker.torch.outputs import walk_outputs
from detaudit.worker.torch.training import find_training
from detaudit.worker.torch.weights import digest_weights

if TYPE_CHECKING:
    from detaudit.worker.torch.live import TorchLive

_RESEEDED = 3


def probe(live: TorchLive, values: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Traits of a model; a look that fails becomes a note and harms no other.

    Args:
        live: the model of the last session; it is called uncompiled
        values: inputs of the first sample
        seed: what the generators are seeded with right before the calls that compare

    Returns:
        plain form of ``detaudit.traits.Traits``

    """
    notes = list(live.notes)
    traits: dict[str, Any] = {
        "random_ops": [],
        "unordered_ops": [],
        "training": [],
        "draws": [],
        "seeds": [],
        "reseeded_calls": 0,
        "reseeded_equal": False,
        "changed_weights": [],
        "nondeterministic": [],
        "notes": notes,
    }
    with _noted(notes, "its modules"):
        traits["training"] = find_training(live.model)
    with _noted(notes, "the random numbers that it draws"):
        traits["draws"], traits["seeds"] = _find_draws(live, values)
    with _noted(notes, "its operators"):
        traits |= _watch_ops(live, values)
    if traits["draws"] or traits["random_ops"]:
        with _noted(notes, "calls that are seeded anew"):
            traits["reseeded_equal"] = _repeats_reseeded(live, values, seed)
            traits["reseeded_calls"] = _RESEEDED
    if live.effective["deterministic"] == "warn_only":
        with _noted(notes, "its deterministic mode"):
            traits["nondeterministic"] = collect_alerts(lambda: live.run_plain(values))
    with _noted(notes, "its weights"):
        after = digest_weights(live.model)
        traits["changed_weights"] = sorted(
            name for name, digest in after.items() if live.digests.get(name) != digest
        )
    return traits


@contextmanager
def _noted(notes: list[str], what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        notes.append(f"{what} could not be looked at: {first_line(error)}")


def _find_draws(live: TorchLive, values: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Generators that a call moves, and the seeds that it gives them."""
    before = get_seeds_state()
    with watch() as seen:
        live.run_plain(values)
    after = get_seeds_state()
    moved = sorted(name for name in before if name != "flags" and before[name] != after[name])
    return moved, [_tell(event) for event in seen.events if event.kind in ("seed", "reseed")]


def _tell(event: Event) -> str:
    return f"{event.what} at {Path(event.file).name}:{event.line}" if event.file else event.what


def _watch_ops(live: TorchLive, values: Mapping[str, Any]) -> dict[str, Any]:
    from detaudit.worker.torch.ops import OpWatch

    watch = OpWatch(live.model)
    with watch.watching():
        live.run_plain(values)
    return {
        "random_ops": [{"op": op, "module": module} for op, module in watch.random],
        "unordered_ops": [{"op": op, "module": module} for op, module in watch.unordered],
    }


def _repeats_reseeded(live: TorchLive, values: Mapping[str, Any], seed: int) -> bool:
    """Whether calls give the same bits when the seed is set right before each."""
    import torch

    results = []
    for _ in range(_RESEEDED):
        for generator in (PythonGenerator(), NumpyGenerator(), TorchGenerator(torch)):
            generator.seed(seed)
        leaves = walk_outputs(live.run_plain(values), live.asked)
        results.append([(leaf.path, leaf.digest()) for leaf in leaves])
    return all(result == results[0] for result in results)
