"""Reports made by hand, one per kind of thing that a renderer has to cope with."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from detaudit.report import Finding, Report, Verdict
from detaudit.rows import Classes, Latency, Rounding, Value, Worst
from tests.render.parts import (
    FIGURES,
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
from tests.render.seed_table import drift
from tests.render.torch_report import torch, unseeded


def same() -> Report:
    """Two outputs, all runs the same, nothing to compare with."""
    outputs = ("hidden_states", "logits")
    return make(
        [target("cpu", is_reference=True)],
        repeatability=[row for name in outputs for row in repeats("cpu", name)],
        rounding=[row for name in outputs for row in rounds("cpu", name, 0.0)],
        decimals=[publish("cpu", name, **NO_LIMIT) for name in outputs],
        latency=[times("cpu", 0.0123)],
        verdict=Verdict(
            "identical",
            True,
            (),
            (),
            "On cpu no difference was seen in 40 runs (2 processes: at most 95 % of further"
            " processes may differ).",
        ),
    )


def unavailable() -> Report:
    """CUDA and its variants on a machine without a GPU."""
    why = (
        "onnxruntime 1.32.0 is the CPU build and has no CUDAExecutionProvider (providers:"
        " AzureExecutionProvider, CPUExecutionProvider); install onnxruntime-gpu instead"
    )
    names = ["cuda:0", "cuda:0[cudnn_conv_algo_search=DEFAULT]", "cuda:0[use_tf32=0]"]
    base = same()
    return replace(
        base,
        targets=(*base.targets, *(missing(name, why) for name in names)),
        findings=tuple(Finding("error", "unavailable", name, None, why) for name in names),
        verdict=replace(base.verdict, requirement=None, met=None, untested=tuple(names)),
    )


def many_labels() -> Report:
    """200 labels, class scores, and more outputs than fit a page."""
    name = "openvino"
    labels = [
        differs(name, "scores", 1e-6 * (1 + i % 37), label=f"class {i:03}", elements=1, finite=1)
        for i in range(200)
    ]
    parts = [f"boxes[{i}]" for i in range(30)]
    return make(
        [
            target("cpu", is_reference=True),
            target(name, placement={"OpenVINOExecutionProvider": 1}),
        ],
        repeatability=[
            *repeats("cpu", "scores"),
            *repeats(name, "scores"),
            *(row for part in parts for row in repeats(name, part)),
        ],
        deviation=[
            differs(name, "scores", 3.7e-5, elements=200, finite=200),
            *labels,
            *(differs(name, part, 1e-3 * (i + 1)) for i, part in enumerate(parts[:20])),
            *(equals(name, part) for part in parts[20:]),
        ],
        decimals=[publish(name, "scores"), *(publish(name, part) for part in parts)],
        rounding=[
            *rounds(name, "scores", 1.2e-5, 200_000),
            *(r for part in parts for r in rounds(name, part, 1e-4)),
        ],
        classes=[
            Classes("cpu", "cpu", "scores", 1000, 0, 0.003, 0.0, False, 1.2e-4, 0.0, 0, 2, 0),
            Classes(name, "cpu", "scores", 1000, 5, 0.0117, 0.0042, True, 1.2e-4, 2e-3, 37, 2, 1),
        ],
        latency=[times("cpu", 0.00123), times(name, 0.00023)],
    )


def only_nan() -> Report:
    """Every element NaN on one side, and on both."""
    name = "cpu[opt=off]"
    unknown: dict[str, Any] = dict.fromkeys(FIGURES, math.nan)
    none: dict[str, Any] = dict.fromkeys([*FIGURES, "max_ulp"])
    gone = differs(name, "y", 1.0, finite=0, max_ulp=None, nan_pattern_changed=True)
    return make(
        [target("cpu", is_reference=True), target(name, requested={"opt": "off"})],
        repeatability=[
            *repeats("cpu", "y", max_abs=math.nan, mean_abs=math.nan),
            *repeats(
                name,
                "y",
                identical=False,
                same_values=False,
                distinct=2,
                modal_share=0.9,
                instability_upper_bound=None,
                max_abs=None,
                mean_abs=math.nan,
                max_ulp=None,
                changed_share=0.5,
                first_run_differs=True,
                nan_pattern_changed=True,
            ),
        ],
        deviation=[
            replace(gone, **unknown, bits_kept=None, worst=Worst(0, (1,), math.nan, math.inf)),
            replace(equals(name, "z"), elements=4, finite=0, **none),
        ],
        rounding=[Rounding(name, "cpu", "y", 2, 4, 4, 1.0, math.nan, math.nan)],
        decimals=[publish(name, "y", **NO_LIMIT, resolution=None)],
        classes=[Classes(name, "cpu", "y", 1, 0, None, None, False, None, None, 0, 0, 1)],
        latency=[Latency("cpu", 1, 0.2, 0.01, math.nan, math.nan)],
    )


def empty_outputs() -> Report:
    """Outputs without elements: no detections."""
    name = "cpu[threads=4]"
    nothing: dict[str, Any] = dict.fromkeys([*FIGURES, "bits_kept", "max_ulp"])
    return make(
        [target("cpu", is_reference=True), target(name, requested={"threads": "4"})],
        repeatability=[
            row
            for t in ("cpu", name)
            for row in repeats(t, "boxes", max_abs=None, mean_abs=None, max_ulp=None)
        ],
        deviation=[replace(equals(name, "boxes"), elements=0, finite=0, **nothing)],
        rounding=[Rounding(name, "cpu", "boxes", k, 0, 0, 1.0, 0.0, 0.0) for k in range(8)],
        decimals=[publish(name, "boxes", **NO_LIMIT, resolution=None)],
    )


def emulated() -> Report:
    """An emulated device against a reference in double precision."""
    name = "emulate:tf32"
    return make(
        [
            target("float64", kind="reference", is_reference=True),
            target(name, kind="emulated", runs=1, plan=(1, 1, 1)),
        ],
        repeatability=[
            *repeats("float64", "logits"),
            *repeats(name, "logits", (1, 1, 1)),
        ],
        deviation=[differs(name, "logits", 4.2e-4, reference="float64")],
        decimals=[publish(name, "logits", "float64", agree=3)],
        rounding=rounds(name, "logits", 2e-4, reference="float64"),
        classes=[Classes(name, "float64", "logits", 1, 0, 0.95, None, False, 0.2, 1e-3, 0, 0, 0)],
        latency=[times(name, 0.5)],
        verdict=Verdict(None, None, (), (), "Emulated TF32 moves logits by up to 4.2e-04."),
    )


def nasty_names() -> Report:
    """Names that mean something to rich, to a terminal, to a spreadsheet, to Sphinx."""
    name = "ep:XnnpackExecutionProvider[config.a=[red]x[/red]]"
    output = "[bold]StatefulPartitionedCall:0[/bold]"
    labels = [
        '=HYPERLINK("http://x","y")',
        "+cmd|' /C calc'!A0",
        "-1",
        "@sum",
        "[red]x[/red]",
        "two\nlines",
        "\x1b[31mred\x1b[0m\x07",
        "right\u202eleft",
        "lone \udc80 half",
        "größe 音声 🎵",
        "`code` *star* |bar| under_ \\back",
        "- item",
    ]
    return make(
        [target("cpu", is_reference=True), target(name)],
        repeatability=drifts(name, output),
        deviation=[
            differs(name, output, 1e-3, structural="shape\nchanged: [3] and [4]"),
            *(differs(name, output, 1e-4 * (i + 1), label=label) for i, label in enumerate(labels)),
        ],
        rounding=rounds(name, output, 1e-4, reference="cpu"),
        values=[Value(name, output, label, 0, 0, 0, 0, -0.5) for label in labels],
        findings=[Finding("warning", "x", name, output, "[link=http://x]message[/link]\nmore")],
        verdict=Verdict(None, None, (), (), "[blink]Nothing[/blink] to say."),
    )


def failed() -> Report:
    """A worker that crashed midway."""
    base = same()
    name = "cpu[threads=8]"
    why = "the worker was killed by signal 11 (SIGSEGV) in run 7 of 10, session 2 of process 1"
    row = missing(name, why, "failed")
    return replace(
        base,
        targets=(*base.targets, replace(row, runs=16, hardware="AMD EPYC 7763")),
        repeatability=(*base.repeatability, *repeats(name, "logits")),
        verdict=replace(base.verdict, met=False, untested=(name,), failures=(f"{name} failed",)),
    )


def interrupted() -> Report:
    """Stopped by the user before the second target."""
    base = same()
    row = missing("cuda:0", "the audit was interrupted before", "skipped")
    return replace(
        base,
        interrupted=True,
        targets=(*base.targets, row),
        verdict=replace(base.verdict, requirement=None, met=None, untested=("cuda:0",)),
    )


REPORTS = {
    make_report.__name__: make_report
    for make_report in (
        same,
        drift,
        unavailable,
        many_labels,
        only_nan,
        empty_outputs,
        emulated,
        nasty_names,
        failed,
        interrupted,
        torch,
        unseeded,
    )
}
