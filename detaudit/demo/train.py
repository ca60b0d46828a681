"""Train, package and measure the bundled model: ``python -m detaudit.demo.train``.

Needs torch, onnx and audonnx. On one machine, with the same versions and number of threads,
a second run gives the same files.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from detaudit.demo.card import write_card
from detaudit.demo.network import Network
from detaudit.demo.package import write_model
from detaudit.demo.sounds import KINDS, draw_duration, draw_sound
from detaudit.demo.voice import draw_voice, write_voice
from detaudit.seeding import set_seeds, stream

Batch = tuple[Tensor, Tensor, Tensor]


def draw_batches(seed: int, count: int, size: int) -> list[Batch]:
    """Draw the training sounds, in batches of equal duration.

    Args:
        seed: seed of the streams
        count: number of batches
        size: sounds per batch

    Returns:
        per batch: signals, float32, shape ``(size, samples)``;
        pitch, level and noisiness, float32, shape ``(size, 3)``; kinds, int64, shape ``(size,)``

    """
    batches = []
    for batch in range(count):
        samples = draw_duration(seed, f"demo/train/{batch}")
        sounds = [draw_sound(seed, f"demo/train/{batch}/{item}", samples) for item in range(size)]
        batches.append(
            (
                torch.from_numpy(np.stack([sound.signal for sound in sounds])),
                torch.from_numpy(np.stack([sound.values for sound in sounds])).float(),
                torch.tensor([KINDS.index(sound.kind) for sound in sounds]),
            )
        )
    return batches


def measure_loss(network: Network, batch: Batch) -> Tensor:
    """Loss of a batch: absolute errors plus cross entropy.

    Only voices have a pitch, so the pitch of other sounds costs nothing.

    Args:
        network: network to train
        batch: one batch of :func:`draw_batches`

    Returns:
        scalar

    """
    signals, values, kinds = batch
    prosody, voicing = network(signals)
    known = ~values.isnan()
    errors = torch.where(known, prosody - values.nan_to_num(), 0.0).abs()
    means = errors.sum(dim=0) / known.sum(dim=0).clamp(min=1)
    return 5 * means.sum() + functional.cross_entropy(voicing, kinds)


def train(seed: int, epochs: int, batches: int, size: int) -> Network:
    """Train the network from scratch.

    Args:
        seed: seed of the weights, the sounds and their order
        epochs: number of passes over the sounds
        batches: number of batches
        size: sounds per batch

    Returns:
        trained network in evaluation mode

    """
    set_seeds(seed, deterministic=True, torch=True)
    network = Network()
    data = draw_batches(seed, batches, size)
    optimiser = torch.optim.AdamW(network.parameters(), lr=4e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=4e-3, total_steps=epochs * batches
    )
    for epoch in range(epochs):
        if epoch == epochs * 2 // 3:
            network.freeze_norms()
        total = 0.0
        for index in np.argsort(stream(seed, f"demo/order/{epoch}").uniform(0, 1, batches)):
            optimiser.zero_grad()
            loss = measure_loss(network, data[index])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{epochs}: loss {total / batches:.4f}", flush=True)
    network.eval()
    return network


def main(arguments: list[str] | None = None) -> None:
    """Train, then write ``model.zip``, ``voice.wav`` and ``card.json``.

    Args:
        arguments: command line, ``None`` for that of the process

    """
    parser = argparse.ArgumentParser(prog="python -m detaudit.demo.train", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--size", type=int, default=32, help="sounds per batch")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    network = train(options.seed, options.epochs, options.batches, options.size)
    options.out.mkdir(parents=True, exist_ok=True)
    write_model(network, options.out / "model.zip")
    voice = draw_voice(options.seed)
    write_voice(voice, options.out / "voice.wav")
    training = {
        "seed": options.seed,
        "epochs": options.epochs,
        "batches": options.batches,
        "batch_size": options.size,
        "threads": options.threads,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
    }
    write_card(options.out, training=training, voice=voice)


if __name__ == "__main__":
    main()
