from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detaudit.archive import open_record
from detaudit.capture import capture as capturing
from detaudit.cli import main
from detaudit.spec import AuditSpec, InputSpec, JudgeSpec
from tests.builders import audonnx_folder, classifier, noisy, zipmap
from tests.cli.commands import ONCE

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the arguments ask for; nothing is run."""

    class Asked(Exception):
        pass

    def note(spec: AuditSpec, progress: object) -> None:
        raise Asked(spec)

    monkeypatch.setattr(capturing, "capture", note)

    def ask(*arguments: str) -> AuditSpec:
        with pytest.raises(Asked) as caught:
            main(["m.onnx", *arguments])
        spec: AuditSpec = caught.value.args[0]
        return spec

    return ask


def test_every_option_reaches_the_plan(asked: Any) -> None:
    spec = asked(
        *("--device", "cpu,cpu[opt=off]", "--device", "cuda:1", "--variants", "none"),
        *("--reference", "cpu[ opt=OFF ]", "--runs", "3", "--sessions", "4", "--processes", "5"),
        *("--seed", "7", "--samples", "8", "--duration", "2.5", "--sampling-rate", "8000"),
        *("--input", "a.npz", "--input", "x=uniform:-1:1", "--input", "y=value:3"),
        *("--shape", "frames=160", "--shape", "mels=1x160x40"),
        *("--labels", "y=a,b", "--classes", "y:0", "--output", "y", "--output", "z"),
        *("--decimals", "2-4", "--require", "decimals=3", "--confidence", "0.9"),
        *("--seed-runtime", "--trust", "--timeout", "9"),
    )
    assert [target.name for target in spec.targets] == ["cpu", "cpu[opt=off]", "cuda:1"]
    assert spec.inputs == InputSpec(
        seed=7,
        samples=8,
        source="a.npz",
        values=(("x", "uniform:-1:1"), ("y", "value:3")),
        shapes=(("frames", "160"), ("mels", "1x160x40")),
        duration=2.5,
        sampling_rate=8000,
    )
    assert spec.judging == JudgeSpec(
        reference="cpu[opt=off]",
        decimals=(2, 4),
        confidence=0.9,
        labels=(("y", ("a", "b")),),
        classes=(("y", 0),),
        requirement="decimals=3",
    )
    assert (spec.model, spec.runs, spec.sessions, spec.processes) == ("m.onnx", 3, 4, 5)
    assert (spec.outputs, spec.timeout) == (("y", "z"), 9)
    assert (spec.seed_runtime, spec.trust) == (True, True)


def test_what_is_not_said_is_the_default_of_the_python_interface(asked: Any) -> None:
    from detaudit.audit import plan_audit

    assert asked() == plan_audit("m.onnx")
    assert asked("--device", "cuda") == plan_audit("m.onnx", "cuda")


def test_a_model_may_bear_the_name_of_a_command(asked: Any) -> None:
    spec = asked("--runs", "3")
    assert spec.model == "m.onnx"


@pytest.mark.parametrize("command", [[], ["run"]])
def test_the_report_goes_to_stdout(command: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main([*command, str(classifier(tmp_path)), *ONCE, "--device", "cpu,cpu[opt=off]"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "classifier.onnx" in "".join(said.out.split())
    assert "cpu[opt=off]" in said.out
    assert "\x1b" not in said.out


def test_quiet_says_nothing(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "r.json"
    assert main([str(classifier(tmp_path)), *ONCE, "--quiet", "--json", str(path)]) == 0
    assert capsys.readouterr() == ("", "")
    assert json.loads(path.read_text("utf-8"))["format"] == "detaudit-report"


def test_json_on_stdout_is_alone_there(tmp_path: Path, capsys: Capture) -> None:
    arguments = [*ONCE, "--device", "cpu,ep:XnnpackExecutionProvider", "--json", "-"]
    assert main([str(noisy(tmp_path)), *arguments]) == 3
    report = json.loads(capsys.readouterr().out)
    assert (report["format"], report["version"]) == ("detaudit-report", 1)
    assert [target["status"] for target in report["targets"]] == ["ok", "unavailable"]
    assert report["model"]["random_ops"][0]["op"] == "RandomUniformLike"


def test_every_file_is_written(tmp_path: Path, capsys: Capture) -> None:
    place = tmp_path / "place"
    place.mkdir()
    arguments = [
        *("--json", f"{place}/r.json", "--csv", f"{place}/r.csv", "--save", f"{place}/r.audit"),
        "--device=cpu,cpu[opt=off]",
    ]
    assert main([str(zipmap(tmp_path)), *ONCE, *arguments]) == 0
    assert sorted(path.name for path in place.iterdir()) == ["r.audit", "r.csv", "r.json"]
    report = json.loads((place / "r.json").read_text("utf-8"))
    with (place / "r.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (worst,) = [
        row["value"]
        for row in rows
        if (row["section"], row["output"], row["label"], row["measure"])
        == ("deviation", "z", "", "max_abs")
    ]
    (same,) = [d for d in report["deviation"] if d["output"] == "z" and d["label"] is None]
    assert float(worst) == same["max_abs"]
    with open_record(place / "r.audit") as record:
        assert [t.target.name for t in record.targets] == ["cpu", "cpu[opt=off]"]


def test_a_table_per_section(tmp_path: Path, capsys: Capture) -> None:
    assert main([str(classifier(tmp_path)), *ONCE, "--csv", f"{tmp_path}/tables/"]) == 0
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert {"targets.csv", "deviation.csv", "repeatability.csv"} <= names


def test_inputs_of_files_are_used(tmp_path: Path, capsys: Capture) -> None:
    x = np.random.RandomState(0).standard_normal((2, 16)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    arguments = ["--input", str(tmp_path / "x.npz"), "--json", "-"]
    assert main([str(classifier(tmp_path)), *ONCE, *arguments]) == 0
    (array,) = json.loads(capsys.readouterr().out)["inputs"]["arrays"]
    assert array["shape"] == [2, 16]


def test_a_file_whose_name_holds_an_equals_sign(asked: Any, tmp_path: Path) -> None:
    path = tmp_path / "x=1.npz"
    path.touch()
    assert asked("--input", str(path)).inputs.source == str(path)


def test_labels_of_an_audonnx_folder_name_the_rows(tmp_path: Path, capsys: Capture) -> None:
    arguments = ["--device", "cpu,cpu[opt=off]", "--json", "-"]
    assert main([str(audonnx_folder(tmp_path)), *ONCE, *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [d["label"] for d in report["deviation"]] == [None, "cat", "dog", "owl"]


def test_a_requirement_on_one_target_with_classes(tmp_path: Path, capsys: Capture) -> None:
    arguments = ["--classes", "logits", "--require", "no-class-flip"]
    assert main([str(classifier(tmp_path)), *ONCE, *arguments]) == 0
    capsys.readouterr()


class Terminal:
    """A stream that a person watches."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("options", "shown"), [([], True), (["--no-progress"], False), (["--quiet"], False)]
)
def test_progress_is_for_people(
    options: list[str],
    shown: bool,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert main([str(classifier(tmp_path)), *ONCE, *options, "--device", "cpu[opt=off]"]) == 0
    assert bool(terminal.text) == shown
    assert ("cpu[opt=off]" in terminal.text) == shown


def test_progress_is_not_for_files(tmp_path: Path, capsys: Capture) -> None:
    assert main([str(classifier(tmp_path)), *ONCE]) == 0
    assert capsys.readouterr().err == ""


PROJECT = """[tool.detaudit]
require = ["decimals=3", "identical"]
device = ["cpu", "cpu[opt=off]"]
runs = 3
decimals = [1, 4]
confidence = 0.9
timeout = 7.5
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder within a project that has its own defaults; the commands run in it."""
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.usefixtures("project")
def test_what_is_not_given_is_what_the_project_says(asked: Any) -> None:
    spec = asked()
    assert [target.name for target in spec.targets] == ["cpu", "cpu[opt=off]"]
    assert (spec.runs, spec.sessions, spec.processes, spec.timeout) == (3, 2, 2, 7.5)
    assert spec.judging == JudgeSpec(
        decimals=(1, 4),
        confidence=0.9,
        requirement="decimals=3,identical",
        origin="../pyproject.toml",
    )


@pytest.mark.usefixtures("project")
def test_what_is_given_comes_before_what_the_project_says(asked: Any) -> None:
    spec = asked(
        *("--device", "cpu[threads=1]", "--runs", "10", "--decimals", "0-7"),
        *("--confidence", "0.95", "--require", "ulp=1", "--timeout", "300"),
    )
    assert [target.name for target in spec.targets] == ["cpu[threads=1]"]
    assert (spec.runs, spec.timeout) == (10, 300)
    assert spec.judging == JudgeSpec(requirement="ulp=1")


@pytest.mark.usefixtures("project")
def test_the_bundled_model_is_none_of_the_project(asked: Any, capsys: Capture) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        main(["demo"])
    assert caught.value.args[0].runs == 10


def test_a_wrong_project_is_told_before_anything_is_touched(project: Path, capsys: Capture) -> None:
    (project / "pyproject.toml").write_text("[tool.detaudit]\nrnus = 3", encoding="utf-8")
    assert main(["m.onnx"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "pyproject.toml: [tool.detaudit] has an unknown key 'rnus'" in said.err


def test_junit_needs_a_requirement(project: Path, asked: Any, capsys: Capture) -> None:
    assert asked("--junit", "j.xml").writes == ("j.xml",)
    (project.parent / "pyproject.toml").write_text("", encoding="utf-8")
    assert main(["m.onnx", "--junit", "j.xml"]) == 2
    assert "--junit needs a requirement" in capsys.readouterr().err


def test_the_requirement_of_the_project_decides(project: Path, capsys: Capture) -> None:
    model = str(noisy(project))
    options = ["--device", "cpu", "--junit", "j.xml", "--save", "r.audit"]
    assert main([model, *options, *ONCE]) == 1
    assert "(from ../pyproject.toml): NOT MET" in capsys.readouterr().out
    assert "<failure" in (project / "j.xml").read_text(encoding="utf-8")
    with open_record("r.audit") as record:
        assert record.spec.judging.origin == "../pyproject.toml"
