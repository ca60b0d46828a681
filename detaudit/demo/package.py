"""Export of the network to an audonnx archive, the same bytes for the same weights."""

from __future__ import annotations

import tempfile
import warnings
import zipfile
from pathlib import Path

import audonnx
import onnx
import torch

from detaudit.demo.network import Network
from detaudit.demo.sounds import KINDS, SAMPLING_RATE, VALUES

LABELS = {"prosody": list(VALUES), "voicing": list(KINDS)}
"""Labels of each output of the model."""


def write_model(network: Network, path: Path) -> None:
    """Write the network as an audonnx archive: ``model.onnx`` and ``model.yaml``.

    Args:
        network: trained network in evaluation mode
        path: archive to write

    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_graph(network, folder / "model.onnx")
        audonnx.Model(str(folder / "model.onnx"), labels=LABELS).to_yaml(str(folder / "model.yaml"))
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(folder.iterdir()):
                entry = zipfile.ZipInfo(file.name, date_time=(1980, 1, 1, 0, 0, 0))
                entry.external_attr = 0o100644 << 16
                entry.create_system = 3
                archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED, 9)


def _write_graph(network: Network, path: Path) -> None:
    with warnings.catch_warnings():
        # The TorchScript exporter is deprecated, but it keeps module paths as node names
        # and PRESERVE keeps batch normalisation for the runtime's optimiser to fold.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            (torch.zeros(1, 2 * SAMPLING_RATE),),
            str(path),
            input_names=["signal"],
            output_names=list(LABELS),
            dynamic_axes={"signal": {1: "time"}},
            opset_version=17,
            training=torch.onnx.TrainingMode.PRESERVE,
            do_constant_folding=False,
            dynamo=False,
        )
    model = onnx.load(path)
    model.doc_string = "Pitch, level, noisiness and voicing of a signal; bundled with detaudit, MIT"
    model.producer_name, model.producer_version = "detaudit.demo.train", ""
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
