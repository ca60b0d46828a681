"""Small torch models, named as a user would: ``zoo.py:Dropping``."""

from __future__ import annotations

import ctypes
import dataclasses
import importlib.util
import os
import sys
import time
import types
from pathlib import Path

import torch
from torch import nn


class Plain(nn.Module):
    """Nothing unusual; draws its weights, returns a nested dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 4)
        self.example_inputs = (torch.zeros(2, 8),)

    def forward(self, x: torch.Tensor) -> dict[str, object]:
        hidden = torch.relu(self.first(x))
        return {"logits": self.second(hidden), "more": {"sums": [hidden.sum(-1), (x * 2,)]}}


class Second(nn.Linear):
    """The second layer of the above, which does not tell its input."""

    def __init__(self) -> None:
        super().__init__(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x)


class Single(nn.Module):
    """One tensor in, one tensor out."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)
        self.example_inputs = torch.zeros(2, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


class Dropping(Single):
    """Dropout and batch norm, left in training mode."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.drop(self.layer(x)))


class BatchStatistics(Single):
    """Batch norm that keeps no statistics, so that each item depends on the others."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4, track_running_stats=False)
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.layer(x))


class Drawing(Single):
    """Draws numbers at every call."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + torch.rand(4)


class Reseeding(Single):
    """Seeds the generator of everybody before it draws."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(5)
        return self.layer(x) + torch.rand(4)


class Keeping(Single):
    """Keeps a tensor that is neither weight nor buffer, another one in every session."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = torch.tensor(time.time(), dtype=torch.float64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + self.begun


def loaded() -> nn.Module:
    """A module that was fed by a process of its own while it was built."""
    from torch.utils.data import DataLoader

    model = Single()
    for (batch,) in DataLoader([(torch.ones(8),)] * 2, num_workers=1):
        model(batch)
    return model


def compiled() -> nn.Module:
    """A module that comes compiled."""
    model = torch.compile(Single(), backend="eager")
    model.example_inputs = torch.zeros(2, 8)
    return model


class DrawingThere(Single):
    """Draws numbers where its input lies."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + torch.rand(4, device=x.device)


class Counting(Single):
    """A histogram with weights, which adds in any order on a GPU."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.zeros(x.numel(), dtype=torch.int64, device=x.device)
        return torch.bincount(places, weights=x.flatten())


class Convolving(nn.Module):
    """Convolutions and products, in which devices differ."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, 32, 25, stride=5), nn.ReLU(), nn.Conv1d(32, 32, 9), nn.Flatten()
        )
        self.head = nn.Linear(32 * 188, 3)
        self.example_inputs = torch.zeros(1, 1, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(x))


class Putting(Single):
    """An operation that has no deterministic implementation on the CPU either."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.tensor([0, 0])
        return self.layer(x) + torch.zeros(4).put_(places, x[0, :2])


class Scattering(Single):
    """Two values for one place."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.zeros(2, 4, dtype=torch.int64)
        return torch.zeros(2, 4).scatter(1, places, self.layer(x))


class Crashing(Single):
    """Reads where nothing is."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ctypes.string_at(0)
        return x


class Embedding(nn.Module):
    """Token ids that have to stay inside a table."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 3)
        self.example_inputs = {"ids": torch.tensor([[0, 9, 4]])}

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(ids)


@dataclasses.dataclass
class Answer:
    """What a model may return."""

    scores: torch.Tensor
    extra: tuple[torch.Tensor, int]


class Ambiguous(Single):
    """A key that is called as the path to another value is written."""

    def forward(self, x: torch.Tensor) -> dict[str, object]:
        return {"a[0]": self.layer(x), "a": [x]}


class Structured(Single):
    """Returns a data class."""

    def forward(self, x: torch.Tensor) -> Answer:
        return Answer(self.layer(x), (x.mean(), 3))


class Unfed(nn.Module):
    """Tells nothing of its input."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Scaling(nn.Module):
    """Has an input that may be left out."""

    def forward(self, x: torch.Tensor, scale: torch.Tensor | None = None) -> torch.Tensor:
        return x if scale is None else x * scale


class PerProcess(Single):
    """Is another model in every process, whatever the seed."""

    def __init__(self) -> None:
        super().__init__()
        with torch.no_grad():
            self.layer.bias.add_(os.getpid())


def fail() -> nn.Module:
    """Raise, as code with a mistake does."""
    return nn.Linear(8, 1 // 0)


def crepe() -> nn.Module:
    """Pitch tracker whose code lies where ``CREPE_CODE`` says."""
    package = types.ModuleType("torchcrepe")
    package.PITCH_BINS = 360
    sys.modules["torchcrepe"] = package
    code = Path(os.environ["CREPE_CODE"])
    spec = importlib.util.spec_from_file_location("torchcrepe.model", code)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.Crepe("tiny").eval()
    model.example_inputs = torch.zeros(16, 1024)
    return model


class Emotion(nn.Module):
    """Wav2vec 2.0 network with a head of three values, in the shape of published models."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import Wav2Vec2Config, Wav2Vec2Model

        config = Wav2Vec2Config(
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            conv_dim=(32,) * 7,
            feat_extract_norm="layer",
            do_stable_layer_norm=True,
            num_conv_pos_embeddings=16,
            num_conv_pos_embedding_groups=4,
            attn_implementation="eager",
        )
        self.encoder = Wav2Vec2Model(config)
        self.head = nn.Linear(64, 3)
        self.eval()
        self.example_inputs = torch.zeros(1, 16_000)

    def forward(self, signal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden_states = self.encoder(signal).last_hidden_state.mean(dim=1)
        return hidden_states, self.head(hidden_states)


class NamedEmotion(Emotion):
    """The same with names for its outputs."""

    def forward(self, signal: torch.Tensor) -> dict[str, torch.Tensor]:
        return dict(zip(("hidden_states", "logits"), super().forward(signal), strict=True))
