from __future__ import annotations

import contextlib
import dataclasses
import gc
import io
import json
import resource
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from detaudit.archive import VERSION, open_record, save_record
from detaudit.capture.capture import capture
from detaudit.errors import RecordError, UsageError
from detaudit.judge.judge import judge
from detaudit.plain import to_plain
from detaudit.record import Record
from detaudit.spec import AuditSpec, InputSpec
from detaudit.target import parse_targets
from tests.builders import zipmap
from tests.records import Plan, always, by_run, floats, make_model, make_record

A, B = floats(1, 2), floats(1, 2.5)


def make() -> Record:
    return make_record(
        {"cpu": by_run(A, B), "cuda:0": "no driver", "cpu[opt=off]": always(A)},
        Plan(runs=2, sessions=1, processes=2, samples=2),
        requirement="decimals=3",
        labels=(("y", ("a", "b")),),
    )


RECORDS: dict[str, Callable[[], Record]] = {
    "drift and a missing target": make,
    "text": lambda: make_record(
        {"cpu": by_run(np.array(["cat", "ü"]), np.array(["long text", ""]))}, Plan(runs=2)
    ),
    "maps": lambda: make_record({"cpu": always([{"a": 1.0, "b": 2.0}])}, Plan(runs=2)),
    "zero size and rank 0": lambda: make_record(
        {"cpu": lambda *_: {"y": np.zeros((0, 3)), "z": np.array(True), "w": np.array("text")}},
    ),
    "complex": lambda: make_record({"cpu": by_run(np.array([1j]), np.array([2j]))}),
    "special values": lambda: make_record(
        {"cpu": by_run(floats(np.nan, np.inf), floats(-np.inf, 0))}
    ),
    "large whole numbers": lambda: make_record(
        {"cpu": by_run(np.array([2**64 - 1], np.uint64), np.array([0], np.uint64))}
    ),
    "nothing ran": lambda: make_record({"cuda:0": "no driver"}),
    "names beyond ASCII": lambda: make_record(
        {"cpu": always(A, output="größe/模型")}, model=make_model("größe/模型", producer='a "b"\n')
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    record = RECORDS[name]()
    path = tmp_path / "r.audit"
    save_record(record, path)
    with open_record(path) as opened:
        assert opened == record
        assert list(opened.arrays) == list(record.arrays)
        assert len(opened.arrays) == len(record.arrays)
        for key, array in record.arrays.items():
            assert opened.arrays[key].dtype == array.dtype
            assert opened.arrays[key].tobytes() == array.tobytes()
        assert to_plain(judge(opened)) == to_plain(judge(record))
    assert list(tmp_path.iterdir()) == [path]


def test_a_captured_record_comes_back_as_it_was(tmp_path: Path) -> None:
    spec = AuditSpec(
        model=str(zipmap(tmp_path, "strings")),
        targets=parse_targets("cpu,cpu[opt=off]"),
        inputs=InputSpec(samples=2, values=(("x", "uniform:-1:1"),)),
        runs=2,
    )
    record = capture(spec)
    save_record(record, tmp_path / "r.audit")
    with open_record(tmp_path / "r.audit") as opened:
        assert opened == record
        assert judge(opened) == judge(record)
        copied = tmp_path / "copy.audit"
        save_record(opened, copied)
    with open_record(copied) as again:
        assert again == record


def test_an_array_that_is_not_there(tmp_path: Path) -> None:
    save_record(make(), tmp_path / "r.audit")
    with open_record(tmp_path / "r.audit") as opened:
        assert "9/9/9/9" not in opened.arrays
        assert opened.arrays.get("9/9/9/9") is None
        with pytest.raises(KeyError):
            opened.arrays["9/9/9/9"]


def test_the_file_is_a_zip_that_others_can_read(tmp_path: Path) -> None:
    path = tmp_path / "r.audit"
    save_record(make(), path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        facts = json.loads(archive.read("record.json"))
        with archive.open("0/0/0/0.npy") as file:
            assert np.load(file).tolist() == [1, 2]
    assert facts["format"] == "detaudit-record"
    assert facts["version"] == VERSION
    assert facts["targets"][1]["reason"] == "no driver"


def test_whoever_may_read_other_files_may_read_a_record(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    save_record(make(), tmp_path / "r.audit")
    modes = [stat.S_IMODE((tmp_path / n).stat().st_mode) for n in ("other", "r.audit")]
    assert modes[0] == modes[1]


@pytest.mark.parametrize("name", ["ü 模型", "a" * 250, "no suffix", ".hidden"])
def test_any_name_will_do(name: str, tmp_path: Path) -> None:
    save_record(make(), tmp_path / name)
    with open_record(tmp_path / name) as opened:
        assert opened == make()


def test_a_relative_path_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_record(make(), "r.audit")
    with open_record("r.audit") as opened:
        assert opened == make()


def test_a_missing_file_is_a_wrong_command(tmp_path: Path) -> None:
    for path in (tmp_path / "none.audit", tmp_path):
        with (
            pytest.raises(UsageError, match=f"there is no record {path}"),
            open_record(path),
        ):
            pass


def refuse(path: Path, words: str) -> None:
    with pytest.raises(RecordError, match=words) as caught, open_record(path) as record:
        for key in record.arrays:
            record.arrays[key]
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04" + bytes(100)])
def test_a_file_of_another_kind(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.audit"
    path.write_bytes(content)
    refuse(path, "is no record of detaudit")


def rewrite(path: Path, change: Callable[[dict[str, Any]], Any], without: str = "") -> Path:
    """Copy of a record with other facts, or without a member."""
    target = path.with_name("changed.audit")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            data = source.read(name)
            if name == "record.json":
                facts = json.loads(data)
                change(facts)
                data = json.dumps(facts).encode()
            if name != without:
                copy.writestr(name, data)
    return target


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_record(make(), tmp_path / "r.audit")
    return tmp_path / "r.audit"


def test_a_zip_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "r.audit"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../evil", "x")
    refuse(path, "it holds no record.json")
    for facts in ('{"format": "other"}', "{}", "[]", '"text"', "null"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("record.json", facts)
        refuse(path, "is no record of detaudit")
    for facts in ("", "{", "\xff"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("record.json", facts.encode("latin-1"))
        refuse(path, "was damaged")


@pytest.mark.parametrize("version", [VERSION + 1, 0, None, "1"])
def test_a_record_of_another_version(saved: Path, version: object) -> None:
    path = rewrite(saved, lambda facts: facts.update(version=version))
    refuse(path, f"has format version {version}, this detaudit reads version {VERSION}")


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.pop("targets"),
        lambda facts: facts.update(targets=7),
        lambda facts: facts.update(targets=[7]),
        lambda facts: facts.update(spec=None),
        lambda facts: facts["spec"].update(runs=0),
        lambda facts: facts["spec"].update(judging={"confidence": "high"}),
        lambda facts: facts["targets"][0].update(target={"device": "cpu", "options": [["a"]]}),
        lambda facts: facts["model"].update(inputs={"a": 1}),
    ],
)
def test_facts_that_make_no_sense(saved: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    before = json.loads(zipfile.ZipFile(saved).read("record.json"))
    path = rewrite(saved, change)
    assert json.loads(zipfile.ZipFile(path).read("record.json")) != before
    refuse(path, "was damaged|is no record of detaudit")


@pytest.mark.parametrize("name", ["0/runs.npy", "0/outcome.npy", "0/1/0/0.npy", "0/0/0/low.npy"])
def test_a_record_that_lacks_an_array(saved: Path, name: str) -> None:
    refuse(rewrite(saved, lambda _: None, without=name), f"was damaged: {name[:-4]} is missing")


def test_facts_of_later_detaudits_are_passed_over(saved: Path) -> None:
    with open_record(rewrite(saved, lambda facts: facts.update(colour="red"))) as opened:
        assert opened == make()


def test_arrays_that_would_run_code_are_refused(saved: Path) -> None:
    path = saved.with_name("changed.audit")
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(path, "w") as copy:
        for name in source.namelist():
            if name != "0/0/0/0.npy":
                copy.writestr(name, source.read(name))
        with copy.open("0/0/0/0.npy", "w") as member:
            np.lib.format.write_array(member, np.array([print], object), allow_pickle=True)
    refuse(path, "was damaged")


def test_a_record_that_was_cut_off(saved: Path) -> None:
    data = saved.read_bytes()
    for length in {*range(0, len(data), max(1, len(data) // 50)), len(data) - 1}:
        saved.write_bytes(data[:length])
        refuse(saved, "is no record of detaudit|was damaged")


@given(data=st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_byte_is_found_or_harmless(saved: Path, data: st.DataObject) -> None:
    save_record(original := make(), saved)
    whole = bytearray(saved.read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    saved.write_bytes(whole)
    try:
        with open_record(saved) as opened:
            arrays = {key: opened.arrays[key].tobytes() for key in opened.arrays}
            facts = opened
    except RecordError:
        return
    assert facts == original
    assert arrays == {key: array.tobytes() for key, array in original.arrays.items()}


@contextmanager
def full_disk() -> Iterator[None]:
    """Files may not grow beyond some kilobytes, as if the disk were full.

    Only inside the block: the log that the tests themselves write to may be longer.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def large() -> Record:
    return make_record({"cpu": always(np.arange(100_000, dtype=np.float32))}, Plan(runs=2))


@pytest.mark.parametrize("earlier", [True, False])
def test_a_full_disk_leaves_nothing_half_written(earlier: bool, tmp_path: Path) -> None:
    path = tmp_path / "r.audit"
    if earlier:
        path.write_text("an earlier record", encoding="utf-8")
    record = large()
    with pytest.raises(OSError, match="File too large"), full_disk():
        save_record(record, path)
    assert list(tmp_path.iterdir()) == [path] * earlier
    if earlier:
        assert path.read_text(encoding="utf-8") == "an earlier record"


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError(28, "No space left")])
def test_whatever_happens_the_earlier_file_stays(
    error: BaseException | type[BaseException],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    path = tmp_path / "r.audit"
    save_record(make(), path)
    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(error if isinstance(error, type) else type(error)):
        save_record(large(), path)
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    with open_record(path) as opened:
        assert opened == make()


@pytest.mark.parametrize("place", ["method", "flags", "version"])
def test_a_member_that_zip_cannot_read(place: str, saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + {"method": 10, "flags": 8, "version": 6}[place]] |= 0xFF
    saved.write_bytes(data)
    refuse(saved, "was damaged|is no record of detaudit")


def test_a_place_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        save_record(make(), tmp_path / "none" / "r.audit")
    with pytest.raises(OSError, match="directory"):
        save_record(make(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_file_stays_open(saved: Path) -> None:
    gc.collect()
    before = len(list(Path("/proc/self/fd").iterdir()))
    with open_record(saved) as opened:
        opened.arrays["0/0/0/0"]
    path = saved.with_name("bad")
    path.write_bytes(saved.read_bytes()[:-30])
    with pytest.raises(RecordError), open_record(path):
        pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_another_array_in_the_place_of_one_is_noticed(saved: Path, tmp_path: Path) -> None:
    """Bytes that a checksum of the archive cannot tell: a whole member was replaced."""
    path = tmp_path / "swapped.audit"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "0/1/0/0.npy":
                changed = io.BytesIO()
                np.save(changed, np.load(io.BytesIO(data)) + 1)
                data = changed.getvalue()
            new.writestr(name, data)
    with open_record(path) as record, pytest.raises(RecordError, match="not the array that was"):
        record.arrays["0/1/0/0"]


@pytest.fixture
def sized(tmp_path: Path) -> Path:
    """Record of a small array and of one that is too large to be held."""
    arrays = {"small": np.zeros(3), "large": np.arange(1 << 15, dtype=np.float64)}
    save_record(
        dataclasses.replace(make_record({"cuda:0": "gone"}), arrays=arrays),
        path := tmp_path / "r.audit",
    )
    return path


def test_small_arrays_are_read_once_and_none_can_be_written_to(
    sized: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    read = np.lib.format.read_array

    def count(*arguments: Any, **options: Any) -> Any:
        array = read(*arguments, **options)
        reads.append(array.size)
        return array

    monkeypatch.setattr(np.lib.format, "read_array", count)
    with open_record(sized) as record:
        for _ in range(3):
            small, large = record.arrays["small"], record.arrays["large"]
            np.testing.assert_array_equal(large, np.arange(1 << 15))
            with pytest.raises(ValueError, match="read-only"):
                small[0] = 1
    assert reads == [3, *[1 << 15] * 3]


def test_a_compressed_record_is_read_too(sized: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.audit"
    with (
        zipfile.ZipFile(sized) as plain,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in plain.namelist():
            archive.writestr(name, plain.read(name))
    assert packed.stat().st_size < sized.stat().st_size / 2
    with open_record(packed) as record:
        np.testing.assert_array_equal(record.arrays["large"], np.arange(1 << 15))


@pytest.mark.parametrize("key", ["small", "large"])
@pytest.mark.parametrize("offset", [0, 4, 28, 30, 64, 200])
def test_a_changed_byte_of_a_member_is_found(sized: Path, key: str, offset: int) -> None:
    with zipfile.ZipFile(sized) as archive:
        place = archive.getinfo(f"{key}.npy").header_offset + offset
    data = bytearray(sized.read_bytes())
    before = bytes(data)
    data[place] ^= 0x11
    sized.write_bytes(data)
    with open_record(sized) as record:
        found = None
        with contextlib.suppress(RecordError):
            found = record.arrays[key]
    if found is not None:
        # What the directory at the end repeats need not be right as long as the values are.
        assert offset in (0, 4, 30)
        with zipfile.ZipFile(io.BytesIO(before)) as archive:
            expected = np.load(io.BytesIO(archive.read(f"{key}.npy")))
        np.testing.assert_array_equal(found, expected)
