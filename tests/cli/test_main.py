from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from detaudit.archive import open_record
from detaudit.cli import main
from tests.builders import (
    classifier,
    empty_file,
    ir_version_99,
    noisy,
    not_onnx,
    truncated,
    unknown_domain,
)
from tests.cli.commands import ONCE, ROOT, call, children, is_running, start

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder to work in, where an error must leave nothing behind."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def evil_zip(folder: Path) -> Path:
    path = folder / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../x", "escaped")
        archive.writestr("model.onnx", "nothing")
    return path


def complain(arguments: list[str], code: int, capsys: Capture, words: str) -> None:
    """A wrong call is told in one line, and writes nothing."""
    before = sorted(Path().rglob("*"))
    outputs = ["--json", "r.json", "--csv", "r.csv", "--save", "r.audit"]
    assert main([*arguments, *outputs]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("detaudit: ")
    assert said.err.count("\n") == 1
    assert words in said.err
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize(
    ("build", "code", "words"),
    [
        (lambda folder: folder / "missing.onnx", 2, "missing.onnx"),
        (not_onnx, 3, "not_onnx"),
        (empty_file, 3, "empty"),
        (truncated, 3, "truncated"),
        (ir_version_99, 3, "99"),
        (unknown_domain, 3, "my.ops:Nope"),
        (evil_zip, 3, "../x"),
    ],
)
def test_files_that_cannot_be_audited(
    build: Callable[[Path], Path],
    code: int,
    words: str,
    tmp_path: Path,
    place: Path,
    capsys: Capture,
) -> None:
    complain([str(build(tmp_path))], code, capsys, words)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--device", "gpu"], "unknown device 'gpu'"),
        (["--device", ""], "known devices"),
        (["--device", "cpu,"], "known devices"),
        (["--device", "CUDA:0"], "did you mean cuda:0?"),
        (["--device", "cpu[speed=9]"], "known options"),
        (["--device", "cpu[python=no/python]"], "no/python is no Python interpreter"),
        (["--shape", "frames"], "--shape frames is not of the form NAME=DIM"),
        (["--shape", "frames=160"], "frames"),
        (["--shape", "x=1x17"], "x"),
        (["--shape", "n=many"], "many"),
        (["--input", "q=zeros"], "q"),
        (["--input", "x=colourful"], "colourful"),
        (["--input", "x=@none.npy"], "none.npy"),
        (["--input", "none.npz"], "none.npz"),
        (["--input", "a.npz", "--input", "b.npz"], "already taken from a.npz"),
        (["--output", "q"], "the model has no output 'q'; it has: logits"),
        (["--runs", "0"], "--runs 0 is less than 1"),
        (["--runs", "x"], "--runs"),
        (["--samples", "0"], "--samples 0 is less than 1"),
        (["--seed", "-1"], "--seed -1"),
        (["--seed", "4294967296"], "--seed 4294967296"),
        (["--timeout", "inf"], "--timeout inf"),
        (["--duration", "nan"], "--duration nan"),
        (["--confidence", "95"], "--confidence 95.0"),
        (["--decimals", "7-0"], "--decimals 7-0"),
        (["--decimals", "x"], "--decimals x"),
        (["--reference", "cuda:0", "--device", "cpu"], "the reference cuda:0 is none"),
        (["--reference", "gpu", "--device", "cpu"], "unknown device 'gpu'"),
        (["--require", "perfect"], "unknown requirement 'perfect'"),
        (["--require", "max_abs=1.2.3"], "'1.2.3' is no number"),
        (["--labels", "a,,b"], "a label is empty"),
        (["--variants", "many"], "--variants"),
        (["--no-such-option"], "unknown option --no-such-option"),
        (["--jsn", "x"], "did you mean --json?"),
        (["another.onnx"], "unknown argument another.onnx"),
        (["--json", "none/r.json"], "there is no folder none"),
        (["--save", "."], "it is a folder"),
    ],
)
def test_commands_that_are_wrong(
    arguments: list[str], words: str, tmp_path: Path, place: Path, capsys: Capture
) -> None:
    model = str(classifier(tmp_path))
    before = sorted(Path().rglob("*"))
    assert main([model, *ONCE, "--csv", "r.csv", "--json", "r.json", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("detaudit: ")
    assert said.err.count("\n") == 1
    assert words in said.err
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (["--labels", "a,b"], "2 labels do not fit output 'logits'"),
        (["--labels", "q=a,b,c"], "has no output 'q'; it has: logits"),
        (["--classes", "q"], "the model has no output 'q'"),
        (["--classes", "logits:7"], "has no axis 7"),
    ],
)
def test_names_that_do_not_fit_the_model(
    option: list[str], words: str, tmp_path: Path, place: Path, capsys: Capture
) -> None:
    assert main([str(classifier(tmp_path)), *ONCE, *option]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert words in said.err


@pytest.mark.parametrize("arguments", [[], ["show"], ["show", "a", "b"], ["--json", "-"]])
def test_arguments_that_are_missing(arguments: list[str], capsys: Capture) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--device", "cpu"], 0),
        (["--device", "cpu,cpu[opt=off]", "--require", "max_abs=1"], 0),
        (["--device", "cpu", "--require", "identical"], 1),
        (["--device", "cpu,ep:XnnpackExecutionProvider"], 3),
        (["--device", "cpu,ep:XnnpackExecutionProvider", "--require", "identical"], 3),
        (["--device", "ep:XnnpackExecutionProvider"], 3),
    ],
)
def test_exit_codes(arguments: list[str], code: int, tmp_path: Path, capsys: Capture) -> None:
    assert main([str(noisy(tmp_path)), *ONCE, *arguments]) == code
    said = capsys.readouterr()
    assert said.err == ""
    assert ("Xnnpack" in said.out) == any("Xnnpack" in argument for argument in arguments)


def test_a_device_that_is_not_there_is_told_in_the_report(tmp_path: Path, capsys: Capture) -> None:
    assert main([str(classifier(tmp_path)), *ONCE, "--device", "cuda:99", "--json", "-"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert [(t["name"], t["status"]) for t in report["targets"]] == [
        ("cuda:99", "unavailable"),
        ("cuda:99[cudnn_conv_algo_search=DEFAULT]", "unavailable"),
        ("cuda:99[use_tf32=0]", "unavailable"),
    ]
    assert all(t["reason"] for t in report["targets"])
    assert report["repeatability"] == []
    assert report["verdict"]["sentence"].startswith("Not audited: cuda:99")


def options_of(text: str) -> set[str]:
    words = text.replace(",", " ").replace("[", " ").replace("]", " ").split()
    return {word for word in words if word.startswith("--")}


def test_help_lists_every_option(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert options_of(text) >= {
        *("--device", "--reference", "--variants", "--runs", "--sessions", "--processes"),
        *("--seed", "--samples", "--input", "--shape", "--labels", "--output", "--decimals"),
        *("--require", "--csv", "--json", "--junit", "--save", "--trust", "--timeout", "--quiet"),
        *("--no-progress", "--classes", "--confidence", "--duration", "--sampling-rate"),
        *("--seed-runtime", "--version", "--help"),
    }
    assert "detaudit show RECORD" in text
    assert "detaudit check RECORD" in text
    assert "[tool.detaudit]" in text
    assert "detaudit demo" in text
    assert "exit codes:" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    "arguments", [["--help"], ["show", "--help"], ["--version"], ["gpu", "--x"]]
)
def test_help_and_complaints_load_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from detaudit.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pandas', 'rich', 'onnx', 'onnxruntime', 'torch', 'scipy', 'yaml'}\n"
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_told(capsys: Capture) -> None:
    from detaudit import __version__

    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"detaudit {__version__}\n"


def test_the_package_can_be_called(tmp_path: Path) -> None:
    done = call(tmp_path / "missing.onnx")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code"), [((), 0), (("--require", "identical"), 1), (("--json", "-"), 0)]
)
def test_a_reader_that_has_gone_changes_no_answer(
    arguments: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = call(noisy(tmp_path), *ONCE, *arguments, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (code, "")


def test_help_for_a_reader_that_has_gone() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = call("--help", stdout=writing)
    os.close(writing)
    assert "Traceback" not in done.stderr


def test_a_full_disk_behind_stdout_is_told(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = call(classifier(tmp_path), *ONCE, stdout=full)
    assert done.returncode == 3
    assert done.stderr == "detaudit: No space left on device\n"


@pytest.fixture
def waiting_python(tmp_path: Path) -> Callable[[], tuple[str, Path]]:
    """Interpreter whose worker never says anything, and the file that its pid goes to."""

    def write() -> tuple[str, Path]:
        path, pid = tmp_path / "python", tmp_path / "pid"
        path.write_text(
            f"#!{sys.executable}\nimport os, time\n"
            f"open({str(pid) + '.new'!r}, 'w').write(str(os.getpid()))\n"
            f"os.rename({str(pid) + '.new'!r}, {str(pid)!r})\n"
            "time.sleep(600)\n",
            encoding="utf-8",
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path), pid

    return write


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def test_ctrl_c_reports_and_saves_what_was_captured(
    tmp_path: Path, waiting_python: Callable[[], tuple[str, Path]]
) -> None:
    python, pid = waiting_python()
    record = tmp_path / "r.audit"
    devices = f"cpu,cpu[python={python}],cpu[opt=off]"
    process = start(classifier(tmp_path), *ONCE, "--device", devices, "--save", record)
    wait_for(pid.exists)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "Traceback" not in errors
    assert not is_running(int(pid.read_text()))
    assert "no difference was seen in 2 runs" in " ".join(output.split())
    assert "interrupted after 0 of 2 calls" in " ".join(output.split())
    with open_record(record) as opened:
        assert opened.interrupted
        assert [t.status for t in opened.targets] == ["ok", "failed", "skipped"]
        assert opened.arrays["0/runs"].size == 2


@pytest.mark.parametrize("delay", [0.0, 0.5, 2.0])
def test_ctrl_c_at_any_moment_leaves_no_worker(delay: float, tmp_path: Path) -> None:
    process = start(noisy(tmp_path), "--runs", "10000000")
    wait_for(lambda: bool(children(process.pid)))
    workers = children(process.pid)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    wait_for(lambda: not any(map(is_running, workers)))
    if errors:
        assert errors == "detaudit: interrupted before anything was audited\n"
        # Python itself ends by the signal when that reached code in a string, as of a dataclass.
        assert process.returncode in (3, -signal.SIGINT)
    else:
        assert "interrupted after" in " ".join(output.split())
        assert process.returncode == 3


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_no_worker_outlives_the_command(how: signal.Signals, tmp_path: Path) -> None:
    process = start(noisy(tmp_path), "--runs", "10000000")
    wait_for(lambda: bool(children(process.pid)))
    workers = children(process.pid)
    time.sleep(0.5)
    process.send_signal(how)
    process.communicate(timeout=60)
    wait_for(lambda: not any(map(is_running, workers)))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_what_ends_a_program_from_outside_ends_it_as_ctrl_c_does(name: str, tmp_path: Path) -> None:
    """A CI cancels with SIGTERM, a closed terminal with SIGHUP: nothing may be left behind."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    model = noisy(tmp_path)
    arguments = [str(model), "--device", "cpu", "--runs", "1000000", "--no-progress"]
    process = subprocess.Popen(
        [sys.executable, "-m", "detaudit", *arguments],
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "interrupted after" in out
    assert [p for p in temporary.iterdir() if p.name.startswith("detaudit")] == []


def test_closed_stdout_is_no_traceback(tmp_path: Path) -> None:
    model = classifier(tmp_path)
    command = f"{sys.executable} -m detaudit {model} --device cpu --runs 2 >&-"
    done = subprocess.run(
        ["sh", "-c", command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_one_file_that_cannot_be_written_keeps_no_other_from_it(
    tmp_path: Path, capsys: Capture
) -> None:
    model, good = classifier(tmp_path), tmp_path / "good.json"
    arguments = [str(model), "--device", "cpu", "--runs", "2", "--no-progress"]
    assert main([*arguments, "--csv", "/dev/full", "--json", str(good)]) == 3
    said = capsys.readouterr()
    assert "No space left on device (/dev/full)" in said.err
    assert "Verdict" in said.out
    assert good.exists()
