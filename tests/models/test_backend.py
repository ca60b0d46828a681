"""Each model goes to the library that runs it, or to the one whose refusal tells more."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from detaudit.errors import DetauditError
from detaudit.models.backend import find_backend
from detaudit.models.opening import open_model
from detaudit.models.torch_files import read_torch_file
from detaudit.models.torch_reference import parse_reference
from tests.builders import torch_archives as archives
from tests.models.conftest import PLAIN

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["m.pt", "m.pt2", "m.onnx", "m.zip", "m"])
@pytest.mark.parametrize(
    "writer",
    [
        archives.saved,
        archives.saved_long_ago,
        archives.script,
        archives.export,
        archives.export_of_2_6,
    ],
)
def test_files_of_torch_by_what_they_hold(writer: Write, name: str) -> None:
    assert find_backend(str(writer(Path(name)))) == "torch"


@pytest.mark.parametrize("name", ["m.onnx", "m.pt", "m.zip", "m.py", "m"])
def test_an_onnx_file_by_what_it_holds(write: Write, name: str) -> None:
    assert find_backend(str(write(PLAIN, name))) == "ort"


@pytest.mark.parametrize("suffix", [".zip", ".pt"])
@pytest.mark.parametrize(
    "names",
    [
        ("model.onnx", "data.pkl"),
        ("m/model.onnx", "m/data.pkl", "m/constants.pkl"),
        ("model.yaml", "archive_format"),
        ("readme.txt",),
        (),
    ],
)
def test_an_archive_with_another_model(names: tuple[str, ...], suffix: str) -> None:
    path = archives.write_zip(Path(f"m{suffix}"), dict.fromkeys(names, ""))
    assert find_backend(str(path)) == "ort"


def test_a_model_deep_inside_is_an_extra_file_of_torch() -> None:
    path = archives.export(Path("m.pt2"), others={"m/extra/model.onnx": b""})
    assert find_backend(str(path)) == "torch"


def tell(model: str, work: Path) -> str:
    """What a user is told."""
    with pytest.raises(DetauditError) as caught:
        if find_backend(model) == "ort":
            open_model(model, work=work)
        elif parse_reference(model) is None:
            read_torch_file(Path(model), trust=False)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "backend", "words"),
    [
        ("m.pt", b"PK\x03\x04", "torch", "is damaged or was cut off"),
        ("m.zip", b"PK\x03\x04", "ort", "the archive is damaged or was cut off"),
        ("m.pt2", b"", "torch", "the file is empty"),
        ("m.onnx", b"", "ort", "the file is empty"),
        ("m.pt", b"version https://git-lfs.github.com/", "torch", "git lfs pull"),
        ("m.jit", b"PYTORCH1", "torch", "TorchScript file of torch 1.0"),
        ("m.pkl", b"\x80\x04K\x01.", "torch", "torch.save has not written"),
        ("m.bin", b'\x80\x00\x00\x00\x00\x00\x00\x00{"', "torch", "holds weights without"),
        ("m.pt", bytes(20), "torch", "is no model of torch, or a damaged one"),
        ("m.tar", bytes(257) + b"ustar", "ort", "is a tar archive"),
        ("net.py", b"def make(): ...", "torch", "as in net.py:make; it defines: make"),
        ("net.py", b"(", "torch", "is no valid Python"),
    ],
)
def test_the_refusal_that_tells_more(
    work: Path, name: str, content: bytes, backend: str, words: str
) -> None:
    Path(name).write_bytes(content)
    assert find_backend(name) == backend
    assert words in tell(name, work)


@pytest.mark.parametrize(
    ("name", "backend", "words"),
    [
        ("missing.pt2", "torch", "missing.pt2: no such file or folder"),
        ("missing.TS", "torch", "missing.TS: no such file or folder"),
        ("missing.py", "torch", "missing.py: no such file"),
        ("missing.py:make", "torch", "missing.py: no such file"),
        ("missing.onnx", "ort", "no such file or folder"),
        ("missing", "ort", "no such file or folder"),
        ("", "ort", "no such file or folder"),
        ("C:\\a\\missing.onnx", "ort", "no such file or folder"),
        ("a\0b", "ort", "no such file or folder"),
        ("x" * 5000, "ort", "cannot be reached: File name too long"),
    ],
)
def test_nothing_there(work: Path, name: str, backend: str, words: str) -> None:
    assert find_backend(name) == backend
    assert words in tell(name, work)


def test_folders(write: Write, work: Path) -> None:
    Path("net.py").mkdir()
    assert find_backend("net.py") == "ort"
    assert "holds no model" in tell("net.py", work)
    write(PLAIN, "m.pt/model.onnx")
    assert find_backend("m.pt") == "ort"


def test_odd_files(work: Path) -> None:
    os.mkfifo("pipe.pt")
    assert find_backend("pipe.pt") == "torch"
    assert "neither a file nor a folder" in tell("pipe.pt", work)
    Path("link.pt").symlink_to("nowhere")
    assert find_backend("link.pt") == "torch"
    assert "link to a file that does not exist" in tell("link.pt", work)


def test_a_file_that_must_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    for name in ("m.pt", "m.onnx"):
        archives.saved(Path(name))
    monkeypatch.setattr(Path, "open", deny)
    assert find_backend("m.pt") == "torch"
    assert find_backend("m.onnx") == "ort"
