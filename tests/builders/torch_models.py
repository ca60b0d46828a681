"""Models that torch exports; their tests carry the marker ``modern``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any


def lstm_from_torch(folder: Path, hidden: int = 16) -> Path:
    """Export a 3-layer LSTM that gives its final states (B2), the twin of `lstm_final_state`.

    Inputs x [time, batch, 8], h0 and c0 [3, batch, hidden]. With ONNX Runtime 1.17 a time of 2 and
    a batch of 3 or more make the first run differ from the rest.
    """
    import torch

    class FinalState(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(8, hidden, 3)

        def forward(self, x: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor) -> torch.Tensor:
            return self.lstm(x, (h0, c0))[1][0]

    state = torch.zeros(3, 4, hidden)
    return export(
        folder / "lstm_from_torch.onnx",
        FinalState,
        {"x": torch.zeros(2, 4, 8), "h0": state, "c0": state},
        ["final"],
        {"x": {0: "time", 1: "batch"}, "h0": {1: "batch"}, "c0": {1: "batch"}},
    )


def wav2vec_tiny(folder: Path) -> Path:
    """Export a wav2vec 2.0 network of random weights with a head of three values.

    Input ``signal`` [1, time] at 16 kHz, outputs ``hidden_states`` [1, 64] and ``logits`` [1, 3]
    (arousal, dominance, valence): the shape of the emotion models that people publish.
    """
    import torch

    from tests.builders.zoo import Emotion

    return export(
        folder / "wav2vec_tiny.onnx",
        Emotion,
        {"signal": torch.zeros(1, 16_000)},
        ["hidden_states", "logits"],
        {"signal": {1: "time"}},
    )


def export(
    path: Path,
    make: Any,
    inputs: dict[str, Any],
    outputs: list[str],
    axes: dict[str, dict[int, str]],
) -> Path:
    """Export a module made under a fixed seed; torch's generator is left as it was."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    with torch.random.fork_rng(), warnings.catch_warnings():
        # The exporter that needs no further package calls itself old.
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        torch.onnx.export(
            make().eval(),
            tuple(inputs.values()),
            path,
            input_names=list(inputs),
            output_names=outputs,
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
    return path
