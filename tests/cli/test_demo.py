from __future__ import annotations

import json

import pytest

from detaudit.cli import main
from tests.cli.commands import ONCE

Capture = pytest.CaptureFixture[str]


def test_the_demo_audits_the_bundled_model_on_its_voice(capsys: Capture) -> None:
    assert main(["demo", *ONCE, "--device", "cpu,cpu[opt=off]", "--json", "-"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    report = json.loads(said.out)
    assert report["model"]["format"] == "audonnx"
    assert "voice.wav" in report["inputs"]["source"]
    assert {row["output"] for row in report["deviation"]} == {"prosody", "voicing"}
    labels = [row["label"] for row in report["deviation"] if row["output"] == "prosody"]
    assert labels == [None, "pitch", "level", "noisiness"]
    assert {row["output"] for row in report["classes"]} == {"voicing"}
    assert report["rounding"]


def test_it_can_be_given_another_input(capsys: Capture) -> None:
    arguments = ["--input", "signal=normal", "--duration", "0.5", "--json", "-"]
    assert main(["demo", *ONCE, *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    assert "voice.wav" not in report["inputs"]["source"]


def test_it_takes_no_model(capsys: Capture) -> None:
    assert main(["demo", "model.onnx"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "detaudit: unknown argument model.onnx (see detaudit demo --help)\n"


def test_its_help_speaks_of_the_demo(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    text = capsys.readouterr().out
    assert text.startswith("usage: detaudit demo")
    assert "MODEL" not in text.partition("options:")[0].partition("\n\n")[0]
