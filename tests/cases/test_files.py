"""I: loading models and archives."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from detaudit.cli import main
from detaudit.errors import ModelError
from tests import builders
from tests.cases.audits import all_identical, audit_quickly, statuses

OK = {"cpu": "ok"}
ONCE = ["--device", "cpu", "--runs", "2", "--sessions", "1", "--processes", "1"]


def listing(folder: Path) -> dict[str, str]:
    """Every file of a folder with its digest."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_weights_beside_the_model(tmp_path: Path) -> None:
    """I1, I2: found by path, part of the digest, and nothing is written beside them."""
    model = builders.external_data(tmp_path)
    before = listing(tmp_path)
    report = audit_quickly(model)
    assert statuses(report) == OK
    assert all_identical(report)
    assert listing(tmp_path) == before
    weights = model.with_suffix(".bin")
    weights.write_bytes(weights.read_bytes()[::-1])
    assert audit_quickly(model).model["sha256"] != report.model["sha256"]


def test_weights_beside_the_model_in_an_archive(tmp_path: Path) -> None:
    """I2: unpacked together."""
    model = builders.external_data(tmp_path)
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.write(model, model.name)
        archive.write(model.with_suffix(".bin"), model.with_suffix(".bin").name)
    assert statuses(audit_quickly(tmp_path / "model.zip")) == OK


def test_weights_that_are_missing(tmp_path: Path) -> None:
    """I2: one line that names the file."""
    with pytest.raises(ModelError, match=r"external_data_missing\.bin' is missing"):
        audit_quickly(builders.external_data_missing(tmp_path))


@pytest.mark.parametrize("absolute", [False, True])
def test_weights_elsewhere_are_never_read(tmp_path: Path, absolute: bool) -> None:
    """I3: not even to be hashed: reading a pipe would wait for ever."""
    location = str(tmp_path / "secret.bin") if absolute else "../secret.bin"
    model = builders.external_data_escaping(tmp_path, location)
    (tmp_path / "secret.bin").unlink()
    os.mkfifo(tmp_path / "secret.bin")
    with pytest.raises(ModelError, match="leaves the folder of the model; not read"):
        audit_quickly(model)


MEMBERS = ["../x", "a/../../x", "/x", "C:\\x", "..\\x", "a/..\\..\\x", "\\\\host\\x"]


@pytest.mark.parametrize("name", MEMBERS)
def test_members_that_leave_the_folder(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """I5: the whole archive is refused and nothing is written anywhere."""
    model = builders.classifier(tmp_path / "source")
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(model, "model.onnx")
        member = zipfile.ZipInfo("placeholder")
        member.filename = name
        archive.writestr(member, b"escaped")
    before = listing(tmp_path)
    assert main([str(path), *ONCE]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert listing(tmp_path) == before
    assert not Path("/x").exists()


def test_links_in_an_archive(tmp_path: Path) -> None:
    """I5: refused as a whole, too."""
    model = builders.classifier(tmp_path / "source")
    path = tmp_path / "model.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(model, "model.onnx")
        link = zipfile.ZipInfo("weights.bin")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(ModelError, match="link"):
        audit_quickly(path)


def test_names_beyond_ascii(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """I7: in the folder, the model and its weights; and back from JSON as they were."""
    model = builders.non_ascii_path(tmp_path)
    out = tmp_path / "größe.json"
    assert main([str(model), *ONCE, "--json", str(out), "--quiet"]) == 0
    told = json.loads(out.read_text("utf-8"))
    assert told["model"]["path"] == str(model)
    assert told["targets"][0]["status"] == "ok"
    assert capsys.readouterr().out == ""


def test_a_format_of_the_future(tmp_path: Path) -> None:
    """I8: one line that names both versions."""
    with pytest.raises(ModelError) as error:
        audit_quickly(builders.ir_version_99(tmp_path))
    assert "ir_version) 99" in str(error.value)
    assert "newest that is known here is" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_operator_that_nobody_has(tmp_path: Path) -> None:
    """I9: named with its domain."""
    with pytest.raises(ModelError, match=r"my\.ops:Nope"):
        audit_quickly(builders.unknown_domain(tmp_path))


@pytest.mark.parametrize(
    ("build", "code", "words"),
    [
        (lambda folder: folder / "nothing.onnx", 2, "no such file"),
        (builders.not_onnx, 3, "no ONNX file"),
        (builders.empty_file, 3, "empty"),
        (builders.truncated, 3, "cut off"),
        (builders.ir_version_99, 3, "99"),
        (builders.unknown_domain, 3, "my.ops:Nope"),
        (builders.external_data_missing, 3, "missing"),
        (builders.external_data_escaping, 3, "leaves the folder"),
    ],
)
def test_bad_files_end_in_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    build: Callable[[Path], Path],
    code: int,
    words: str,
) -> None:
    """Item 9: on stderr, with the designed exit code, and nothing is written."""
    model = build(tmp_path / "model")
    before = listing(tmp_path)
    saved = [str(tmp_path / name) for name in ("out.json", "out.csv", "out.audit")]
    options = ["--json", saved[0], "--csv", saved[1], "--save", saved[2]]
    assert main([str(model), *ONCE, *options]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("detaudit: ")
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--device", "gpu"], 2, "unknown device 'gpu'"),
        (["--device", ""], 2, "known devices"),
        (["--device", "cpu[threads=many]"], 2, "threads=many"),
        (["--device", "cpu[colour=red]"], 2, "unknown option colour"),
        (["--device", "cpu[threads=2"], 2, "brackets"),
        (["--device", "cpu", "--shape", "width=3"], 2, "width"),
        (["--device", "cpu", "--shape", "x=0x-3"], 2, "x=0x-3"),
        (["--device", "cpu", "--input", "z=ones"], 2, "no input 'z'"),
        (["--device", "cpu", "--input", "x=@nothing.npy"], 2, "no such file"),
        (["--device", "cpu", "--reference", "cuda:0"], 2, "none of the targets"),
        (["--device", "cpu", "--runs", "0"], 2, "--runs 0"),
        (["--device", "cpu", "--seed", "-1"], 2, "--seed -1"),
        (["--device", "cpu", "--seed", str(2**32)], 2, f"--seed {2**32}"),
        (["--device", "cpu", "--require", "nice"], 2, "nice"),
        (["--device", "cpu", "--output", "z"], 2, "no output 'z'"),
        (["--device", "cpu", "--colour"], 2, "--colour"),
        (["--device", "cpu[python=/no/python]"], 2, "/no/python"),
    ],
)
def test_bad_commands_end_in_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
    words: str,
) -> None:
    """Item 9: before any device is touched."""
    model = builders.classifier(tmp_path)
    before = listing(tmp_path)
    assert main([str(model), *options, "--json", str(tmp_path / "out.json")]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err
    assert listing(tmp_path) == before


def test_a_device_that_is_not_there_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Item 9: cuda:99 ends with 3, whatever else could be audited."""
    assert main([str(builders.classifier(tmp_path)), "--device", "cuda:99", *ONCE[2:]]) == 3
    assert "unavailable" in capsys.readouterr().out
