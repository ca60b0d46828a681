"""Files of torch are known by what they hold, and everything else is one clear line."""

from __future__ import annotations

import gzip
import hashlib
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detaudit.errors import ModelError, UsageError
from detaudit.models.torch_files import is_torch_archive, measure_parts, read_torch_file
from tests.builders import torch_archives as archives
from tests.builders.torch_archives import STATE_DICT

CHECKPOINT = b"\x80\x02}X\x01\x00\x00\x00ac__main__\nConfig\n)\x81s."


def fail(path: Path, *words: str, trust: bool = False) -> str:
    """Check that a file is refused in one line that has some words."""
    with pytest.raises(ModelError) as caught:
        read_torch_file(path, trust=trust)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    for word in words:
        assert word in message
    return message


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("name", ["s.pt", "s.jit", "s.onnx", "s"])
def test_a_script(tmp_path: Path, name: str, trust: bool) -> None:
    assert read_torch_file(archives.script(tmp_path / name), trust=trust) == "script"


def test_a_script_of_torch_1_1(tmp_path: Path) -> None:
    members = {"old/model.json": "{}", "old/code/net.py": "", "old/tensors/0": bytes(4)}
    path = archives.write_zip(tmp_path / "s.pt", members)
    assert read_torch_file(path, trust=False) == "script"


def test_a_script_of_torch_1_0(tmp_path: Path) -> None:
    path = tmp_path / "s.pt"
    path.write_bytes(b"PYTORCH1" + bytes(100))
    fail(path, "is a TorchScript file of torch 1.0, which no later torch reads")


@pytest.mark.parametrize("write", [archives.saved, archives.saved_long_ago])
def test_a_module_needs_trust(tmp_path: Path, write: Callable[..., Path]) -> None:
    path = write(tmp_path / "m.pt")
    assert fail(path) == (
        f"{path}: is a pickled module, and unpickling runs code that the file names "
        "(__main__.Net); if you trust where it comes from, add --trust; better save it with "
        "torch.export.save or torch.jit.save, or give its code: net.py:make:WEIGHTS.pth"
    )
    assert read_torch_file(path, trust=True) == "pickle"


def test_names_are_few_and_without_colour(tmp_path: Path) -> None:
    names = b"".join(b"ctorch.nn\nLayer%d\n" % n for n in range(9))
    path = archives.saved(tmp_path / "m.pt", b"\x80\x02" + names + b"c\x1b[31m\nX\n.")
    shown = "(\\x1b[31m.X, torch.nn.Layer0, torch.nn.Layer1, torch.nn.Layer2 and 6 more)"
    fail(path, shown)


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("write", [archives.saved, archives.saved_long_ago])
def test_weights_alone(tmp_path: Path, write: Callable[..., Path], trust: bool) -> None:
    path = write(tmp_path / "w.pth", STATE_DICT)
    assert fail(path, trust=trust) == (
        f"{path}: holds weights without a network; give the code that builds it too: "
        f"net.py:make:{path}"
    )


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("write", [archives.saved, archives.saved_long_ago])
def test_a_checkpoint_with_more_than_weights(
    tmp_path: Path, write: Callable[..., Path], trust: bool
) -> None:
    path = write(tmp_path / "c.pth", CHECKPOINT)
    fail(path, "no network but a dict or list", "(__main__.Config)", "alone", trust=trust)


def test_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes((2).to_bytes(8, "little") + b'{"a":{}}')
    fail(
        path,
        f"holds weights without a network; give the code that builds it too: net.py:make:{path}",
    )


@pytest.mark.parametrize("protocol", range(2, 6))
def test_another_pickle(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(Path("a"), protocol))
    for trust in (False, True):
        fail(path, "is a pickle that torch.save has not written", trust=trust)


def test_a_package(tmp_path: Path) -> None:
    path = archives.write_zip(tmp_path / "p.pt", {"p/.data/extern_modules": "", "p/m/data.pkl": ""})
    fail(path, "is a package of torch.package", "torch.export.save")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"),
        (b"<!DOCTYPE html>", "is a text file"),
        (b"\x08\x08", "is no model of torch, or a damaged one"),
        (bytes(100), "is no model of torch, or a damaged one"),
        (gzip.compress(b"x"), "is a gzip file"),
        (b"\x89HDF\r\n\x1a\n", "is an HDF5 file"),
        (b"PK\x03\x04", "is damaged or was cut off"),
        (b"\x80\x02", "is damaged or was cut off"),
        (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "is damaged or was cut off"),
    ],
)
def test_other_contents(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(content)
    for trust in (False, True):
        fail(path, words, trust=trust)


def test_other_archives(tmp_path: Path) -> None:
    fail(archives.write_zip(tmp_path / "a.pt", {"a/model.onnx": ""}), "torch has not written")
    fail(archives.write_zip(tmp_path / "b.pt", {}), "torch has not written")
    with tarfile.open(tmp_path / "c.pt", "w") as archive:
        archive.add(tmp_path / "a.pt", "storages")
    fail(tmp_path / "c.pt", "is a tar archive")


def test_a_folder_and_nothing(tmp_path: Path) -> None:
    fail(tmp_path, "is a folder; a model of torch is a file, or code as net.py:make")
    with pytest.raises(UsageError, match="no such file or folder"):
        read_torch_file(tmp_path / "missing.pt2", trust=False)


def test_a_pickle_that_is_encrypted_or_packed_otherwise(tmp_path: Path) -> None:
    path = archives.saved(tmp_path / "m.pt")
    content = bytearray(path.read_bytes())
    # Flags of the first entry, in the directory at the end.
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    fail(path, "is damaged or was cut off", "encrypted")


def test_a_bomb(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    packed = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    with packed as archive, archive.open("m/data.pkl", "w") as file:
        for _ in range(300):
            file.write(bytes(2**20))
    fail(path, "refused, unpacks to", trust=True)


def test_a_file_that_must_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = archives.saved(tmp_path / "m.pt")
    monkeypatch.setattr(Path, "open", deny)
    fail(path, "cannot be read: Permission denied")


WRITERS = (
    archives.saved,
    archives.saved_long_ago,
    archives.script,
    archives.export,
    archives.export_of_2_6,
)


@settings(max_examples=150)
@given(
    number=st.integers(0, len(WRITERS) - 1),
    kept=st.floats(0, 1),
    flips=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 7)), max_size=4),
    trust=st.booleans(),
)
def test_damage_never_ends_in_another_error(
    tmp_path_factory: Any,
    number: int,
    kept: float,
    flips: list[tuple[float, int]],
    trust: bool,
) -> None:
    path = WRITERS[number](tmp_path_factory.mktemp("damage") / "m.pt")
    check_damaged(path, kept, flips, trust)


def check_damaged(path: Path, kept: float, flips: list[tuple[float, int]], trust: bool) -> None:
    """Damage a file; it is either still of a kind or refused in one line."""
    content = bytearray(path.read_bytes())
    content = content[: round(kept * len(content))]
    for place, bit in flips if content else ():
        content[int(place * len(content))] ^= 1 << bit
    path.write_bytes(content)
    try:
        found: str = read_torch_file(path, trust=trust)
    except ModelError as error:
        found = str(error)
    assert found in ("export", "script", "pickle") or found.startswith(f"{path}: ")
    assert "\n" not in found


def test_archives_by_their_names() -> None:
    assert is_torch_archive(["m/data.pkl"])
    assert is_torch_archive(["data.pkl"])
    assert is_torch_archive(["m/archive_format"])
    assert not is_torch_archive(["a/b/data.pkl"])
    assert not is_torch_archive(["model.json", "weights.bin"])
    assert not is_torch_archive([])


def test_size_and_digest_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    path.write_bytes(b"abc")
    expected = (3, hashlib.sha256(b"abc").hexdigest())
    assert measure_parts([path]) == expected
    assert measure_parts([path, tmp_path / "." / "m.pt2"]) == expected


def test_size_and_digest_of_several_files(tmp_path: Path) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder / "pkg").mkdir(parents=True)
        (tmp_path / folder / "w.pth").write_bytes(b"ab")
        (tmp_path / folder / "net.py").write_bytes(b"cde")
        (tmp_path / folder / "pkg" / "net.py").write_bytes(b"f")
    lines = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in (("net.py", b"cde"), ("w.pth", b"ab"))
    )
    files = [tmp_path / "here" / "w.pth", tmp_path / "there" / "net.py"]
    expected = (5, hashlib.sha256(lines.encode()).hexdigest())
    # Neither the order nor the folders count.
    assert measure_parts(files) == measure_parts(files[::-1]) == expected


def test_files_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for name, content in (("a/__init__.py", b"1"), ("b/__init__.py", b"2")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(content)
    lines = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in (("a/__init__.py", b"1"), ("b/__init__.py", b"2"))
    )
    files = [tmp_path / "b/__init__.py", tmp_path / "a/__init__.py"]
    assert measure_parts(files) == (2, hashlib.sha256(lines.encode()).hexdigest())


def test_a_part_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        measure_parts([tmp_path / "net.py"])
