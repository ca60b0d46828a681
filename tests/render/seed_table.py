"""A report with the table that users of audonnx have made by hand."""

from __future__ import annotations

from typing import Any

from detaudit.report import Finding, Report, Verdict
from detaudit.rows import Deviation, Value, Worst
from tests.render.parts import (
    CUDA,
    NO_LIMIT,
    differs,
    drifts,
    equals,
    make,
    missing,
    publish,
    repeats,
    rounds,
    target,
    times,
)


def drift() -> Report:
    """The table of the seed document: CPU, CUDA as asked, with another search, without TF32."""
    search = "cuda:0[cudnn_conv_algo_search=DEFAULT]"
    keys = {"cudnn_conv_algo_search": "EXHAUSTIVE", "use_tf32": "1"}
    a100: dict[str, Any] = {"hardware": "NVIDIA A100-SXM4-40GB", "placement": CUDA}
    targets = [
        target("cpu", is_reference=True),
        target("cuda:0", **a100, effective={"provider_options": {"CUDAExecutionProvider": keys}}),
        target(
            search,
            **a100,
            requested={"cudnn_conv_algo_search": "DEFAULT"},
            effective={
                "provider_options": {
                    "CUDAExecutionProvider": {**keys, "cudnn_conv_algo_search": "DEFAULT"}
                }
            },
        ),
        missing(
            "cuda:0[use_tf32=0]",
            "CUDA failure 2: out of memory while the session was created; GPU=0 hostname=gpu-17"
            " expr=cudaMalloc((void**)&p, size); close other programs that use the device, or"
            " choose another one with --device cuda:1",
            requested={"use_tf32": "0"},
        ),
    ]
    labels = ("arousal", "dominance", "valence")
    figures = {
        "cuda:0": (2.62856483e-05, 5.79953194e-05, 1.06304884e-04),
        search: (5.1e-05, 6.2e-05, 1.15e-04),
    }
    deviation: list[Deviation] = []
    for name, values in figures.items():
        deviation.append(equals(name, "hidden_states", elements=1024, finite=1024))
        worst = Worst(0, (0, 2), 0.49738473, 0.49750742)
        told = "larger than the order of sums explains in float32: TF32 is likely"
        deviation.append(differs(name, "logits", 1.23e-4, worst=worst, explanation=told))
        deviation += [
            differs(name, "logits", d * 1.5, mean_signed=-d, label=label, elements=1, finite=1)
            for label, d in zip(labels, values, strict=True)
        ]
    runs = []
    for name in figures:
        runs += repeats(name, "hidden_states")
        runs += drifts(name, "logits", 5.1e-5)[:2] + repeats(name, "logits")[2:]
    return make(
        targets,
        repeatability=[*repeats("cpu", "hidden_states"), *repeats("cpu", "logits"), *runs],
        deviation=deviation,
        decimals=[
            *(publish(n, "hidden_states", **NO_LIMIT) for n in figures),
            *(publish(n, "logits") for n in figures),
            *(publish(n, "logits", n, safe_1pct=3, safe_01pct=2) for n in figures),
        ],
        rounding=[
            *rounds("cpu", "logits", 0.0, reference="cpu"),
            *(r for n in figures for r in rounds(n, "hidden_states", 0.0, 1024)),
            *(r for n in figures for r in rounds(n, "logits", 5e-5)),
        ],
        latency=[times("cpu", 0.84), times("cuda:0", 0.0123), times(search, 0.0345)],
        values=[
            Value("cuda:0", "logits", label, 0, 0, 0, run, 0.6832043 + run * 1e-5 - i / 10)
            for run in range(3)
            for i, label in enumerate(labels)
        ],
        findings=[
            Finding(
                "error",
                "unavailable",
                "cuda:0[use_tf32=0]",
                None,
                "The target did not run: CUDA out of memory. Nothing is known about it.",
            ),
            Finding(
                "warning",
                "runs-differ",
                "cuda:0",
                "logits",
                "Runs within one session differ. Likely causes are sums with atomics and the"
                " choice of the convolution algorithm; see detaudit advise.",
            ),
            Finding("info", "mixed-placement", "cuda:0", None, "14 of 412 nodes ran on the CPU."),
        ],
        verdict=Verdict(
            "decimals=4,no-class-flip",
            False,
            ("cuda:0[use_tf32=0]",),
            ("cuda:0: logits agree to 4 decimals, but 0.5 of 3 values change at 4 decimals",),
            "On cpu no difference was seen in 40 runs (2 processes: at most 95 % of further"
            " processes may differ). On cuda:0 every run differs; publish two decimals and expect"
            " about 5 of 1,000 printed values to change; cuda:0[use_tf32=0] was not audited.",
        ),
    )
