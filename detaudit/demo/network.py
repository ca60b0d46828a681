"""The network of the bundled model."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from detaudit.demo.sounds import KINDS, SAMPLING_RATE, VALUES

FLOOR = 1e-8
"""Power added before a logarithm, below that of the faintest sounds."""


class Network(nn.Module):  # type: ignore[misc]
    """Raw signal in, prosody and voicing out.

    A learned filter bank (one strided convolution, its filters in pairs whose squares add up),
    its logarithm, residual gated convolutions, attention-weighted mean and deviation over time,
    and beside them the mean power of each band, which holds the level.

    Args:
        bands: number of filter pairs and of channels
        kernel: length of a filter in samples
        stride: samples between two frames
        blocks: number of residual blocks

    """

    def __init__(
        self, bands: int = 40, kernel: int = 288, stride: int = 16, blocks: int = 3
    ) -> None:
        super().__init__()
        self.filters = nn.Conv1d(
            1, 2 * bands, kernel, stride=stride, padding=kernel // 2, bias=False
        )
        self.filters.weight.data = _windowed_waves(bands, kernel)
        self.bands = bands
        self.norm = nn.BatchNorm1d(bands)
        self.blocks = nn.Sequential(*(Block(bands, 2 ** (index + 1)) for index in range(blocks)))
        self.attention = nn.Conv1d(bands, bands, 1)
        self.statistics = nn.LayerNorm(2 * bands)
        self.hidden = nn.Sequential(nn.Linear(3 * bands, bands), nn.GELU())
        self.prosody = nn.Linear(bands, len(VALUES))
        self.voicing = nn.Linear(bands, len(KINDS))

    def forward(self, signal: Tensor) -> tuple[Tensor, Tensor]:
        """Compute both outputs.

        Args:
            signal: float32, shape ``(batch, samples)``, at 16 kHz

        Returns:
            prosody in 0..1 and class scores, each float32, shape ``(batch, 3)``

        """
        real, imaginary = self.filters(signal.unsqueeze(1)).split(self.bands, dim=1)
        power = real * real + imaginary * imaginary
        frames = self.blocks(self.norm(torch.log(power + FLOOR)))
        weights = torch.softmax(self.attention(frames), dim=2)
        mean = (weights * frames).sum(dim=2, keepdim=True)
        offset = frames - mean
        deviation = torch.sqrt((weights * offset * offset).sum(dim=2) + 1e-5)
        statistics = self.statistics(torch.cat([mean.squeeze(2), deviation], dim=1))
        # Not normalised by batch: the level of a few sounds says nothing about that of all.
        level = 0.2 * torch.log(power.mean(dim=2) + FLOOR) + 2
        hidden = self.hidden(torch.cat([statistics, level], dim=1))
        return torch.sigmoid(self.prosody(hidden)), self.voicing(hidden)

    def freeze_norms(self) -> None:
        """Normalise from now on with the averages that the batches left, as after training."""
        for module in self.modules():
            if isinstance(module, nn.BatchNorm1d):
                module.eval()


class Block(nn.Module):  # type: ignore[misc]
    """Residual block: gated convolution and batch normalisation.

    Args:
        channels: number of channels
        dilation: frames between two taps

    """

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.channels = channels
        self.conv = nn.Conv1d(channels, 2 * channels, 5, padding=2 * dilation, dilation=dilation)
        self.norm = nn.BatchNorm1d(2 * channels)

    def forward(self, frames: Tensor) -> Tensor:
        """Compute the block's output, of the input's shape ``(batch, channels, frames)``."""
        value, gate = self.norm(self.conv(frames)).split(self.channels, dim=1)
        return frames + value * torch.sigmoid(gate)


def _windowed_waves(bands: int, kernel: int) -> Tensor:
    """Cosines, then sines, of rising frequency under a window, shape ``(2 * bands, 1, kernel)``."""
    mel = torch.linspace(_mel(60.0), _mel(7500.0), bands, dtype=torch.float64)
    frequency = 700 * (10 ** (mel / 2595) - 1)
    time = (torch.arange(kernel, dtype=torch.float64) - kernel / 2) / SAMPLING_RATE
    angle = 2 * math.pi * frequency[:, None] * time
    waves = torch.cat([torch.cos(angle), torch.sin(angle)]) * torch.hann_window(
        kernel, dtype=torch.float64
    )
    return (waves / math.sqrt(kernel))[:, None].float()


def _mel(frequency: float) -> float:
    return 2595 * math.log10(1 + frequency / 700)
