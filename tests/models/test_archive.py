"""Archives that nobody vouches for are unpacked whole and safely, or not at all."""

from __future__ import annotations

import errno
import stat
import tempfile
import unicodedata
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.errors import ModelError
from detaudit.models import archive
from detaudit.models.archive import Limits, list_names, unpack


def pack(path: Path, members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write a zip archive, names exactly as given."""
    with zipfile.ZipFile(path, "w", method) as zipped:
        for name, content in members.items():
            entry = zipfile.ZipInfo("member")
            entry.filename = name
            entry.compress_type = method
            zipped.writestr(entry, content)
    return path


def patch(path: Path, old: bytes, new: bytes, count: int = -1) -> Path:
    """Replace bytes in a file."""
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, count))
    return path


def tree(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def refuse(path: Path, work: Path, *words: str, limits: Limits = archive._LIMITS) -> str:
    """Check that an archive is refused in one line that has some words, and nothing is left."""
    before = tree(work.parent)
    with pytest.raises(ModelError) as error:
        unpack(path, work, limits)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    for word in words:
        assert word in message
    assert list(work.iterdir()) == []
    assert tree(work.parent) == before
    return message


def test_unpacks_everything(tmp_path: Path, work: Path) -> None:
    members = {"a/model.onnx": b"x" * 5000, "a/ü/weights.bin": bytes(range(256)), "empty": b""}
    folder = unpack(pack(tmp_path / "a.zip", members), work)
    assert folder.parent == work
    assert tree(folder) == members


def test_stored_members_and_folders(tmp_path: Path, work: Path) -> None:
    path = pack(tmp_path / "a.zip", {"sub/": b"", "./sub/x": b"1"}, zipfile.ZIP_STORED)
    assert tree(unpack(path, work)) == {"sub/x": b"1"}


def test_leaves_out_what_macos_adds(tmp_path: Path, work: Path) -> None:
    members = {"m/model.onnx": b"1", "__MACOSX/m/._model.onnx": b"2", "m/.DS_Store": b"3"}
    assert tree(unpack(pack(tmp_path / "a.zip", members), work)) == {"m/model.onnx": b"1"}


def test_two_archives_do_not_meet(tmp_path: Path, work: Path) -> None:
    first = unpack(pack(tmp_path / "a.zip", {"x": b"1"}), work)
    second = unpack(pack(tmp_path / "b.zip", {"x": b"2"}), work)
    assert (tree(first), tree(second)) == ({"x": b"1"}, {"x": b"2"})


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/../../x",
        "a/..",
        "..",
        "/etc/x",
        "//host/share/x",
        "C:\\x",
        "C:x",
        "c:/x",
        "..\\x",
        "a\\b",
        "__MACOSX/../../x",
        "",
    ],
)
def test_names_that_leave_the_folder(tmp_path: Path, work: Path, name: str) -> None:
    path = pack(tmp_path / "a.zip", {"fine": b"1", name: b"2"})
    refuse(path, work, "refused", "leave the folder", ascii(name))


@pytest.mark.parametrize("letter", [b"\0", b"\n", b"\x1b", b"\x7f"])
def test_control_characters(tmp_path: Path, work: Path, letter: bytes) -> None:
    path = patch(pack(tmp_path / "a.zip", {"a?b": b"1"}), b"a?b", b"a" + letter + b"b")
    refuse(path, work, "refused", "control characters")


@pytest.mark.parametrize(
    "kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK]
)
def test_links_and_special_files(tmp_path: Path, work: Path, kind: int) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr("fine", b"1")
        entry = zipfile.ZipInfo("model.onnx")
        entry.external_attr = (kind | 0o777) << 16
        zipped.writestr(entry, b"/etc/passwd")
    refuse(path, work, "refused", "link or a special file", "model.onnx")


def test_executable_bits_are_not_kept(tmp_path: Path, work: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as zipped:
        entry = zipfile.ZipInfo("x")
        entry.external_attr = (stat.S_IFREG | stat.S_ISUID | 0o777) << 16
        zipped.writestr(entry, b"1")
    assert (unpack(path, work) / "x").stat().st_mode & 0o7111 == 0


@pytest.mark.parametrize("flag", [0x0001, 0x0040, 0x2000])
def test_encrypted_members(tmp_path: Path, work: Path, flag: int) -> None:
    path = pack(tmp_path / "a.zip", {"x": b"1"})
    content = bytearray(path.read_bytes())
    start = content.index(b"PK\x01\x02")
    content[start + 8 : start + 10] = flag.to_bytes(2, "little")
    path.write_bytes(content)
    refuse(path, work, "refused", "encrypted")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x", "y"),
        ("model.onnx", "MODEL.onnx"),
        ("é", unicodedata.normalize("NFD", "é")),
        ("x", "./x"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice(tmp_path: Path, work: Path, first: str, second: str) -> None:
    path = pack(tmp_path / "a.zip", {first: b"1", second: b"2"})
    if second == "y":
        patch(path, b"y", b"x")
    refuse(path, work, "refused", "appears twice")


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "A"), ("a/", "a")])
def test_a_file_in_the_place_of_a_folder(
    tmp_path: Path, work: Path, names: tuple[str, str]
) -> None:
    path = pack(tmp_path / "a.zip", dict.fromkeys(names, b""))
    refuse(path, work, "refused", "a file and a folder")


def test_too_many_members(tmp_path: Path, work: Path) -> None:
    path = pack(tmp_path / "a.zip", {str(number): b"" for number in range(4)})
    refuse(path, work, "4 members", "3 are the limit", limits=Limits(members=3))
    assert len(tree(unpack(path, work, Limits(members=4)))) == 4


def test_too_large(tmp_path: Path, work: Path) -> None:
    path = pack(tmp_path / "a.zip", {"x": b"1" * 60, "y": b"2" * 60})
    refuse(path, work, "120 bytes", "100 are the limit", limits=Limits(total=100))


def test_packed_too_tightly(tmp_path: Path, work: Path) -> None:
    path = pack(tmp_path / "a.zip", {"zeros": bytes(1_000_000)})
    refuse(path, work, "1000000 bytes", "100 times", limits=Limits(small=999_999))
    assert tree(unpack(path, work)) == {"zeros": bytes(1_000_000)}


def test_the_limits_hold_for_what_is_shipped() -> None:
    assert Limits(10_000, 64 * 2**30, 100, 256 * 2**20) == archive._LIMITS


@pytest.mark.parametrize("declared", [10, 1_000])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_sizes_that_lie(tmp_path: Path, work: Path, declared: int, method: int) -> None:
    path = pack(tmp_path / "a.zip", {"x": bytes(range(100))}, method)
    patch(path, (100).to_bytes(4, "little"), declared.to_bytes(4, "little"))
    refuse(path, work, "damaged or was cut off")


def test_wrong_checksum(tmp_path: Path, work: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a": b"fine", "x": b"content"}, zipfile.ZIP_STORED)
    refuse(patch(path, b"content", b"CONTENT"), work, "damaged or was cut off")


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.99])
def test_truncated(tmp_path: Path, work: Path, kept: float) -> None:
    path = pack(tmp_path / "a.zip", {"x": bytes(range(256)) * 10})
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
    refuse(path, work, "damaged or was cut off")
    with pytest.raises(ModelError, match="damaged or was cut off"):
        list_names(path)


@given(data=st.binary(max_size=200), at=st.floats(0, 1))
def test_damage_anywhere_is_a_clear_line_or_harmless(data: bytes, at: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        work.mkdir()
        path = pack(Path(folder, "a.zip"), {"a": b"some content " * 20, "b/c": b"more"})
        content = bytearray(path.read_bytes())
        start = int(at * len(content))
        content[start : start + len(data)] = data
        path.write_bytes(content)
        try:
            unpacked = unpack(path, work)
        except ModelError:
            assert list(work.iterdir()) == []
        else:
            assert set(work.iterdir()) == {unpacked}
        assert {entry.name for entry in Path(folder).iterdir()} == {"work", "a.zip"}


@given(
    parts=st.lists(
        st.sampled_from(["..", ".", "", "a", "b ", "C:", "\\", "~", "é", "\u202e", "__MACOSX"]),
        max_size=6,
    )
)
def test_no_name_escapes(parts: list[str]) -> None:
    name = "/".join(parts)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "deep", "work")
        work.mkdir(parents=True)
        path = pack(Path(folder, "a.zip"), {name: b"1"})
        try:
            unpacked = unpack(path, work)
        except ModelError:
            assert list(work.iterdir()) == []
        else:
            assert set(work.iterdir()) == {unpacked}
            wanted = PurePosixPath(name).as_posix()
            assert set(tree(unpacked)) <= {wanted}
        assert {entry.name for entry in Path(folder).iterdir()} == {"deep", "a.zip"}
        assert {entry.name for entry in Path(folder, "deep").iterdir()} == {"work"}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods(tmp_path: Path, work: Path, method: int) -> None:
    path = pack(tmp_path / "a.zip", {"x": b"1" * 100}, method)
    refuse(path, work, f"packed by method {method}", "deflate")


def test_no_room_is_seen_before_anything_is_written(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pack(tmp_path / "a.zip", {"x": b"1" * 100})
    usage = type(archive.shutil.disk_usage(work))
    monkeypatch.setattr(archive.shutil, "disk_usage", lambda _: usage(1000, 901, 99))
    refuse(path, work, "no room", "needs 100 bytes", "99 are free", str(work))


@pytest.mark.parametrize(
    "stop", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
def test_stopped_while_unpacking(
    tmp_path: Path,
    work: Path,
    monkeypatch: pytest.MonkeyPatch,
    stop: BaseException,
) -> None:
    path = pack(tmp_path / "a.zip", {"first": b"1", "second": b"2"})
    extract: Callable[..., None] = archive._extract

    def extract_first(zipped: object, member: zipfile.ZipInfo, *rest: object) -> None:
        if member.filename == "second":
            raise stop
        extract(zipped, member, *rest)

    monkeypatch.setattr(archive, "_extract", extract_first)
    if isinstance(stop, OSError):
        refuse(path, work, "could not be unpacked", "No space left on device", str(work))
    else:
        with pytest.raises(KeyboardInterrupt):
            unpack(path, work)
        assert list(work.iterdir()) == []


def test_a_name_that_the_disk_cannot_hold(tmp_path: Path, work: Path) -> None:
    path = pack(tmp_path / "a.zip", {"x" * 300: b"1"})
    refuse(path, work, "could not be unpacked", "name too long")
