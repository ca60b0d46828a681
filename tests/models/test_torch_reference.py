"""Code that is named is found without running it, and what is wrong is said in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from detaudit.errors import UsageError
from detaudit.models.torch_reference import Reference, looks_like_reference, parse_reference

NO_NAME = "is no name of a function or class; write it as net.py:make or net.py:Net.build"

CODE = """
raise SystemExit("nobody runs this")
class Net: ...
def make(): ...
def _hidden(): ...
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("net.py", "a b/net.py", "a.py:b/net.py", "C:\\x\\net.py", "Net.PY"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(CODE)
    for name in ("w.pth", "D:\\w.pth", "m:odel.onnx", "nets.onnx:make", "plain.onnx"):
        (tmp_path / name).write_bytes(b"\x08\x08")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "weights").mkdir()
    (tmp_path / "broken.py").write_text("x = 1\ndef (\n")
    (tmp_path / "binary.py").write_bytes(b"x = 1\0")
    (tmp_path / "empty.py").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "file", "attribute", "checkpoint"),
    [
        ("net.py:make", "net.py", "make", None),
        ("net.py:Net.build", "net.py", "Net.build", None),
        ("net.py:größe", "net.py", "größe", None),
        ("net.py:make:w.pth", "net.py", "make", "w.pth"),
        ("./net.py:make:weights/../w.pth", "net.py", "make", "w.pth"),
        ("a b/net.py:make", "a b/net.py", "make", None),
        ("a.py:b/net.py:make", "a.py:b/net.py", "make", None),
        ("Net.PY:make", "Net.PY", "make", None),
        ("C:\\x\\net.py:make:D:\\w.pth", "C:\\x\\net.py", "make", "D:\\w.pth"),
    ],
)
def test_a_file(here: Path, text: str, file: str, attribute: str, checkpoint: str | None) -> None:
    weights = None if checkpoint is None else str(here / checkpoint)
    assert parse_reference(text) == Reference(str(here / file), None, attribute, weights)
    assert looks_like_reference(text)


@pytest.mark.parametrize(
    ("text", "module", "attribute", "checkpoint"),
    [
        ("nets:make", "nets", "make", None),
        ("pkg.nets.small:Net.build", "pkg.nets.small", "Net.build", None),
        ("pkg.nets:make:w.pth", "pkg.nets", "make", "w.pth"),
        ("pkg.nets:make:D:\\w.pth", "pkg.nets", "make", "D:\\w.pth"),
    ],
)
def test_a_module_is_looked_up_later(
    here: Path, text: str, module: str, attribute: str, checkpoint: str | None
) -> None:
    weights = None if checkpoint is None else str(here / checkpoint)
    assert parse_reference(text) == Reference(None, module, attribute, weights)
    assert looks_like_reference(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "model.onnx",
        "missing.pt2",
        "m:odel.onnx",
        "nets.onnx:make",
        "folder.py",
        "weights",
        "C:\\models\\a.onnx",
        "C:/models/a.onnx",
        "https://example.org/model.onnx",
        "a-b:make",
        "nets:",
        "x" * 5000,
        "a\0b",
    ],
)
def test_what_is_no_code(text: str) -> None:
    assert parse_reference(text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("net.py", "net.py: name what builds the model, as in net.py:Net; it defines: Net, make"),
        ("net.py:", "net.py: name what builds the model, as in net.py:Net; it defines: Net, make"),
        ("empty.py", "empty.py: name what builds the model, as in empty.py:make"),
        ("broken.py", "broken.py: is no valid Python, line 2: invalid syntax"),
        ("nett.py", "nett.py: no such file (did you mean net.py?)"),
        ("a b/nett.py:make", "a b/nett.py: no such file (did you mean a b/net.py?)"),
        ("nowhere/net.py:make", "nowhere/net.py: no such file"),
        ("a\0b\n.py:make", "a\\x00b\\n.py: no such file"),
        ("folder.py:make", "folder.py: is a folder, not a Python file"),
        (
            "net.py:1a",
            f"net.py: '1a' {NO_NAME}",
        ),
        (
            "nets:a b",
            f"nets: 'a b' {NO_NAME}",
        ),
        ("net.py:make:", "net.py:make: names no checkpoint after the last colon"),
        ("net.py:make:x.pth", "x.pth: no such checkpoint (did you mean w.pth?)"),
        ("nets:make:weights/x", "weights/x: no such checkpoint"),
        ("net.py:make:weights", "weights: is a folder, not a checkpoint"),
        ("plain.onnx:make", "plain.onnx: is no Python file, and only code has 'make'"),
    ],
)
def test_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_reference(text)
    assert str(caught.value) == message
    assert caught.value.exit_code == 2


def test_a_file_that_is_no_text() -> None:
    with pytest.raises(UsageError, match=r"^binary.py: is no valid Python"):
        parse_reference("binary.py")


def test_many_names_are_cut(here: Path) -> None:
    (here / "many.py").write_text("".join(f"def f{n}(): ...\n" for n in range(20)))
    with pytest.raises(UsageError, match=r"it defines: f0, f1, f2, f3, f4, f5, f6, f7, …$"):
        parse_reference("many.py")


def test_a_name_that_is_too_long() -> None:
    with pytest.raises(UsageError, match=r"no such file$"):
        parse_reference("x" * 5000 + ".py:make")


def test_a_link_stays_the_path_that_was_named(here: Path) -> None:
    (here / "link.py").symlink_to(here / "net.py")
    assert parse_reference("link.py:make") == Reference(str(here / "link.py"), None, "make", None)
