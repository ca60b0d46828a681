"""What docs/requirements.rst shows is what is there."""

from __future__ import annotations

import re
import shlex
import textwrap
from pathlib import Path

import pytest
import yaml

from detaudit.cli import main
from detaudit.project import PROJECT_OPTIONS, read_project
from detaudit.requirement import parse_requirement
from tests.builders import classifier

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "requirements.rst").read_text(encoding="utf-8")
STEPS = yaml.safe_load((DOCS / "github-actions.yml").read_text(encoding="utf-8"))["jobs"]["audit"][
    "steps"
]


def show_project(folder: Path) -> None:
    """Write the pyproject.toml of the page."""
    (block,) = re.findall(r"code-block:: toml\n\n((?:    .*\n|\n)+)", PAGE)
    (folder / "pyproject.toml").write_text(textwrap.dedent(block), encoding="utf-8")


def test_the_project_of_the_page_is_a_valid_one(tmp_path: Path) -> None:
    show_project(tmp_path)
    options = read_project(tmp_path).options
    assert options["require"] == "decimals=3,scores:no-class-flip"
    assert set(options) == {"require", "device", "processes"}


def test_the_page_lists_every_key_and_requirement() -> None:
    listed = set(re.findall(r"``([a-z-]+)``", PAGE))
    assert set(PROJECT_OPTIONS) <= listed
    forms = re.findall(r"^``(identical|[a-z_-]+(?:=[KXNP])?)``  ", PAGE, re.MULTILINE)
    numbers = {"K": "3", "X": "1e-6", "N": "4", "P": "0.01"}
    texts = [re.sub("=(.)", lambda found: f"={numbers[found[1]]}", form) for form in forms]
    kinds = {parse_requirement(text)[0].kind for text in texts if text not in PROJECT_OPTIONS}
    assert kinds == {"identical", "decimals", "max_abs", "ulp", "no-class-flip", "flip-rate"}


def test_the_steps_of_the_workflow_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    classifier(tmp_path / "models").rename(tmp_path / "models" / "net.onnx")
    (tmp_path / "pyproject.toml").write_text(
        "[tool.detaudit]\nrequire = 'decimals=3'\ndevice = 'cpu'\nruns = 2\nprocesses = 1\n",
        encoding="utf-8",
    )
    commands = [shlex.split(step["run"]) for step in STEPS if "run" in step]
    assert [words[0] for words in commands] == ["python", "detaudit", "detaudit"]
    for words in commands[1:]:
        assert main(words[1:]) == 0
    kept = next(step["with"]["path"].split() for step in STEPS if "upload" in step.get("uses", ""))
    found = {path.name for pattern in kept for path in tmp_path.glob(pattern)}
    assert found == {"net.audit", "audit.xml", "release.xml"}
