"""Training repeats itself and its export says what the network says."""

from __future__ import annotations

import zipfile

import numpy as np
import onnxruntime
import pytest

from detaudit.demo.sounds import draw_sound
from detaudit.seeding import isolated

pytestmark = pytest.mark.modern


def train_twice(seeds):
    import torch

    from detaudit.demo.train import train

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with isolated():
            return [train(seed, epochs=2, batches=1, size=2) for seed in seeds]
    finally:
        torch.set_num_threads(threads)


def test_training_again_gives_the_same_archive(tmp_path):
    from detaudit.demo.package import write_model

    archives = []
    for index, network in enumerate(train_twice([4, 4, 5])):
        path = tmp_path / f"{index}.zip"
        write_model(network, path)
        archives.append(path.read_bytes())
    assert archives[0] == archives[1]
    assert archives[0] != archives[2]


def test_export_says_what_the_network_says(tmp_path):
    import torch

    from detaudit.demo.package import write_model

    (network,) = train_twice([4])
    write_model(network, tmp_path / "model.zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        session = onnxruntime.InferenceSession(
            archive.read("model.onnx"), providers=["CPUExecutionProvider"]
        )
    for samples in (200, 9000):
        signal = draw_sound(4, "export", samples).signal[None]
        with torch.no_grad():
            expected = network(torch.from_numpy(signal))
        for output, tensor in zip(session.run(None, {"signal": signal}), expected, strict=True):
            np.testing.assert_allclose(output, tensor.numpy(), rtol=1e-4, atol=1e-5)


def test_pitch_of_sounds_without_pitch_costs_nothing():
    import torch

    from detaudit.demo.train import measure_loss

    def network(signals):
        return torch.full((2, 3), 0.5), torch.zeros(2, 3)

    values = torch.tensor([[float("nan"), 0.5, 0.5], [float("nan"), 0.5, 0.6]])
    kinds = torch.tensor([1, 2])
    loss = measure_loss(network, (torch.zeros(2, 10), values, kinds))
    assert loss.item() == pytest.approx(5 * 0.1 / 2 + np.log(3), rel=1e-5)
