from __future__ import annotations

from typing import Any

import pytest

from detaudit.judge.judge import judge
from detaudit.report import Finding
from tests.records import always, floats, make_torch_record, torch_facts

FLAGS = {"cuda_matmul": "tf32", "cudnn_conv": "tf32", "cudnn_rnn": "tf32"}


def findings(target: str, effective: dict[str, Any], **facts: Any) -> tuple[Finding, ...]:
    told = {target: torch_facts(effective=effective, **facts)}
    return judge(make_torch_record({target: always(floats(1))}, facts=told)).findings


@pytest.mark.parametrize(
    ("target", "effective", "message"),
    [
        ("cpu[threads=4]", {"threads": 4}, None),
        ("cpu[threads=4]", {}, None),
        (
            "cpu[threads=4]",
            {"threads": 1},
            "threads=4 was asked for, but torch has threads=1.",
        ),
        ("cpu[inter_threads=2]", {"inter_threads": 2}, None),
        ("cpu[deterministic=1]", {"deterministic": "1"}, None),
        (
            "cpu[deterministic=1]",
            {"deterministic": "warn_only"},
            "deterministic=1 was asked for, but torch has deterministic=warn_only.",
        ),
        ("cpu[matmul=medium]", {"matmul": "medium"}, None),
        ("cpu[matmul=medium]", {"matmul": None}, None),
        (
            "cpu[matmul=medium]",
            {"matmul": "highest"},
            "matmul=medium was asked for, but torch has matmul=highest.",
        ),
        ("cpu[compile=1]", {"compile": True}, None),
        (
            "cpu[compile=1]",
            {"compile": False},
            "compile=1 was asked for, but torch has compile=0.",
        ),
        ("cpu[autocast=bfloat16]", {"autocast": "bfloat16"}, None),
        (
            "cpu[autocast=bfloat16]",
            {"autocast": None},
            "autocast=bfloat16 was asked for, but torch has autocast=none.",
        ),
        ("cpu[dtype=float64]", {"dtypes": {"float64": 3, "int64": 1}}, None),
        ("cpu[dtype=float64]", {"dtypes": {}}, None),
        (
            "cpu[dtype=float64]",
            {"dtypes": {"float32": 3}},
            "dtype=float64 was asked for, but the weights are float32.",
        ),
        ("cuda:0[tf32=1]", {"flags": FLAGS}, None),
        ("cuda:0[tf32=1]", {}, None),
        (
            "cuda:0[tf32=0]",
            {"flags": {**FLAGS, "cuda_matmul": "ieee"}},
            "tf32=0 was asked for, but torch has: cudnn_conv tf32, cudnn_rnn tf32.",
        ),
    ],
)
def test_what_is_in_force_is_what_torch_tells(
    target: str, effective: dict[str, Any], message: str | None
) -> None:
    expected = (
        () if message is None else (Finding("warning", "not-in-force", target, None, message),)
    )
    assert findings(target, effective) == expected


def test_nothing_is_said_in_the_name_of_onnx_runtime() -> None:
    """Options of torch are no options of an execution provider."""
    assert findings("cpu[inter_threads=2,matmul=high,threads=2]", {}) == ()


def test_an_option_that_does_nothing_on_a_cpu() -> None:
    assert findings("cpu[tf32=1]", {"flags": FLAGS}) == (
        Finding("info", "moot-option", "cpu[tf32=1]", None, "tf32 has no effect on cpu."),
    )


@pytest.mark.parametrize(
    ("workspace", "message"),
    [
        ({"value": None, "usual": None, "too_late": False}, None),
        ({"value": ":16:8", "usual": True, "too_late": False}, None),
        (
            {"value": ":0:0", "usual": False, "too_late": False},
            (
                "CUBLAS_WORKSPACE_CONFIG=:0:0 is set: cuBLAS is known to repeat itself with :4096:8"
                " and :16:8 only."
            ),
        ),
        (
            {"value": ":4096:8", "usual": True, "too_late": True},
            (
                "CUBLAS_WORKSPACE_CONFIG was set when CUDA had already started, and cuBLAS may not"
                " have read it: set it in the environment, or with"
                " env.CUBLAS_WORKSPACE_CONFIG=:4096:8."
            ),
        ),
    ],
)
def test_a_workspace_of_cublas_that_cannot_be_trusted(
    workspace: dict[str, Any], message: str | None
) -> None:
    """J4; on a CPU it matters to nobody."""
    told = [
        (f.level, f.kind, f.message) for f in findings("cuda:0", {"cublas_workspace": workspace})
    ]
    assert told == ([] if message is None else [("warning", "cublas-workspace", message)])
    assert findings("cpu", {"cublas_workspace": workspace}) == ()


def test_weights_that_lie_on_two_devices() -> None:
    (finding,) = findings("cuda:0", {}, placement={"cuda:0": 11, "cpu": 1})
    assert (finding.kind, finding.message) == (
        "mixed-placement",
        "Weights lie on: 11 on cuda:0, 1 on cpu.",
    )
