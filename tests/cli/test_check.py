from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from detaudit.archive import save_record
from detaudit.cli import main
from tests.cli.commands import ROOT
from tests.records import always, by_run, floats, make_record

Capture = pytest.CaptureFixture[str]
OFF = "cpu[opt=off]"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Project that requires nothing; the commands run in it."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pyproject.toml"
    path.write_text("[project]\nname = 'p'\n", encoding="utf-8")
    return path


def save(cuda: bool = False, **judging: str) -> str:
    calls = {"cpu": by_run(floats(0, 1), floats(0, 1.5)), OFF: always(floats(0, 1.25))}
    record = make_record({**calls, **({"cuda:0": "no driver"} if cuda else {})}, **judging)
    save_record(record, "r.audit")
    return "r.audit"


def checked(arguments: list[str], code: int, capsys: Capture) -> str:
    assert main(["check", *arguments]) == code
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def test_met(capsys: Capture) -> None:
    told = checked([save(), "--require", "max_abs=0.5,y:ulp=9007199254740992"], 0, capsys)
    assert told.splitlines() == [
        "Requirement max_abs=0.5,y:ulp=9007199254740992: met",
        f"  4 of 4 checks met, on cpu, {OFF}",
    ]


def test_every_failing_output_comes_with_its_figure_and_limit(capsys: Capture) -> None:
    told = checked([save(), "--require", "max_abs=0.3,decimals=7"], 1, capsys)
    assert told.splitlines() == [
        "Requirement max_abs=0.3,decimals=7: NOT MET",
        "  cpu, y, run scope: 0.5 is more than 0.3",
        "  cpu, y: 1 of 2 values print differently at 7 decimals",
        f"  {OFF}, y: 1 of 2 values print differently at 7 decimals",
        f"  1 of 4 checks met, on {OFF}",
    ]


def test_what_was_not_audited_is_told_and_never_met(capsys: Capture) -> None:
    told = checked([save(cuda=True), "--require", "max_abs=9"], 3, capsys)
    assert told.splitlines() == [
        "Requirement max_abs=9: NOT MET",
        "  untested: cuda:0 was not audited (unavailable: no driver)",
        f"  2 of 3 checks met, on cpu, {OFF}",
    ]


def test_quiet_says_nothing(capsys: Capture) -> None:
    assert checked([save(), "--require", "identical", "--quiet"], 1, capsys) == ""


def test_the_requirement_of_the_record_is_the_last_resort(project: Path, capsys: Capture) -> None:
    record = save(requirement="ulp=1")
    assert "Requirement ulp=1: NOT MET" in checked([record], 1, capsys)
    project.write_text("[tool.detaudit]\nrequire = ['max_abs=1', 'decimals=0']", encoding="utf-8")
    told = checked([record], 1, capsys)
    assert "Requirement max_abs=1,decimals=0 (from pyproject.toml): NOT MET" in told
    assert "Requirement max_abs=1: met" in checked([record, "--require", "max_abs=1"], 0, capsys)


def test_a_file_of_the_project_that_is_not_asked_is_not_read(
    project: Path, capsys: Capture
) -> None:
    record = save()
    project.write_text("[tool.detaudit]\nrequire = 3", encoding="utf-8")
    checked([record, "--require", "max_abs=1"], 0, capsys)
    assert main(["check", record]) == 2
    assert "pyproject.toml: [tool.detaudit] require = 3 is not" in capsys.readouterr().err


def test_json_is_the_report_of_show(project: Path, capsys: Capture) -> None:
    record = save(cuda=True)
    told = checked([record, "--require", "max_abs=0.3", "--json", "-"], 3, capsys)
    assert main(["show", record, "--require", "max_abs=0.3", "--json", "-"]) == 3
    assert capsys.readouterr().out == told
    verdict = json.loads(told)["verdict"]
    assert [(c["target"], c["output"], c["status"]) for c in verdict["checks"]] == [
        ("cpu", "y", "missed"),
        (OFF, "y", "met"),
        ("cuda:0", None, "untested"),
    ]
    assert verdict["origin"] is None
    project.write_text("[tool.detaudit]\nrequire = 'max_abs=1'", encoding="utf-8")
    told = checked([record, "--json", "-"], 3, capsys)
    assert json.loads(told)["verdict"]["origin"] == "pyproject.toml"


@pytest.mark.parametrize("command", ["check", "show"])
def test_junit(command: str, capsys: Capture) -> None:
    record = save(cuda=True)
    options = ["--require", "max_abs=0.3", "--junit", "j.xml", "--quiet"]
    assert main([command, record, *options]) == 3
    suite = ElementTree.parse("j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["r.audit"], 2, "detaudit check needs a requirement: give --require"),
        (["none.audit", "--require", "identical"], 2, "there is no record none.audit"),
        (["r.audit", "--require", "best"], 2, "unknown requirement 'best'"),
        (["r.audit", "--require", "identical", "--runs", "3"], 2, "unknown option --runs"),
        (["r.audit", "--require", "identical", "--junit", "r.audit"], 2, "would overwrite"),
        (["text.audit", "--require", "identical"], 3, "text.audit is no record of detaudit"),
    ],
)
def test_what_cannot_be_checked(
    arguments: list[str], code: int, words: str, capsys: Capture
) -> None:
    save()
    Path("text.audit").write_text("text", encoding="utf-8")
    assert main(["check", *arguments]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert words in said.err


def test_showing_needs_a_requirement_for_junit_only(capsys: Capture) -> None:
    record = save()
    assert main(["show", record, "--quiet"]) == 0
    assert main(["show", record, "--junit", "j.xml"]) == 2
    assert "--junit needs a requirement" in capsys.readouterr().err
    assert not Path("j.xml").exists()


def test_checking_loads_nothing_that_it_does_not_need() -> None:
    record = save()
    code = (
        "import sys; from detaudit.cli import main; main(sys.argv[1:]);"
        "print(set(sys.modules) & {'pandas', 'rich', 'torch', 'onnx', 'onnxruntime', 'yaml'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "check", record, "--require", "identical", "--junit", "j.xml"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.splitlines()[-1] == "set()"
