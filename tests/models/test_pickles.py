"""Names are read from pickles of every protocol, and nothing is imported or called."""

from __future__ import annotations

import collections
import io
import os
import pickle
import struct
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.models.pickles import DAMAGE, read_pickle, read_saved

PROTOCOLS = range(6)


class Trap:
    """Creates a folder when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.path,)


def read(data: bytes) -> tuple[tuple[str, ...], bool]:
    found = read_pickle(io.BytesIO(data))
    return found.foreign, found.container


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_object_and_its_class(protocol: int) -> None:
    data = pickle.dumps(PurePosixPath("a"), protocol)
    # Protocols 0 and 1 call the class through a function of copyreg or builtins.
    names, container = read(data)
    assert "pathlib.PurePosixPath" in names
    assert not container


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], collections.OrderedDict(a=1), {}, []])
def test_containers_of_plain_values(value: object, protocol: int) -> None:
    names, container = read(pickle.dumps(value, protocol))
    assert [name for name in names if not name.startswith("copy_reg")] == []
    assert container


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_called(protocol: int, tmp_path: Path) -> None:
    target = tmp_path / "sprung"
    names, _ = read(pickle.dumps({"a": [Trap(str(target))]}, protocol))
    assert names == (f"{os.mkdir.__module__}.mkdir",)
    assert not target.exists()


def test_names_that_come_twice_are_fetched_from_the_memo() -> None:
    module = "collections"
    data = pickle.dumps([module, "Counter", collections.Counter(), collections.deque()], 4)
    assert read(data) == (("collections.deque",), True)


@pytest.mark.parametrize(
    ("data", "names"),
    [
        # The memo says one thing, the top of the stack another.
        (b"\x80\x04\x8c\x02os\x8c\x06system0\x8c\x04Size\x93.", ("a name that is computed",)),
        (b"\x80\x04\x8c\x02os\x942h\x00\x93.", ("a name that is computed",)),
        (b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94h\x00h\x01\x93.", ("os.system",)),
        (b"\x80\x02\x82\x05.", ("extension 5",)),
        (b"(iposix\nsystem\n.", ("posix.system",)),
        # A name with dots is followed through the module.
        (b"\x80\x04\x8c\x05torch\x8c\x09os.system\x93.", ("torch.os.system",)),
    ],
)
def test_tricks(data: bytes, names: tuple[str, ...]) -> None:
    assert read(data)[0] == names


@pytest.mark.parametrize(
    ("name", "foreign"),
    [
        ("torch.FloatStorage", False),
        ("torch.cuda.HalfTensor", False),
        ("torch.float8_e4m3fn", False),
        ("torch.quint8", False),
        ("torch._utils._rebuild_tensor_v2", False),
        ("collections.OrderedDict", False),
        ("torch.float_power", True),
        ("torch.load", True),
        ("torch.hub.load", True),
        ("torch.storage._load_from_bytes", True),
        ("torch._utils._rebuild_tensor_v2.__globals__", True),
        ("torch.nn.modules.linear.Linear", True),
        ("builtins.eval", True),
    ],
)
def test_what_tensors_need(name: str, foreign: bool) -> None:
    module, _, function = name.rpartition(".")
    data = f"c{module}\n{function}\n.".encode()
    assert read(data)[0] == ((name,) if foreign else ())


def test_the_five_pickles_of_an_old_torch(tmp_path: Path) -> None:
    number = 0x1950A86A20F9469CFC6C
    parts = [number, 1001, {"little_endian": True}, PurePosixPath("x"), ["0"]]
    file = io.BytesIO(b"".join(pickle.dumps(part, 2) for part in parts) + bytes(20))
    saved = read_saved(file)
    assert saved[0].names == ("pathlib.PurePosixPath",)
    assert len(saved) == 4
    assert file.read() == bytes(20)
    # Whatever is unpickled on the way counts.
    parts[2] = Trap(str(tmp_path / "sprung"))
    file = io.BytesIO(b"".join(pickle.dumps(part, 2) for part in parts))
    assert any("mkdir" in name for part in read_saved(file) for name in part.foreign)


def test_another_pickle_is_one() -> None:
    assert len(read_saved(io.BytesIO(pickle.dumps(5) * 5))) == 1


@given(st.binary(max_size=200))
def test_noise_is_damage_and_no_other_error(data: bytes) -> None:
    try:
        read_saved(io.BytesIO(b"\x80\x02" + data))
    except DAMAGE:
        return


def test_sizes_that_lie(tmp_path: Path) -> None:
    for code in (b"\x8e", b"\x8d", b"\x96"):  # texts and bytes with a size of 8 bytes
        path = tmp_path / "lie"
        path.write_bytes(b"\x80\x05" + code + struct.pack("<Q", 2**62))
        with path.open("rb") as file, pytest.raises(DAMAGE):
            read_pickle(file)


@pytest.mark.torch
def test_all_that_torch_itself_takes_for_weights() -> None:
    from torch import _weights_only_unpickler

    names = [name.rsplit(".", 1) for name in _weights_only_unpickler._get_allowed_globals()]
    assert len(names) > 100
    data = "".join(f"c{module}\n{function}\n" for module, function in names)
    assert read(f"{data}.".encode())[0] == ()
