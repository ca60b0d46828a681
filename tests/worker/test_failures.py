from __future__ import annotations

from pathlib import Path

import pytest

from detaudit.worker.failures import logged_errors, reason


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("plain words"), "plain words"),
        (RuntimeError("first\nsecond"), "first"),
        (RuntimeError(""), "RuntimeError"),
        (RuntimeError("  \n "), "RuntimeError"),
        (KeyError("name"), "'name'"),
        (
            RuntimeError(
                "[ONNXRuntimeError] : 10 : INVALID_GRAPH : Load model from m.onnx failed:This is"
                " an invalid model."
            ),
            "Load model from m.onnx failed:This is an invalid model.",
        ),
        (
            RuntimeError("/src/a.cc:12 f [ONNXRuntimeError] : 1 : FAIL : it broke"),
            "it broke",
        ),
        (RuntimeError("\x1b[1;31mred\x1b[m words"), "red words"),
        (MemoryError(), "out of memory: MemoryError"),
        (MemoryError("too large"), "out of memory: too large"),
        (RuntimeError("std::bad_alloc"), "out of memory: std::bad_alloc"),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 TB"),
            "out of memory: DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 TB",
        ),
        (
            RuntimeError("BFCArena::AllocateRawInternal Available memory of 0 is smaller"),
            "out of memory: BFCArena::AllocateRawInternal Available memory of 0 is smaller",
        ),
        (
            RuntimeError("node failed\nCUDA failure 2: out of memory ; GPU=0"),
            "out of memory: node failed",
        ),
    ],
)
def test_one_line_without_the_prefix_of_the_runtime(error: Exception, expected: str) -> None:
    assert reason(error) == expected


LOG = (
    "a library speaks\n"
    "\x1b[1;31m2026-01-02 03:04:05.678 [E:onnxruntime:Default, provider_bridge_ort.cc:2167"
    " TryGetProviderInfo_CUDA] /src/x.cc:1778 onnxruntime::Provider& Get()"
    " [ONNXRuntimeError] : 1 : FAIL : Failed to load library libcudart.so.13\x1b[m\n"
    "2026-01-02 03:04:06.000 [W:onnxruntime:Default, y.cc:1 f] only a warning\n"
    "2026-01-02 03:04:07.000 [E:onnxruntime:, z.cc:9 g] second error\n"
)


def test_errors_in_the_log_come_without_time_and_place(tmp_path: Path) -> None:
    log = tmp_path / "stderr.txt"
    log.write_text(LOG, encoding="utf-8")
    assert logged_errors(log) == [
        "Failed to load library libcudart.so.13",
        "second error",
    ]


def test_what_was_in_the_log_before_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "stderr.txt"
    log.write_text(LOG, encoding="utf-8")
    assert logged_errors(log, since=LOG.encode().index(b"2026-01-02 03:04:06")) == ["second error"]
    assert logged_errors(log, since=len(LOG.encode())) == []


def test_a_log_of_any_bytes_can_be_read(tmp_path: Path) -> None:
    log = tmp_path / "stderr.txt"
    log.write_bytes(b"\xff\xfe [E:onnxruntime:x, y] caf\xe9\n")
    assert logged_errors(log) == ["caf�"]
