"""Test error of the bundled model, measured again: ``python -m detaudit.demo.evaluate``.

Needs nothing but NumPy and ONNX Runtime.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from detaudit.demo.sounds import (
    KINDS,
    LEVEL_RANGE,
    VALUES,
    Sound,
    draw_duration,
    draw_sound,
    unit_to_hertz,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOUNDS = 900
"""Number of sounds in the test set."""

FIRST = 60
"""Number of leading test sounds that the card also counts alone, for a quick check."""


def draw_test_sound(seed: int, index: int) -> Sound:
    """Draw a sound of the test set; no training sound shares its stream.

    Args:
        seed: seed of the streams
        index: place in the test set

    Returns:
        sound of 0.5 to 3 s

    """
    return draw_sound(seed, f"demo/test/{index}", draw_duration(seed, f"demo/test/{index}/length"))


def measure_model(path: Path, seed: int, count: int) -> dict[str, Any]:
    """Test error of a model, on one thread of the CPU.

    Args:
        path: audonnx archive
        seed: seed of the test set
        count: number of test sounds

    Returns:
        for each value the mean absolute error, on the scale 0..1 and in its unit,
        and for the classes the accuracy and the confusion matrix;
        ``baseline`` is what always answering the mean, or the most frequent class, would give

    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with zipfile.ZipFile(path) as archive:
        graph = archive.read("model.onnx")
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    truth, kinds, prosody, voicing = [], [], [], []
    for index in range(count):
        sound = draw_test_sound(seed, index)
        values, scores = session.run(["prosody", "voicing"], {"signal": sound.signal[None]})
        truth.append(sound.values)
        kinds.append(KINDS.index(sound.kind))
        prosody.append(values[0])
        voicing.append(scores[0])
    return {
        "sounds": count,
        **measure_values(np.array(truth), np.array(prosody, dtype=np.float64)),
        "voicing": measure_classes(np.array(kinds), np.array(voicing)),
    }


def measure_values(
    truth: NDArray[np.float64], prosody: NDArray[np.float64]
) -> dict[str, dict[str, float]]:
    """Errors of pitch, level and noisiness.

    Args:
        truth: true values in 0..1, shape ``(sounds, 3)``, ``nan`` where there is none
        prosody: output of the model, same shape

    Returns:
        figures per value, over the sounds that have one

    """
    figures = {}
    for column, name in enumerate(VALUES):
        known = ~np.isnan(truth[:, column])
        true, said = truth[known, column], prosody[known, column]
        errors = np.abs(said - true)
        figures[name] = {
            "sounds": int(known.sum()),
            "mean_absolute_error": _round(errors.mean()),
            "median_absolute_error": _round(np.median(errors)),
            "p95_absolute_error": _round(np.quantile(errors, 0.95)),
            "baseline": _round(np.abs(true - true.mean()).mean()),
        }
        if name == "pitch":
            hertz = [
                abs(unit_to_hertz(a) - unit_to_hertz(b)) for a, b in zip(said, true, strict=True)
            ]
            figures[name]["mean_absolute_error_hertz"] = _round(np.mean(hertz), 2)
        elif name == "level":
            decibels = errors.mean() * (LEVEL_RANGE[1] - LEVEL_RANGE[0])
            figures[name]["mean_absolute_error_decibels"] = _round(decibels, 2)
        else:
            voiced = ~np.isnan(truth[:, 0])
            figures[name]["mean_absolute_error_voiced"] = _round(errors[voiced].mean())
    return figures


def measure_classes(kinds: NDArray[np.int64], voicing: NDArray[np.float32]) -> dict[str, Any]:
    """Accuracy and confusion of the classes.

    Args:
        kinds: true classes as places in the labels, shape ``(sounds,)``
        voicing: class scores, shape ``(sounds, 3)``

    Returns:
        accuracy, share of the most frequent class, smallest distance between the two highest
        scores of a sound, and counts by true class and by class answered

    """
    confusion = np.zeros((len(KINDS), len(KINDS)), dtype=int)
    np.add.at(confusion, (kinds, voicing.argmax(axis=1)), 1)
    ordered = np.sort(voicing, axis=1)
    return {
        "accuracy": _round(np.trace(confusion) / kinds.size),
        "baseline": _round(confusion.sum(axis=1).max() / kinds.size),
        "smallest_margin": _round((ordered[:, -1] - ordered[:, -2]).min(), 3),
        "confusion": {
            kind: dict(zip(KINDS, row, strict=True))
            for kind, row in zip(KINDS, confusion.tolist(), strict=True)
        },
    }


def _round(value: Any, decimals: int = 4) -> float:
    return round(float(value), decimals)


def find_differences(shipped: Any, measured: Any, place: str = "test") -> list[str]:
    """Figures of a card that a second measurement does not give, allowing for rounding.

    Args:
        shipped: figures of the card
        measured: figures measured now
        place: name of the figures

    Returns:
        one line per figure that differs

    """
    if isinstance(shipped, dict) and isinstance(measured, dict):
        lines = [f"{place}: {key} is missing" for key in shipped.keys() ^ measured.keys()]
        for key in shipped.keys() & measured.keys():
            lines += find_differences(shipped[key], measured[key], f"{place}.{key}")
        return sorted(lines)
    if abs(shipped - measured) <= 0.001 + 0.005 * abs(shipped):
        return []
    return [f"{place}: {shipped} in the card, {measured} measured"]


def main(arguments: list[str] | None = None) -> None:
    """Measure the model of a folder and compare with its ``card.json``.

    Args:
        arguments: command line, ``None`` for that of the process

    """
    parser = argparse.ArgumentParser(prog="python -m detaudit.demo.evaluate", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent)
    parser.add_argument("--seed", type=int, help="draw another test set, and compare nothing")
    options = parser.parse_args(arguments)
    folder = options.folder
    if options.seed is not None:
        print(json.dumps(measure_model(folder / "model.zip", options.seed, SOUNDS), indent=2))
        return
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    measured = measure_model(folder / "model.zip", card["training"]["seed"], SOUNDS)
    print(json.dumps(measured, indent=2))
    sys.exit("\n".join(find_differences(card["test"], measured)) or 0)


if __name__ == "__main__":
    main()
