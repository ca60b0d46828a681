from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from detaudit.archive import save_record
from detaudit.cli import main
from detaudit.record import Record
from tests.records import always, by_run, floats, make_record, make_torch_record

Capture = pytest.CaptureFixture[str]
ONE, OTHER = always(floats(0.25)), always(floats(0.2504))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def save(path: str, record: Record) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    save_record(record, path)
    return path


def pair() -> list[str]:
    return [
        save("new.audit", make_record({"cpu": ONE, "cpu[opt=off]": ONE})),
        save("old.audit", make_record({"cpu": OTHER})),
    ]


def compared(arguments: list[str], code: int, capsys: Capture) -> str:
    assert main(["compare", *arguments]) == code
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def refused(arguments: list[str], code: int, capsys: Capture) -> str:
    assert main(["compare", *arguments]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(r"detaudit: [^\n]+\n", said.err)
    return said.err


def test_compare(capsys: Capture) -> None:
    text = compared(pair(), 0, capsys)
    assert "2 records compared" in text
    assert "old:cpu" in text
    table = json.loads(compared([*pair(), "--json", "-"], 0, capsys))
    assert table["format"] == "detaudit-comparison"
    assert table["agreement"][0]["classes"] == [["new:cpu", "new:cpu[opt=off]"], ["old:cpu"]]
    assert table["records"][0]["path"] == "new.audit"


def test_files(capsys: Capture) -> None:
    files = ["--json", "c.json", "--csv", "c.csv", "--quiet"]
    assert compared([*pair(), *files], 0, capsys) == ""
    assert json.loads(Path("c.json").read_text())["version"] == 1
    assert "bits_class" in Path("c.csv").read_text()
    assert compared([*pair(), "--csv", "tables/", "--quiet"], 0, capsys) == ""
    assert Path("tables/agreement.csv").exists()


def test_requirements_have_exit_codes(capsys: Capture) -> None:
    compared([*pair(), "--require", "decimals=3"], 0, capsys)
    assert "NOT MET" in compared([*pair(), "--require", "decimals=4"], 1, capsys)
    gone = save("gone.audit", make_record({"cuda:0": "no driver"}))
    compared([*pair(), gone, "--require", "decimals=3"], 3, capsys)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a.audit", "b.audit"], ["a", "b"]),
        (["x/m.audit", "y/m.audit"], ["x/m", "y/m"]),
        (["x/m/r.audit", "y/m/r.audit", "z/n/r.audit"], ["x/m/r", "y/m/r", "z/n/r"]),
        (["a.audit", "a.b"], ["a", "a.b"]),
    ],
)
def test_names_of_records(paths: list[str], names: list[str], capsys: Capture) -> None:
    for path in paths:
        save(path, make_record({"cpu": ONE}))
    report = json.loads(compared([*paths, "--json", "-", "--reference", names[1]], 0, capsys))
    assert [record["name"] for record in report["records"]] == names
    assert [row["name"] for row in report["report"]["targets"]] == [f"{n}:cpu" for n in names]
    (reference,) = {row["reference"] for row in report["report"]["deviation"]}
    assert reference == f"{names[1]}:cpu"


def test_a_torch_record_has_targets_of_torch(capsys: Capture) -> None:
    paths = [save(f"{n}.audit", make_torch_record({"cpu": ONE})) for n in "ab"]
    compared([*paths, "--reference", "b:cpu[matmul=highest]"], 0, capsys)
    assert "unknown option opt" in refused([*paths, "--reference", "b:cpu[opt=off]"], 2, capsys)


def test_what_differs_is_refused_unless_told_otherwise(capsys: Capture) -> None:
    paths = pair()
    save("old.audit", replace(make_record({"cpu": OTHER}), inputs_sha256="12" * 32))
    assert "--allow-other inputs" in refused(paths, 2, capsys)
    assert "--allow-other inputs" in refused([*paths, "--allow-other", "model,plan"], 2, capsys)
    text = compared([*paths, "--allow-other", "inputs"], 0, capsys)
    assert "What should be the same and is not" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--allow-other", "seeds"], "--allow-other seeds is none of: model, inputs, plan"),
        (["--allow-other", ""], "--allow-other is none of"),
        (["--reference", "nobody:cpu"], "does not begin with the name of a record: new, old"),
        (["--require", "best"], "unknown requirement 'best'"),
        (["--decimals", "5-1"], "--decimals 5-1 is no range"),
        (["--confidence", "2"], "--confidence 2.0"),
        (["--labels", "a,b,c"], "3 labels do not fit output 'y'"),
        (["--json", "new.audit"], "would overwrite what is read"),
        (["--csv", "none/c.csv"], "there is no folder none"),
        (["--device", "cpu"], "unknown option --device"),
        (["./old.audit"], "is named twice"),
    ],
)
def test_commands_that_are_wrong(options: list[str], words: str, capsys: Capture) -> None:
    assert words in refused([*pair(), *options], 2, capsys)


def test_one_record_is_no_comparison(capsys: Capture) -> None:
    assert "name two or more" in refused(pair()[:1], 2, capsys)


def test_records_that_cannot_be_read(capsys: Capture) -> None:
    good, other = pair()
    assert "there is no record none.audit" in refused([good, "none.audit"], 2, capsys)
    Path("cut.audit").write_bytes(Path(other).read_bytes()[:-40])
    assert "cut.audit" in refused([good, "cut.audit"], 3, capsys)
    with zipfile.ZipFile(other) as old, zipfile.ZipFile("future.audit", "w") as new:
        for entry in old.namelist():
            data = old.read(entry)
            if entry == "record.json":
                data = data.replace(b'"version": 1', b'"version": 99')
            new.writestr(entry, data)
    assert "use a newer detaudit" in refused([good, "future.audit"], 3, capsys)
    damaged = bytearray(Path(other).read_bytes())
    damaged[damaged.index(floats(0.2504).tobytes())] ^= 1
    Path("damaged.audit").write_bytes(damaged)
    assert "damaged.audit was damaged" in refused([good, "damaged.audit"], 3, capsys)


def test_a_record_of_another_version_is_read(capsys: Capture) -> None:
    newer = replace(make_record({"cpu": by_run(floats(0.25), floats(0.75))}), detaudit="9.9.9")
    text = compared([pair()[0], save("newer.audit", newer)], 0, capsys)
    assert "9.9.9" in text


def test_nothing_is_run(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("something was run"))
    compared(pair(), 0, capsys)
