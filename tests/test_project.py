from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detaudit.audit import plan_audit
from detaudit.errors import UsageError
from detaudit.project import PROJECT_OPTIONS, Project, read_project


def write(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


def read(folder: Path, text: str) -> dict[str, Any]:
    return dict(read_project(write(folder, f"[tool.detaudit]\n{text}")).options)


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    text = """
    require = ["decimals=3", "y:no-class-flip"]
    device = ["cpu", "cpu[threads=4,opt=off]"]
    variants = "none"
    runs = 3
    sessions = 1
    processes = 4
    seed = 0
    decimals = [1, 4]
    confidence = 0.9
    timeout = 60
    """
    options = read(tmp_path, text)
    assert options == {
        "require": "decimals=3,y:no-class-flip",
        "device": "cpu,cpu[threads=4,opt=off]",
        "variants": "none",
        "runs": 3,
        "sessions": 1,
        "processes": 4,
        "seed": 0,
        "decimals": (1, 4),
        "confidence": 0.9,
        "timeout": 60,
    }
    assert set(options) == set(PROJECT_OPTIONS)
    plan = plan_audit("m.onnx", **options)
    assert (plan.runs, plan.processes, plan.judging.decimals) == (3, 4, (1, 4))
    assert [target.name for target in plan.targets] == ["cpu", "cpu[opt=off,threads=4]"]


@pytest.mark.parametrize(("text", "expected"), [("3", (3, 3)), ("[0, 12]", (0, 12))])
def test_decimals(text: str, expected: tuple[int, int], tmp_path: Path) -> None:
    assert read(tmp_path, f"decimals = {text}") == {"decimals": expected}


def test_the_nearest_project_is_the_one(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    write(tmp_path, "[tool.detaudit]\nruns = 3")
    assert read_project(inner) == Project("../../../pyproject.toml", {"runs": 3})
    assert read_project(tmp_path) == Project("pyproject.toml", {"runs": 3})
    write(tmp_path / "a", "[project]\nname = 'a'")
    assert read_project(inner) == Project()


@pytest.mark.parametrize("text", ["", "[tool]", "[tool.other]\nruns = 1", "[tool.detaudit]"])
def test_a_project_that_says_nothing(text: str, tmp_path: Path) -> None:
    assert read_project(write(tmp_path, text)) == Project()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rnus = 3", "has an unknown key 'rnus'; did you mean runs?"),
        ("colour = 3", "has an unknown key 'colour'; known keys: require, device, variants, runs"),
        ("runs = 'ten'", "runs = 'ten' is not a whole number of at least 1"),
        ("runs = 0", "runs = 0 is not a whole number of at least 1"),
        ("runs = true", "runs = True is not a whole number"),
        ("runs = 2.0", "runs = 2.0 is not a whole number"),
        ("seed = -1", "seed = -1 is not a whole number within 0 to 4294967295"),
        ("require = 3", "require = 3 is not a text or a list of texts"),
        ("require = []", "require = [] is not a text or a list of texts"),
        ("require = 'best'", "require: unknown requirement 'best'"),
        ("device = ['cpu', 1]", "device = ['cpu', 1] is not a text or a list of texts"),
        ("variants = 'many'", "variants = 'many' is not 'standard' or 'none'"),
        ("variants = ['none']", "variants = ['none'] is not 'standard' or 'none'"),
        ("decimals = '0-7'", "decimals = '0-7' is not a number or a pair of numbers"),
        ("decimals = [5, 1]", "decimals = [5, 1] is not a number or a pair"),
        ("decimals = [1, 2, 3]", "decimals = [1, 2, 3] is not a number or a pair"),
        ("decimals = 13", "decimals = 13 is not a number or a pair"),
        ("decimals = true", "decimals = True is not a number or a pair"),
        ("confidence = 2", "confidence = 2 is not a number within 0.01 to 0.9999"),
        ("confidence = nan", "confidence = nan is not a number within"),
        ("timeout = 0", "timeout = 0 is not a number of seconds within"),
        ("timeout = inf", "timeout = inf is not a number of seconds within"),
        ("runs = ", "is no valid TOML: "),
    ],
)
def test_what_cannot_be_meant(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith("pyproject.toml")
    assert words in message
    assert "\n" not in message


def test_files_that_are_no_projects(tmp_path: Path) -> None:
    for data in (b"[tool]\ndetaudit = 3", b"tool = 3", b"\xff", b"x = " + b"[" * 9999):
        (tmp_path / "pyproject.toml").write_bytes(data)
        if data == b"tool = 3":
            assert read_project(tmp_path) == Project()
            continue
        with pytest.raises(UsageError, match=r"^pyproject\.toml(:| is) "):
            read_project(tmp_path)
