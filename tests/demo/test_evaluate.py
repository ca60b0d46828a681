"""Figures and their comparison, on hand-made cases."""

from __future__ import annotations

import json

import numpy as np
import pytest

from detaudit.demo import evaluate

FIGURES = {"sounds": 900, "pitch": {"mean_absolute_error": 0.02, "baseline": 0.25}}


def test_same_figures_do_not_differ():
    assert evaluate.find_differences(FIGURES, FIGURES) == []
    rounded = {"sounds": 900, "pitch": {"mean_absolute_error": 0.0201, "baseline": 0.25}}
    assert evaluate.find_differences(FIGURES, rounded) == []


def test_other_figures_are_named():
    other = {"sounds": 900, "pitch": {"mean_absolute_error": 0.03}}
    assert evaluate.find_differences(FIGURES, other) == [
        "test.pitch.mean_absolute_error: 0.02 in the card, 0.03 measured",
        "test.pitch: baseline is missing",
    ]


def test_figures_of_values():
    truth = np.array([[0.0, 0.5, 1.0], [1.0, 0.5, 0.5], [np.nan, 0.0, 0.75]])
    said = np.array([[0.1, 0.5, 1.0], [1.0, 0.4, 0.5], [0.9, 0.2, 0.45]])
    figures = evaluate.measure_values(truth, said)
    assert figures["pitch"]["sounds"] == 2
    assert figures["pitch"]["mean_absolute_error"] == 0.05
    assert figures["pitch"]["baseline"] == 0.5
    assert figures["pitch"]["mean_absolute_error_hertz"] == round(40 * (5**0.1 - 1), 2)
    assert figures["level"]["mean_absolute_error"] == 0.1
    assert figures["level"]["mean_absolute_error_decibels"] == 6.0
    assert figures["noisiness"]["mean_absolute_error"] == 0.1
    assert figures["noisiness"]["mean_absolute_error_voiced"] == 0.0


def test_figures_of_classes():
    voicing = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0], [0.0, 0.0, 4.0], [0.0, 0.5, 0.0]])
    figures = evaluate.measure_classes(np.array([0, 1, 2, 1]), voicing)
    assert figures == {
        "accuracy": 0.75,
        "baseline": 0.5,
        "smallest_margin": 0.5,
        "confusion": {
            "voiced": {"voiced": 1, "unvoiced": 0, "noise": 0},
            "unvoiced": {"voiced": 0, "unvoiced": 1, "noise": 1},
            "noise": {"voiced": 0, "unvoiced": 0, "noise": 1},
        },
    }


@pytest.mark.parametrize(("accuracy", "complaint"), [(0.98, 0), (0.88, "test.accuracy: 0.98")])
def test_command_fails_on_a_card_that_is_wrong(monkeypatch, tmp_path, capsys, accuracy, complaint):
    def measure_model(path, seed, count):
        assert (path, seed, count) == (tmp_path / "model.zip", 7, evaluate.SOUNDS)
        return {"accuracy": accuracy}

    monkeypatch.setattr(evaluate, "measure_model", measure_model)
    card = {"training": {"seed": 7}, "test": {"accuracy": 0.98}}
    (tmp_path / "card.json").write_text(json.dumps(card))
    with pytest.raises(SystemExit) as raised:
        evaluate.main([str(tmp_path)])
    assert str(raised.value).startswith(str(complaint))
    assert json.loads(capsys.readouterr().out) == {"accuracy": accuracy}
