from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from detaudit.cli import main
from tests.builders import audonnx_folder
from tests.cli.commands import ONCE

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(audonnx_folder(tmp_path))


def say(arguments: list[str], code: int, capsys: Capture) -> str:
    assert main(arguments) == code
    said = capsys.readouterr()
    assert (said.out == "") == (code != 0)
    assert code == 0 or re.fullmatch(r"detaudit: [^\n]+\n", said.err)
    return said.out or said.err


def audited(model: str, options: list[str], capsys: Capture) -> str:
    report = json.loads(say([model, *ONCE, "--device", "cpu", "--json", "-", *options], 0, capsys))
    return str(report["inputs"]["sha256"])


def test_another_machine_reports_the_same_digest(model: str, capsys: Capture) -> None:
    text = say(["inputs", model, "--seed", "5", "--save", "F.npz"], 0, capsys)
    digest = audited(model, ["--seed", "5", "--save", "here.audit"], capsys)
    assert f"digest over all inputs {digest}" in text
    assert f"on the other machine: detaudit {model} --input F.npz\n" in text
    assert audited(model, ["--input", "F.npz"], capsys) == digest
    say(["inputs", "here.audit", "--save", "G.npz"], 0, capsys)
    assert Path("F.npz").read_bytes() == Path("G.npz").read_bytes()


def test_the_seed_of_the_project(model: str, capsys: Capture) -> None:
    Path("pyproject.toml").write_text("[tool.detaudit]\nseed = 5\n")
    text = say(["inputs", model, "--save", "F.npz"], 0, capsys)
    assert text == say(["inputs", model, "--seed", "5", "--save", "F.npz"], 0, capsys)
    assert text != say(["inputs", model, "--seed", "6", "--save", "F.npz"], 0, capsys)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["m", "--save", "F.npy"], "--save F.npy does not end in .npz"),
        (["m", "--save", "none/F.npz"], "there is no folder none"),
        (["m"], "the following arguments are required: --save"),
        (["m", "--save", "F.npz", "--samples", "2"], "a file holds one sample"),
        (["m", "--save", "F.npz", "--device", "cpu"], "unknown option --device"),
        (["m", "--save", "F.npz", "--input", "nobody=ones"], "the model has no input 'nobody'"),
        (["m", "--save", "g.npz", "--input", "g.npz"], "would overwrite what is read"),
        (["r", "--save", "F.npz", "--seed", "3"], "--seed: a record tells its inputs"),
        (["r", "--save", "F.npz", "--input", "x=ones"], "--input: a record tells its inputs"),
    ],
)
def test_commands_that_are_wrong(
    arguments: list[str], words: str, model: str, capsys: Capture
) -> None:
    np.savez("g.npz", x=np.zeros(3))
    audited(model, ["--save", "r.audit"], capsys)
    names = {"m": model, "r": "r.audit"}
    command = ["inputs", *(names.get(argument, argument) for argument in arguments)]
    assert words in say(command, 2, capsys)
    assert not Path("F.npz").exists()


def test_a_file_that_is_neither(model: str, capsys: Capture) -> None:
    Path("text.onnx").write_text("text")
    assert "text.onnx" in say(["inputs", "text.onnx", "--save", "F.npz"], 3, capsys)
