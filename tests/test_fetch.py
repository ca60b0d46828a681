from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests import fetch
from tests.fetch import Member

CONTENT = b"weights"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def write_wheel(folder: Path) -> Path:
    path = folder / "voice-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("voice/model.onnx", CONTENT)
        wheel.writestr("voice/labels.json", CONTENT)
    return path


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for the registry: the releases that were downloaded so far."""
    done: list[str] = []

    def download(member: Member, folder: Path) -> Path:
        done.append(member.release)
        return write_wheel(folder)

    monkeypatch.setattr(fetch, "download", download)
    members = {
        "voice.onnx": Member("voice==1.0", "voice/model.onnx", DIGEST),
        "labels/voice.json": Member("voice==1.0", "voice/labels.json", DIGEST),
        "wrong.onnx": Member("wrong==1.0", "voice/model.onnx", "0" * 64),
        "missing.onnx": Member("missing==1.0", "voice/none.onnx", DIGEST),
    }
    monkeypatch.setattr(fetch, "MODELS", members)
    return done


def test_fetches_a_release_once(tmp_path: Path, downloads: list[str]) -> None:
    for name in ("voice.onnx", "labels/voice.json", "voice.onnx"):
        assert fetch.fetch_model(name, tmp_path).read_bytes() == CONTENT
    assert downloads == ["voice==1.0"]


def test_repairs_a_damaged_cache(tmp_path: Path, downloads: list[str]) -> None:
    path = fetch.fetch_model("voice.onnx", tmp_path)
    path.write_bytes(CONTENT[:-1])
    assert fetch.fetch_model("voice.onnx", tmp_path).read_bytes() == CONTENT
    assert downloads == ["voice==1.0", "voice==1.0"]


@pytest.mark.parametrize("name", ["wrong.onnx", "missing.onnx"])
def test_keeps_nothing_that_is_not_the_pinned_file(
    tmp_path: Path, downloads: list[str], name: str
) -> None:
    with pytest.raises((ValueError, KeyError)):
        fetch.fetch_model(name, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert downloads == [fetch.MODELS[name].release]


def test_reads_below_the_top_folder_of_a_source_archive(tmp_path: Path) -> None:
    path = tmp_path / "voice-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, content in (("voice-1.0/src/tests/a", b"other"), ("voice-1.0/tests/a", CONTENT)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    member = Member("voice==1.0", "tests/a", DIGEST, source=True)
    assert fetch.read_member(path, member) == CONTENT


def test_every_release_is_pinned() -> None:
    assert all(member.release.count("==") == 1 for member in fetch.MODELS.values())
    assert all(len(bytes.fromhex(member.sha256)) == 32 for member in fetch.MODELS.values())


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "home/.cache/detaudit-tests"),
        ("linux", {"XDG_CACHE_HOME": "xdg"}, "xdg/detaudit-tests"),
        ("darwin", {}, "home/Library/Caches/detaudit-tests"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/detaudit-tests"),
        ("win32", {}, "home/AppData/Local/detaudit-tests"),
    ],
)
def test_cache_lies_where_the_platform_keeps_caches(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], expected: str
) -> None:
    for name in ("DETAUDIT_TEST_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    monkeypatch.setattr(fetch.sys, "platform", platform)
    assert fetch.locate_cache() == Path(expected)


def test_cache_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DETAUDIT_TEST_CACHE", str(tmp_path))
    assert fetch.locate_cache() == tmp_path
