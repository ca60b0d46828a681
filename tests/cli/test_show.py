from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from detaudit.archive import save_record
from detaudit.cli import main
from tests.builders import audonnx_folder
from tests.cli.commands import ONCE
from tests.records import always, by_run, floats, make_record, make_torch_record

Capture = pytest.CaptureFixture[str]
OFF = "cpu[opt=off]"


@pytest.fixture
def saved(tmp_path: Path) -> str:
    record = make_record(
        {"cpu": by_run(floats(0, 1), floats(0, 1.5)), OFF: always(floats(1, 0))},
        requirement="decimals=3",
    )
    save_record(record, tmp_path / "r.audit")
    return str(tmp_path / "r.audit")


def shown(arguments: list[str], code: int, capsys: Capture) -> str:
    assert main(["show", *arguments]) == code
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


@pytest.mark.parametrize("options", [[], ["--json", "-"]])
def test_a_shown_record_is_the_report_of_its_run(
    options: list[str], tmp_path: Path, capsys: Capture
) -> None:
    record = str(tmp_path / "r.audit")
    arguments = ["--device", "cpu,cpu[opt=off],ep:XnnpackExecutionProvider", "--require", "ulp=99"]
    assert main([str(audonnx_folder(tmp_path)), *ONCE, *arguments, "--save", record, *options]) == 3
    said = capsys.readouterr()
    assert shown([record, *options], 3, capsys) == said.out


def test_files_are_the_same_too(saved: str, tmp_path: Path, capsys: Capture) -> None:
    for name in ("one", "two"):
        place = tmp_path / name
        place.mkdir()
        options = ["--json", f"{place}/r.json", "--csv", f"{place}/r.csv"]
        shown([saved, *options, "--quiet"], 1, capsys)
        shown([saved, "--csv", f"{place}/tables/", "--quiet"], 1, capsys)
    one, two = (
        {p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*.*")}
        for n in ("one", "two")
    )
    assert one == two
    assert len(one) > 5


def test_a_record_is_judged_as_it_was_unless_told_otherwise(saved: str, capsys: Capture) -> None:
    report = json.loads(shown([saved, "--json", "-"], 1, capsys))
    assert report["verdict"]["requirement"] == "decimals=3"
    report = json.loads(shown([saved, "--json", "-", "--require", "max_abs=9"], 0, capsys))
    assert report["verdict"]["met"] is True
    report = json.loads(
        shown(
            [
                *(saved, "--json", "-", "--reference", OFF, "--decimals", "1-2"),
                *("--labels", "a,b", "--classes", "y", "--confidence", "0.9"),
            ],
            1,
            capsys,
        )
    )
    assert {row["reference"] for row in report["deviation"]} == {OFF}
    assert [row["label"] for row in report["deviation"]] == [None, "a", "b"]
    assert {row["decimals"] for row in report["rounding"]} == {1, 2, 3}
    assert {row["confidence"] for row in report["repeatability"]} == {0.9}
    assert any(row["flips"] for row in report["classes"])
    report = json.loads(shown([saved, "--json", "-", "--classes", "none"], 1, capsys))
    assert report["classes"] == []


def test_the_reference_of_a_torch_record_is_a_target_of_torch(
    tmp_path: Path, capsys: Capture
) -> None:
    steady = always(floats(1))
    record = make_torch_record({"cpu": steady, "cpu[matmul=medium]": steady})
    save_record(record, tmp_path / "t.audit")
    options = [str(tmp_path / "t.audit"), "--json", "-", "--reference", "cpu[matmul=medium]"]
    report = json.loads(shown(options, 0, capsys))
    assert [row["reference"] for row in report["deviation"]] == ["cpu[matmul=medium]"]
    assert main(["show", options[0], "--reference", "cpu[opt=off]"]) == 2
    assert "unknown option opt" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--confidence", "2"], "--confidence 2.0 is not within 0.01 to 0.9999"),
        (["--confidence", "0"], "--confidence 0.0 is not within 0.01 to 0.9999"),
        (["--decimals", "5-1"], "--decimals 5-1 is no range"),
        (["--decimals", "0-99"], "--decimals 0-99 is no range"),
        (["--require", "best"], "unknown requirement 'best'"),
        (["--require", ""], "unknown requirement ''"),
        (["--reference", "cuda:3"], "the reference cuda:3 is none of the record's targets"),
        (["--reference", "gpu"], "unknown device 'gpu'"),
        (["--labels", "a,b,c"], "3 labels do not fit output 'y'"),
        (["--classes", "q"], "the model has no output 'q'"),
        (["--device", "cpu"], "unknown option --device"),
        (["--json", "none/r.json"], "there is no folder none"),
    ],
)
def test_what_cannot_be_shown(options: list[str], words: str, saved: str, capsys: Capture) -> None:
    assert main(["show", saved, *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert words in said.err


def test_records_that_cannot_be_read(saved: str, tmp_path: Path, capsys: Capture) -> None:
    cut = tmp_path / "cut.audit"
    cut.write_bytes(Path(saved).read_bytes()[:-40])
    text = tmp_path / "text.audit"
    text.write_text("text", encoding="utf-8")
    for path, code in ((tmp_path / "none.audit", 2), (cut, 3), (text, 3)):
        assert main(["show", str(path)]) == code
        said = capsys.readouterr()
        assert said.out == ""
        assert re.fullmatch(rf"detaudit: [^\n]*{re.escape(str(path))}[^\n]*\n", said.err)


def test_nothing_is_run(saved: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("something was run"))
    assert "cpu" in shown([saved], 1, capsys)
