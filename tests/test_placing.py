from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from detaudit.cli import main
from detaudit.placing import is_stream, placed
from tests import builders

QUICK = ["--device", "cpu", "--runs", "2", "--sessions", "1", "--processes", "1", "--no-progress"]


def test_a_file_is_replaced_when_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with placed(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_an_error_leaves_what_was_there_and_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(OSError, match=r"No space left on device.*a\.txt") as found, placed(path):
        raise OSError("100 requested and 10 written")
    assert found.value.errno == errno.ENOSPC
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    with placed(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    with placed(pipe) as temporary:
        temporary.write_text("new")
    reader.join(10)
    assert got == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("path", ["/dev/null", "/dev/stdout", "/proc/self/fd/1"])
def test_devices_are_no_files(path: str) -> None:
    assert is_stream(Path(path))


def test_files_and_what_is_not_there_yet_are_no_devices(tmp_path: Path) -> None:
    assert not is_stream(tmp_path)
    assert not is_stream(tmp_path / "new")


@pytest.mark.parametrize("option", ["--json", "--csv", "--save"])
def test_what_is_read_is_never_overwritten(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = builders.identity(tmp_path, "float")
    before = model.read_bytes()
    link = tmp_path / "link.onnx"
    link.symlink_to(model)
    for output in (model, link):
        assert main([str(model), *QUICK, option, str(output)]) == 2
        assert "would overwrite what is read" in capsys.readouterr().err
    assert model.read_bytes() == before


def test_a_record_is_not_overwritten_by_its_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, record = builders.identity(tmp_path, "float"), tmp_path / "r.audit"
    assert main([str(model), *QUICK, "--quiet", "--save", str(record)]) == 0
    before = record.read_bytes()
    assert main(["show", str(record), "--json", str(record)]) == 2
    assert "would overwrite what is read" in capsys.readouterr().err
    assert record.read_bytes() == before


@pytest.mark.parametrize("option", ["--csv", "--save"])
def test_only_json_goes_to_stdout(tmp_path: Path, option: str) -> None:
    model = builders.identity(tmp_path, "float")
    assert main([str(model), *QUICK, option, "-"]) == 2
