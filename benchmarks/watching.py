"""What a watch costs: draws and a model's forward inside of it, against the same without one.

Bounds: 1,000 calls of ``torch.rand`` take at most 20 % longer, whether torch is seeded or not, and
a forward at most 2 %. What opening and closing takes is printed beside them, and so is what
recording every draw costs. Both sides run on one thread in turns, in processor time; the medians
count.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from statistics import median

from measure import alternate, describe_machine, hold

_DRAWS = 1000
_DRAW_BOUND = 1.2
_FORWARD_BOUND = 1.02


def main() -> int:
    """Measure, print, and return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    import torch

    torch.set_num_threads(1)
    print(describe_machine("numpy", "torch"))

    def draw() -> None:
        for _ in range(_DRAWS):
            torch.rand(1)

    results = [
        compare(f"{_DRAWS} torch.rand, seeded", draw, rounds, seeded=True, bound=_DRAW_BOUND),
        compare(f"{_DRAWS} torch.rand, not seeded", draw, rounds, seeded=False, bound=_DRAW_BOUND),
    ]
    for name, forward in make_forwards().items():
        results.append(
            compare(f"forward of {name}", forward, rounds, seeded=True, bound=_FORWARD_BOUND)
        )
    print_extras(draw, max(1, rounds // 20))
    return 0 if all(results) else 1


def make_forwards() -> dict[str, Callable[[], object]]:
    """Forwards of a small convolutional network and a small transformer, ready to be called."""
    import torch
    from torch import nn

    def prepare(model: nn.Module, *shape: int) -> Callable[[], object]:
        model.eval()
        value = torch.zeros(shape)

        def forward() -> None:
            with torch.inference_mode():
                for _ in range(10):
                    model(value)

        return forward

    convolution = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(),
        nn.Linear(16, 4),
    )
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    transformer = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return {
        "a convolutional network": prepare(convolution, 1, 3, 32, 32),
        "a transformer": prepare(transformer, 1, 32, 64),
    }


def compare(
    what: str, work: Callable[[], object], rounds: int, *, seeded: bool, bound: float
) -> bool:
    """Measure work within a watch and without one, and print the ratio beside its bound."""
    within, without = alternate(
        rounds, lambda: measure(work, seeded, watched=True), lambda: measure(work, seeded)
    )
    print(
        f"        {what}: {median(without) * 1e3:.3f} ms without,"
        f" {median(within) * 1e3:.3f} ms within a watch (medians of {rounds})"
    )
    return hold(f"{what}, within over without", median(within) / median(without), bound)


def measure(
    work: Callable[[], object], seeded: bool, *, watched: bool = False, draws: bool = False
) -> float:
    """Processor seconds of work inside of a context that is open already."""
    import torch

    from detaudit.seeding import watch
    from detaudit.seeding.known import return_to_known

    torch.seed()
    return_to_known(frozenset())
    with watch(draws=draws) if watched or draws else nullcontext():
        if seeded:
            torch.manual_seed(1)
        start = time.process_time()
        work()
        return time.process_time() - start


def print_extras(draw: Callable[[], object], rounds: int) -> None:
    """What has no bound: opening and closing a watch, and recording every draw."""
    from detaudit.seeding import watch

    def open_and_close() -> float:
        start = time.process_time()
        with watch():
            pass
        return time.process_time() - start

    spans = [open_and_close() for _ in range(rounds)]
    print(f"        opening and closing a watch: {median(spans) * 1e3:.1f} ms")
    recorded, without = alternate(
        rounds, lambda: measure(draw, True, draws=True), lambda: measure(draw, True)
    )
    print(
        f"        {_DRAWS} torch.rand with draws=True: {median(recorded) * 1e3:.1f} ms,"
        f" {median(recorded) / median(without):.0f} times as long"
    )


if __name__ == "__main__":
    sys.exit(main())
