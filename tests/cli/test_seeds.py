from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from detaudit.cli import main
from tests.cli.commands import call, start

Capture = pytest.CaptureFixture[str]


SEEDED = "import random\nrandom.seed(1)\nprint(random.random())\n"
UNSEEDED = "import random\nprint(random.random())\n"
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    return tmp_path


def write(text: str, name: str = "train.py") -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return name


def tell(*arguments: str, code: int = 0) -> dict[str, Any]:
    """Story of a command as JSON."""
    assert main(["seeds", *("--json", "s.json", "--quiet"), *arguments]) == code
    story: dict[str, Any] = json.loads(Path("s.json").read_text("ascii"))
    return story


def lines(story: dict[str, Any], run: int = 0) -> list[tuple[str, str, int]]:
    events = [told["event"] for told in story["runs"][run]["told"]]
    return [(event["kind"], event["what"], event["line"]) for event in events]


def test_the_story_follows_what_the_script_prints(capfd: Capture) -> None:
    assert main(["seeds", write(SEEDED)]) == 0
    said = capfd.readouterr()
    assert said.err == ""
    first, _, story = said.out.partition("\n")
    assert 0 <= float(first) < 1
    assert story.startswith("detaudit ")
    assert "random.seed(1)  train.py:2" in story
    assert "Everything that was drawn came after a seed." in story


def test_the_script_gets_every_option_after_its_name(capfd: Capture) -> None:
    write("import sys; print(sys.argv[1:], file=sys.stderr)")
    arguments = ["--json", "-", "--repeat", "2", "-m", "x", "--", "--help", "--quiet"]
    for before in ([], ["--quiet"], ["--strict", "--repeat", "1"], ["--"]):
        assert main(["seeds", *before, "train.py", *arguments]) == 0
        said = capfd.readouterr()
        assert said.err == f"{arguments}\n"
        assert bool(said.out) is (before != ["--quiet"])


def test_json_on_stdout_stays_json(capfd: Capture) -> None:
    write(SEEDED + "import os; os.write(1, b'raw')")
    assert main(["seeds", "--json", "-", "train.py"]) == 0
    said = capfd.readouterr()
    assert json.loads(said.out)["format"] == "detaudit-story"
    assert said.err.endswith("raw")


def test_a_module_is_run(capfd: Capture) -> None:
    write("import random; random.random()", "package/__main__.py")
    write("", "package/__init__.py")
    story = tell("-m", "package", "--epochs", "3")
    assert story["command"] == ["-m", "package", "--epochs", "3"]
    assert lines(story) == [("draw", "random.random", 1)]


def test_the_order_of_things(capfd: Capture) -> None:
    write(
        "import random, numpy as np\n"
        "np.random.rand()\n"
        "np.random.seed(3); random.seed(3)\n"
        "def draw():\n"
        "    return np.random.rand()\n"
        "for _ in range(4): draw()\n"
        "rng = np.random.default_rng()\n"
        "np.random.seed(3)\n"
    )
    story = tell("train.py")
    assert lines(story) == [
        ("draw", "numpy.random.rand", 2),
        ("seed", "numpy.random.seed(3)", 3),
        ("seed", "random.seed(3)", 3),
        ("draw", "numpy.random.rand", 5),
        ("unseeded-generator", "numpy.random.default_rng()", 7),
        ("reseed", "numpy.random.seed(3)", 8),
    ]
    told = story["runs"][0]["told"]
    assert [one["event"]["count"] for one in told] == [1, 1, 1, 4, 1, 1]
    assert [one["early"] for one in told] == [True, *[False] * 5]
    assert [one["after"] for one in told] == [0, 1, 1, 1, 5, 5]
    assert told[3]["event"]["stack"] == [[str(Path("train.py").resolve()), 6, "<module>"]]


@pytest.mark.parametrize(
    ("text", "strict", "code"),
    [
        (SEEDED, [], 0),
        (SEEDED, ["--strict"], 0),
        (UNSEEDED, [], 0),
        (UNSEEDED, ["--strict"], 1),
        ("import numpy; numpy.random.default_rng()", ["--strict"], 1),
        ("import random; random.seed()", ["--strict"], 1),
        (SEEDED + "raise SystemExit(1)", ["--strict"], 3),
        (UNSEEDED + "raise ValueError", ["--strict"], 3),
    ],
)
def test_exit_codes(text: str, strict: list[str], code: int, capfd: Capture) -> None:
    assert main(["seeds", *strict, write(text)]) == code


def test_runs_that_are_the_same(capfd: Capture) -> None:
    story = tell("--repeat", "3", write(SEEDED))
    assert len(story["runs"]) == 3
    assert [(one["run"], one["same"], one["kind"]) for one in story["comparisons"]] == [
        (2, 1, ""),
        (3, 1, ""),
    ]
    assert story["verdict"]["parted"] is False


def test_runs_that_part_in_state(capfd: Capture) -> None:
    write(
        "import numpy as np\n"
        "np.random.seed(1)\n"
        "rng = np.random.default_rng()\n"
        "np.random.rand(rng.integers(1, 10**6))\n"
        "np.random.permutation(3)\n"
    )
    story = tell("--repeat", "2", "train.py", code=1)
    (found,) = story["comparisons"]
    assert (found["kind"], found["same"], found["first"]["line"]) == ("state", 1, 5)
    assert "numpy.random.default_rng() at train.py:3 has no seed" in found["because"]


def test_runs_that_part_in_place(capfd: Capture) -> None:
    write(
        "import random, os\n"
        "random.seed(1)\n"
        "if os.path.exists('been'):\n"
        "    random.random()\n"
        "else:\n"
        "    open('been', 'w').close()\n"
        "    random.random()\n"
    )
    story = tell("--repeat", "2", "train.py", code=1)
    (found,) = story["comparisons"]
    assert (found["kind"], found["first"]["line"], found["other"]["line"]) == ("place", 7, 4)
    assert found["first"]["state"] == found["other"]["state"]


@pytest.mark.parametrize("fixed", [False, True])
def test_the_order_of_sets(fixed: bool, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    if fixed:
        monkeypatch.setenv("PYTHONHASHSEED", "0")
    write(
        "import random\n"
        "random.seed(1)\n"
        "for name in {str(n) for n in range(200)}:\n"
        "    if int(name) % 2: random.random()\n"
        "    else: random.random()\n"
    )
    story = tell("--repeat", "2", "train.py", code=0 if fixed else 1)
    (found,) = story["comparisons"]
    assert (found["kind"] == "") is fixed
    assert ("PYTHONHASHSEED" in "".join(found["because"])) is not fixed


def test_threads_are_not_called_unseeded(capfd: Capture) -> None:
    write(
        "import random, threading, os\n"
        "random.seed(1)\n"
        "def one(): random.random()\n"
        "def two(): random.random()\n"
        "order = [two, one] if os.path.exists('been') else [one, two]\n"
        "open('been', 'w').close()\n"
        "for work in order:\n"
        "    thread = threading.Thread(target=work)\n"
        "    thread.start(); thread.join()\n"
    )
    story = tell("--repeat", "2", "train.py", code=1)
    (found,) = story["comparisons"]
    assert found["because"][0].startswith("2 threads draw from python")
    assert story["verdict"]["unseeded"] is False


@needs_signals
@pytest.mark.parametrize(
    ("ending", "code", "complete"),
    [
        ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV, False),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, False),
        ("import os; os._exit(0)", 0, False),
        ("import os; os._exit(9)", 9, False),
        ("raise SystemExit(7)", 7, True),
        ("raise ValueError('bad')", 1, True),
        ("raise KeyboardInterrupt", -signal.SIGINT, True),
    ],
)
def test_nothing_that_was_seen_is_lost(
    ending: str, code: int, complete: bool, capfd: Capture
) -> None:
    story = tell(write(SEEDED + ending), code=3 if code else 0)
    assert lines(story) == [("seed", "random.seed(1)", 2), ("draw", "random.random", 3)]
    end = story["runs"][0]["end"]
    assert (end["code"], end["complete"]) == (code, complete)
    assert ("this is what was seen until then" in story["verdict"]["sentences"][-1]) is True


def test_the_traceback_is_the_scripts_own(capfd: Capture) -> None:
    assert main(["seeds", "--quiet", write("def f():\n    1 / 0\nf()")]) == 3
    plain = subprocess.run(
        [sys.executable, "train.py"], capture_output=True, text=True, check=False
    )
    assert capfd.readouterr().err == plain.stderr


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_other_processes_are_out_of_reach(method: str, capfd: Capture) -> None:
    import multiprocessing

    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    write(
        "import multiprocessing, random, sys\n"
        "def work(n): return random.random()\n"
        "if __name__ == '__main__':\n"
        "    random.seed(1)\n"
        "    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:\n"
        "        assert len(pool.map(work, range(3))) == 3\n"
    )
    story = tell("train.py", method)
    assert story["runs"][0]["processes"] == [method]
    assert [line for line in lines(story) if line[0] == "draw"] == []
    assert "in this process" in story["verdict"]["sentences"][0]


def test_a_script_may_turn_its_streams_and_files_over(capfd: Capture) -> None:
    write(
        "import io, os, random, sys\n"
        "sys.stdout = sys.stderr = io.StringIO()\n"
        "random.seed(1)\n"
        "os.closerange(3, 100)\n"
        "with open('mine', 'w') as file:\n"
        "    random.random()\n"
        "    file.write('x')\n"
    )
    story = tell("train.py")
    assert lines(story)[0] == ("seed", "random.seed(1)", 3)
    assert Path("mine").read_text("ascii") == "x"


def test_input_reaches_the_script(tmp_path: Path) -> None:
    write("print(input())")
    done = subprocess.run(
        [sys.executable, "-m", "detaudit", "seeds", "--quiet", "train.py"],
        input="given\n",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    assert done.stdout == "given\n"


def test_another_interpreter_needs_no_detaudit(tmp_path: Path, capfd: Capture) -> None:
    import venv

    import numpy

    venv.create(tmp_path / "env", with_pip=False)
    packages = next((tmp_path / "env").rglob("site-packages"))
    (packages / "numpy.pth").write_text(str(Path(numpy.__file__).parent.parent), "utf-8")
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    write("import sys; print(sys.prefix)\n" + SEEDED)
    story = tell("--python", str(python), "train.py")
    assert capfd.readouterr().out.splitlines()[0] == str(tmp_path / "env")
    assert lines(story)[0] == ("seed", "random.seed(1)", 3)


def test_an_interpreter_without_numpy_is_told_in_one_line(tmp_path: Path, capfd: Capture) -> None:
    write("raise ImportError('there is none')", "fake/numpy.py")
    write(SEEDED)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}/fake exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    assert main(["seeds", "--python", str(python), "train.py"]) == 3
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("detaudit: ")
    assert said.err.endswith("cannot watch a script: there is none\n")
    python.write_text("#!/bin/sh\nexit 4\n")
    assert main(["seeds", "--python", str(python), "train.py"]) == 3
    assert capfd.readouterr().err == f"detaudit: {python} ended with 4 before the script began\n"
    python.write_text("no program")
    assert main(["seeds", "--python", str(python), "train.py"]) == 3
    assert "cannot be started" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no script is named"),
        ([""], "no script is named"),
        (["-m"], "no script is named"),
        (["none.py"], "cannot read the script none.py: No such file or directory"),
        (["folder"], "folder is a folder, not a script"),
        (["binary.py"], "binary.py is no Python script: it is not text"),
        (["nul.py"], "nul.py is no Python script: it is not text"),
        (["--repeat", "0", "train.py"], "--repeat 0 is less than 1"),
        (["--repeat", "x", "train.py"], "--repeat"),
        (["--python", "no/python", "train.py"], "no/python is no Python interpreter"),
        (["--speed", "train.py"], "unknown option --speed"),
        (["--strct", "train.py"], "did you mean --strict?"),
        (["--json", "none/s.json", "train.py"], "there is no folder none"),
        (["--json", "train.py", "train.py"], "would overwrite what is read"),
        (["-m", "nothing"], "no module named nothing"),
        (["-m", "folder.nothing"], "no module named folder.nothing"),
    ],
)
def test_commands_that_are_wrong(arguments: list[str], words: str, capfd: Capture) -> None:
    write(SEEDED)
    write("", "folder/__init__.py")
    Path("binary.py").write_bytes(bytes(range(128, 256)))
    Path("nul.py").write_bytes(b"x = 1\0")
    assert main(["seeds", *arguments]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("detaudit: ")
    assert said.err.count("\n") == 1
    assert words in said.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_a_script_that_may_not_be_read(capfd: Capture) -> None:
    Path(write(SEEDED)).chmod(0)
    assert main(["seeds", "train.py"]) == 2
    assert "Permission denied" in capfd.readouterr().err


@needs_signals
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interrupted_script_leaves_its_story(name: str) -> None:
    write("import random, time\nrandom.random()\nprint('here', flush=True)\ntime.sleep(60)")
    process = start("seeds", "--repeat", "3", "train.py", start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(getattr(signal, name))
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert f"was killed by {name}" in output
    assert "python was never seeded: 1 draw" in output
    assert errors.count("detaudit: run ") == 1


@needs_signals
def test_a_script_that_catches_the_interrupt_goes_on() -> None:
    write(
        "import random, signal, time\n"
        "try:\n"
        "    print('here', flush=True); time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    random.random(); print('saved')\n"
    )
    process = start("seeds", "train.py", start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output.startswith("saved\n")
    assert "random.random  train.py:5" in output
    assert process.returncode == 3


def test_nobody_reads_the_story() -> None:
    write(SEEDED)
    process = start("seeds", "train.py")
    assert process.stdout is not None
    process.stdout.close()
    process.wait(timeout=60)
    assert process.stderr is not None
    # The script may notice first, as it would on its own; detaudit itself says nothing.
    assert "detaudit" not in process.stderr.read()


def test_help_names_the_command(capsys: Capture) -> None:
    for arguments, words in ((["--help"], "detaudit seeds SCRIPT"), (["seeds", "-h"], "--strict")):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert words in capsys.readouterr().out


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    write(SEEDED)
    assert call("seeds", "train.py").returncode == 0
    assert list((tmp_path / "tmp").iterdir()) == []
