from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from detaudit.errors import DetauditError, UsageError
from detaudit.story.child import log as log_module
from detaudit.story.child.log import Log
from detaudit.story.reading import read_run
from detaudit.story.told import End
from tests.story.runs import draw, early, make_run, seed, unseeded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "log").touch()
    return tmp_path / "log"


def plain(event: Any) -> dict[str, Any]:
    """Event as a watch in the child hands it over."""
    names = ("kind", "generator", "what", "seed", "file", "line", "function", "stack", "thread")
    return {name: getattr(event, name) for name in names}


def tell(log: Log, *happened: Any) -> None:
    for one in happened:
        event, *rest = one if isinstance(one, tuple) else (one,)
        log.tell_event(plain(event), *rest[:1], known=len(rest) < 2)


def test_what_is_told_is_read(path: Path) -> None:
    happened = [
        early("numpy", 1, "a"),
        seed("numpy", 3, 2),
        draw("numpy", 3, "b", stack=(("/home/me/train.py", 9, "main"),)),
        draw("numpy", 3, "c", stack=(("/home/me/train.py", 9, "main"),)),
        seed("numpy", 3, 4, "reseed"),
        seed("numpy", 3, 4, "reseed"),
        draw("torch", 5, "", thread="w"),
    ]
    log = Log(str(path))
    versions = {"python": "3.12.1", "numpy": "2.4.6"}
    log.tell(versions=versions, hash_fixed=True)
    tell(log, *happened)
    log.tell(process="fork")
    log.tell(process="fork")
    log.tell(note="one thing")
    log.tell(complete=True)
    assert read_run(path, 0) == make_run(*happened, processes=("fork",), notes=("one thing",))


def test_lines_reach_the_file_at_once_and_a_half_line_is_passed_over(path: Path) -> None:
    log = Log(str(path))
    tell(log, draw("numpy", 3, "a"))
    path.write_text(path.read_text("ascii") + '{"draw":[0,', "ascii")
    run = read_run(path, -9)
    assert run.end == End(-9, complete=False)
    assert run.trace == ((0, "a"),)


def test_a_long_run_is_summed_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "LONGEST", 4)
    monkeypatch.setattr(log_module, "_SUM", 3)
    log = Log(str(path))
    for number in range(11):
        tell(log, draw("numpy", 3 + number % 2, str(number)))
    assert [told.event.count for told in read_run(path, 0).told] == [5, 4]  # 2 wait for the end
    log.tell_rest()
    log.tell_rest()
    run = read_run(path, 0)
    assert [told.event.count for told in run.told] == [6, 5]
    assert len(run.trace) == 4
    assert any("first 4 draws" in note for note in run.notes)


def test_a_log_that_the_script_closed_is_opened_again_and_other_files_are_left_alone(
    path: Path, tmp_path: Path
) -> None:
    log = Log(str(path))
    tell(log, draw("numpy", 3, "a"))
    number = log._file
    os.close(number)
    with (tmp_path / "other").open("w") as other:
        os.dup2(other.fileno(), number)
        tell(log, draw("numpy", 3, "b"))
        assert log._file != number
        log.tell(complete=True)
        os.close(number)
    assert [state for _, state in read_run(path, 0).trace] == ["a", "b"]
    assert (tmp_path / "other").read_bytes() == b""


def test_a_log_that_is_gone_is_not_made_again(path: Path) -> None:
    log = Log(str(path))
    os.close(log._file)
    path.rename(path.with_name("moved"))
    tell(log, draw("numpy", 3, "a"))
    path.write_bytes(b"")
    tell(log, draw("numpy", 3, "a"))
    assert path.read_bytes() == b""


@pytest.mark.skipif(os.name == "nt", reason="the system cannot choose numbers of files")
def test_the_lowest_numbers_of_files_are_left_to_the_script(path: Path) -> None:
    lowest = os.dup(0)
    os.close(lowest)
    log = Log(str(path))
    os.close(log._file)
    log.tell(complete=True)
    assert os.dup(0) == lowest
    os.close(lowest)
    assert read_run(path, 0).end == End(0)


@pytest.mark.parametrize("room", [0, 10, 300, 5_000])
@pytest.mark.parametrize("short", [False, True])
def test_a_full_disk_ends_the_log_and_not_the_script(
    room: int, short: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be told is told to be missing, in the room of the last lines."""
    write = os.write

    def write_if_there_is_room(file: int, data: bytes) -> int:
        left = max(600, room) - os.fstat(file).st_size
        if left < len(data) and not short:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[: max(0, left)])

    monkeypatch.setattr(os, "write", write_if_there_is_room)
    log = Log(str(path))
    for number in range(2_000):
        tell(log, draw("numpy", 3, f"{number:08}"))
    log.tell_rest()
    log.tell(complete=True)
    run = read_run(path, 0)
    cut = "no space is left" if short else "No space left on device"
    assert run.end == End(0, complete=False, cut=cut)
    assert [state for _, state in run.trace] == [f"{n:08}" for n in range(len(run.trace))]
    assert (len(run.trace) > 100) == (room > 1_000)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_is_silent_even_while_the_lock_is_held(path: Path) -> None:
    log = Log(str(path))
    with log._lock:
        child = os.fork()
        if child == 0:
            tell(log, draw("numpy", 3, "a"))
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert path.read_bytes() == b""


def test_any_text_can_be_told(path: Path) -> None:
    log = Log(str(path))
    event = unseeded(1, file="/\udcff/größe\n.py", function="x\u2028y")
    tell(log, event)
    assert path.read_bytes().isascii()
    (told,) = read_run(path, 0).told
    assert told.event == event


@pytest.mark.parametrize(("wrong", "kind"), [(True, UsageError), (False, DetauditError)])
def test_what_could_not_be_run(wrong: bool, kind: type[Exception], path: Path) -> None:
    path.write_text(json.dumps({"refused": "no module", "wrong": wrong}) + "\n", "ascii")
    with pytest.raises(kind, match="no module") as caught:
        read_run(path, 3)
    assert type(caught.value) is kind
