from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from detaudit.worker.channel import receive, send

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
SHAPES = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def pass_through(
    message: dict[str, Any], arrays: list[np.ndarray]
) -> tuple[dict[str, Any], list[np.ndarray]]:
    stream = io.BytesIO()
    send(stream, message, arrays)
    stream.seek(0)
    received = receive(stream)
    assert stream.read() == b""
    return received


@given(
    array=st.sampled_from(DTYPES).flatmap(
        lambda dtype: npst.arrays(
            np.dtype(dtype).newbyteorder("<" if dtype != "bool" else "="), SHAPES
        )
    )
)
def test_every_bit_of_every_type_arrives(array: np.ndarray) -> None:
    message, (received,) = pass_through({"event": "run"}, [array])
    assert message == {"event": "run"}
    assert (received.dtype, received.shape) == (array.dtype, array.shape)
    assert received.tobytes() == array.tobytes()


@given(
    array=npst.arrays(
        object, SHAPES, elements=st.text(st.characters(exclude_characters="\0", codec="utf-8"))
    )
)
def test_text_arrives_as_text(array: np.ndarray) -> None:
    _, (received,) = pass_through({}, [array])
    assert received.dtype.kind == "U"
    assert received.shape == array.shape
    assert received.tolist() == array.tolist()


@given(sizes=st.lists(st.sampled_from([(), (0,), (3,), (2, 0, 5), (1, 1)]), max_size=5))
def test_arrays_arrive_in_order(sizes: list[tuple[int, ...]]) -> None:
    arrays = [np.full(size, i, np.float32) for i, size in enumerate(sizes)]
    _, received = pass_through({"n": len(sizes)}, arrays)
    assert [array.tolist() for array in received] == [array.tolist() for array in arrays]


def test_text_and_numbers_mix() -> None:
    arrays = [np.array(["a", "bb"]), np.arange(3), np.array([], np.str_), np.array("ü")]
    _, received = pass_through({}, arrays)
    assert [array.tolist() for array in received] == [["a", "bb"], [0, 1, 2], [], "ü"]


@pytest.mark.parametrize(
    "array",
    [np.arange(12).reshape(3, 4).T, np.arange(10)[::2], np.broadcast_to(np.float32(1), (3, 2))],
)
def test_arrays_need_not_lie_in_one_piece(array: np.ndarray) -> None:
    _, (received,) = pass_through({}, [array])
    np.testing.assert_array_equal(received, array)


def test_messages_follow_each_other() -> None:
    stream = io.BytesIO()
    send(stream, {"a": 1}, [np.arange(3)])
    send(stream, {"b": "ü"})
    stream.seek(0)
    assert receive(stream)[0] == {"a": 1}
    assert receive(stream) == ({"b": "ü"}, [])
    with pytest.raises(EOFError):
        receive(stream)


def test_a_message_is_strict_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        send(io.BytesIO(), {"a": float("nan")})


@pytest.mark.parametrize("kept", [0, 1, 7, 8, 10, -1, -20])
def test_a_message_that_was_cut_off_is_the_end(kept: int) -> None:
    stream = io.BytesIO()
    send(stream, {"event": "run"}, [np.arange(5)])
    with pytest.raises(EOFError):
        receive(io.BytesIO(stream.getvalue()[:kept]))


@pytest.mark.parametrize("text", ["Hello, I am a library", "\n" * 8, "\t\t\t\t    "])
def test_text_is_no_message(text: str) -> None:
    with pytest.raises(ValueError, match="no message"):
        receive(io.BytesIO(text.encode()))


def test_a_received_array_can_be_written_to() -> None:
    _, (received,) = pass_through({}, [np.arange(3)])
    received += 1
    assert received.tolist() == [1, 2, 3]


def test_libraries_that_print_do_not_disturb(tmp_path: Path) -> None:
    script = tmp_path / "speak.py"
    script.write_text(
        "import ctypes, os, subprocess, sys\n"
        "print('printed before, with a buffer')\n"
        "from detaudit.worker.channel import send, take_stdout\n"
        "channel = take_stdout()\n"
        "print('printed by Python')\n"
        "os.write(1, b'written to the descriptor\\n')\n"
        "send(channel, {'event': 'one'})\n"
        "subprocess.run([sys.executable, '-c', 'print(\"printed by a child\")'], check=True)\n"
        "ctypes.CDLL(None).puts(b'printed by C')\n"
        "send(channel, {'event': 'two'})\n",
        encoding="utf-8",
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    stream = io.BytesIO(done.stdout.removeprefix(b"printed before, with a buffer\n"))
    assert [receive(stream)[0]["event"] for _ in range(2)] == ["one", "two"]
    assert stream.read() == b""
    noise = done.stderr.decode()
    for text in ("printed by Python", "written to the descriptor", "by a child", "by C"):
        assert text in noise


def test_the_header_is_readable_without_detaudit() -> None:
    stream = io.BytesIO()
    send(stream, {"event": "x"}, [np.zeros((2, 1), np.float32)])
    data = stream.getvalue()
    length = int.from_bytes(data[:8], "big")
    assert json.loads(data[8 : 8 + length]) == {
        "event": "x",
        "arrays": [{"dtype": "<f4", "shape": [2, 1]}],
    }
    assert data[8 + length :] == bytes(8)
