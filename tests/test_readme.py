from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.readme import read_command

ROOT = Path(__file__).resolve().parent.parent


def write_readme(folder: Path, **commands: str) -> Path:
    blocks = (f"<!-- command: {name} -->\n```sh\n{text}\n```" for name, text in commands.items())
    path = folder / "README.md"
    path.write_text("\n\n".join(blocks), "utf-8")
    return path


def test_reads_the_named_command(tmp_path: Path) -> None:
    readme = write_readme(tmp_path, demo="echo a", tests="echo b &&\n  echo c")
    assert read_command("demo", readme) == "echo a"
    assert read_command("tests", readme) == "echo b &&\n  echo c"


@pytest.mark.parametrize("commands", [{}, {"other": "echo"}])
def test_a_missing_command_is_an_error(tmp_path: Path, commands: dict[str, str]) -> None:
    with pytest.raises(LookupError, match="0 commands named 'tests'"):
        read_command("tests", write_readme(tmp_path, **commands))


@pytest.mark.skipif(sys.platform == "win32", reason="the checks' entry point is a bash script")
@pytest.mark.parametrize(("command", "code"), [("echo ran > ran", 0), ("exit 7", 7)])
def test_ci_runs_the_command_of_the_readme(tmp_path: Path, command: str, code: int) -> None:
    for name in (".ci/run", "tests/readme.py"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(ROOT / name, tmp_path / name)
    write_readme(tmp_path, demo="echo demo > demo", tests=command)
    done = subprocess.run(
        ["bash", tmp_path / ".ci" / "run"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.splitlines()[0]) == (code, command)
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == sorted(
        ["README.md", "ran"] if code == 0 else ["README.md"]
    )


def test_commands_use_what_the_repository_holds() -> None:
    tests, demo = read_command("tests"), read_command("demo")
    assert re.search(r"nox==\d+\.\d+\.\d+ ", tests)
    for command in (tests, demo):
        for name in re.findall(r"(?:-c|-f) (\S+)", command):
            assert (ROOT / name).is_file()
