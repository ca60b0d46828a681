"""A, B2 to B7: the same input, run to run, as GPUs and memory reuse make it differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from detaudit.audit import plan_audit
from detaudit.cli import main
from detaudit.render.json_report import render_json
from detaudit.worker.leaves import Leaf
from tests import builders
from tests.cases.audits import (
    all_identical,
    audit_quickly,
    capture_quickly,
    kinds,
    message,
    only,
    read_strictly,
)
from tests.cases.replay import Calls, in_one_session, in_processes, in_sessions, replay
from tests.cases.runtimes import stand_in
from tests.runtime import make_session, normal

FLOATS = ("float16", "float32", "float64")


def near(value: float, dtype: str, steps: int = 1) -> np.ndarray:
    """Two values, the first so many representable steps above the given one."""
    values = np.array([value, 2], dtype)
    values.view(f"int{8 * values.itemsize}")[:1] += steps
    return values


# A: on a GPU


def test_a_seed_document_in_one_report() -> None:
    """A1: the CPU repeats, the GPU differs from it and from call to call; decimals survive."""
    reference = np.float32([[0.5463, 0.6153, 0.4041]])
    drifting = [reference + np.float32(d) for d in (2.1e-5, 4.2e-5, 2.6e-5)]
    default = [reference + np.float32(d) for d in (9.0e-5, 2.0e-5, 9.7e-5)]
    report = replay(
        {
            "cpu": in_one_session(*[{"logits": reference}] * 3),
            "cuda:0": in_one_session(*[{"logits": y} for y in drifting]),
            "cuda:0[cudnn_conv_algo_search=DEFAULT]": in_one_session(
                *[{"logits": y} for y in default]
            ),
        },
        labels=(("logits", ("arousal", "dominance", "valence")),),
    )
    distinct = {r.target: r.distinct for r in report.repeatability if r.scope == "run"}
    assert list(distinct.values()) == [1, 3, 3]
    rows = [row for row in report.deviation if row.target == "cuda:0"]
    assert [row.label for row in rows] == [None, "arousal", "dominance", "valence"]
    for row in rows:
        assert row.max_abs == pytest.approx(4.2e-5, rel=2e-3)
        assert row.mean_signed == pytest.approx((2.1e-5 + 4.2e-5 + 2.6e-5) / 3, rel=2e-3)
    whole = {
        row.target: row.agree
        for row in report.decimals
        if row.reference == "cpu" and row.target != "cpu" and row.label is None
    }
    # 2 x 4.2e-5 lies within 1e-4, 2 x 9.7e-5 does not.
    assert list(whole.values()) == [4, 3]
    assert {row.run for row in report.values} == {0, 1, 2}


@pytest.mark.parametrize(
    ("given", "scope"),
    [(in_sessions, "session"), (in_processes, "process")],
)
def test_sessions_and_processes_are_compared_with_each_other(
    given: Callable[..., Calls], scope: str
) -> None:
    """A2, A3: steady inside, other outside; runs of one session alone would call it clean."""
    a, b = near(1, "float32"), near(1, "float32", 3)
    report = replay({"cuda:0": given([a, a], [b, b])})
    assert only(report.repeatability, scope="run").identical
    row = only(report.repeatability, scope=scope)
    assert (row.distinct, row.units, row.max_ulp) == (2, 2, 2)
    assert row.instability_upper_bound is None
    assert kinds(report) == {f"{scope}-drift"}
    assert "no difference" not in report.verdict.sentence
    assert f"from {scope} to {scope}" in report.verdict.sentence


def test_options_reach_every_session_and_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A2, A9, D1: options of a provider on the command line, and what the session says of them."""
    target = stand_in("cuda:1", "cudnn_conv_algo_search=DEFAULT", "use_tf32=0")
    once = ["--runs", "2", "--processes", "1", "--variants", "none"]
    code = main([str(builders.identity(tmp_path)), "--device", target, "--json", "-", *once])
    (told,) = json.loads(capsys.readouterr().out)["targets"]
    assert code == 0
    assert told["effective"]["provider_options"]["CUDAExecutionProvider"] == {
        "cudnn_conv_algo_search": "DEFAULT",
        "use_tf32": "0",
        "device_id": "1",
    }
    assert told["requested"]["use_tf32"] == "0"


def test_columns_of_other_scale_are_told_apart() -> None:
    """A4: boxes move by 1e-2 and scores by 6e-5, yet both by few units of their own size."""
    boxes, scores = np.float32([[311.25, 17.5]]), np.float32([0.98, 0.42])
    moved = {"boxes": boxes + np.float32(1e-2), "scores": scores + np.float32(6e-5)}
    report = replay(
        {
            "cpu": in_one_session({"boxes": boxes, "scores": scores}),
            "cuda:0": in_one_session(moved),
        }
    )
    box, score = only(report.deviation, output="boxes"), only(report.deviation, output="scores")
    assert box.max_abs == pytest.approx(1e-2, rel=1e-2)
    assert score.max_abs == pytest.approx(6e-5, rel=1e-2)
    assert 0.3 < box.rel_norm / score.rel_norm < 1
    assert box.max_ulp > 0
    assert score.max_ulp > 0
    assert box.bits_kept == pytest.approx(-np.log2(box.rel_norm))


def test_the_report_tells_what_it_ran_on(tmp_path: Path) -> None:
    """A6, C5, E2: system, processor and its instructions, versions, placement."""
    report = audit_quickly(builders.identity(tmp_path), stand_in("cuda:0"), variants="none")
    cpu = report.environment["cpu"]
    assert cpu["name"]
    assert cpu["cores"] >= 1
    assert isinstance(cpu["flags"], list)
    assert {"system", "machine", "python", "versions", "variables"} <= report.environment.keys()
    (target,) = report.targets
    assert {"python", "numpy", "onnxruntime"} <= target.versions.keys()
    assert target.placement == {"CUDAExecutionProvider": 3}


def test_the_processor_of_this_machine_is_not_taken_for_a_gpu(tmp_path: Path) -> None:
    """A6: where no driver tells the GPU's name, there is none."""
    report = audit_quickly(
        builders.identity(tmp_path), f"cpu,{stand_in('cuda:0')}", variants="none"
    )
    assert [bool(row.hardware) for row in report.targets] == [True, False]


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_thousand_units_are_drift_whatever_the_decimals(dtype: str) -> None:
    """A8: no tolerance hides them."""
    a, b = near(1, dtype, 0), near(1, dtype, 1000)
    report = replay(
        {"cuda:0": in_sessions([a], [b]), "cuda:1": in_sessions([a], [a])}, requirement="ulp=999"
    )
    row = only(report.repeatability, target="cuda:0", scope="session")
    assert (row.identical, row.max_ulp) == (False, 1000)
    assert row.max_abs == pytest.approx(float(b[0] - a[0]))
    assert report.verdict.met is False


def test_targets_with_options_come_as_a_list() -> None:
    """A9, F8: as text or list, options with every target."""
    plan = plan_audit(
        "model.onnx", ["cpu", "cuda:0[cudnn_conv_algo_search=HEURISTIC]"], variants="none"
    )
    assert [target.name for target in plan.targets] == [
        "cpu",
        "cuda:0[cudnn_conv_algo_search=HEURISTIC]",
    ]
    assert plan.targets[1].provider_options == {"cudnn_conv_algo_search": "HEURISTIC"}


# B: on a CPU


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_first_run_is_never_dropped(dtype: str) -> None:
    """B2, B6: one run right and all later ones equal among themselves is a finding of its own."""
    a, b = near(1, dtype), near(1, dtype, 5)
    report = replay({"cpu": in_one_session(a, b, b, b)})
    row = only(report.repeatability, scope="run")
    assert (row.identical, row.first_run_differs) == (False, True)
    assert (row.distinct, row.modal_share, row.max_ulp) == (2, 0.75, 4)
    assert kinds(report) == {"first-run-differs"}
    assert "mem_pattern=0" in message(report, "first-run-differs")
    assert "the first run of a session differs from the rest" in report.verdict.sentence


@pytest.mark.parametrize("runs", ["abab", "aabb", "abbc", "abcd"])
def test_other_patterns_are_no_first_run(runs: str) -> None:
    """B2: only when all the rest is equal."""
    values = {letter: near(1, "float32", i) for i, letter in enumerate("abcd")}
    report = replay({"cpu": in_one_session(*[values[letter] for letter in runs])})
    row = only(report.repeatability, scope="run")
    assert (row.distinct, row.first_run_differs) == (len(set(runs)), False)
    assert kinds(report) == {"run-drift"}


def test_the_first_run_of_every_session_counts() -> None:
    """B2: the same pattern in each session, which agree among themselves."""
    a, b = near(1, "float32"), near(1, "float32", 5)
    report = replay({"cpu": in_sessions([a, b, b], [a, b, b])})
    assert only(report.repeatability, scope="run").first_run_differs
    assert only(report.repeatability, scope="session").identical


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_a_run_that_turns_special_is_drift(dtype: str, special: float) -> None:
    """B4: run 1 is fine, later ones are not; no difference of NaN or of 0 comes of it."""
    fine, spoiled = np.array([1.5, 2], dtype), np.array([special, special], dtype)
    report = replay({"cpu": in_one_session(fine, spoiled, spoiled)}, requirement="decimals=0")
    row = only(report.repeatability, scope="run")
    assert (row.identical, row.same_values, row.nan_pattern_changed) == (False, False, True)
    assert (row.max_abs, row.mean_abs, row.changed_share) == (None, None, 1.0)
    assert {"first-run-differs", "nan-varies"} <= kinds(report)
    assert all(rounding.changed == 2 for rounding in report.rounding)
    assert report.rounding
    assert report.verdict.met is False
    read_strictly(render_json(report))


def test_one_element_that_turns_special_leaves_the_figures_of_the_rest() -> None:
    """B4: distances are over what is finite in all runs."""
    a, b = np.float32([1, 2, 3]), np.float32([np.nan, 2.5, 3])
    report = replay({"cpu": in_one_session(a, b, b)})
    row = only(report.repeatability, scope="run")
    assert (row.max_abs, row.nan_pattern_changed) == (0.5, True)
    assert row.changed_share == pytest.approx(2 / 3)


def test_one_session_in_many_threads_gives_what_the_audit_saw(tmp_path: Path) -> None:
    """B7: callers that share a session among threads get the bits that were audited."""
    path = builders.batch_invariant(tmp_path)
    x = normal(4, 64)
    np.save(tmp_path / "x.npy", x)
    record = capture_quickly(path, runs=8, inputs={"x": f"@{tmp_path / 'x.npy'}"})
    (audited,) = record.targets[0].outcomes[0].digests
    session = make_session(path)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: session.run(None, {"x": x})[0], range(64)))
    assert {Leaf("y", y).digest() for y in results} == {audited}


def test_the_parallel_executor_is_a_target_like_any_other(tmp_path: Path) -> None:
    """B7: and gives the bits of the serial one here."""
    devices = "cpu,cpu[execution=parallel,inter_threads=2]"
    report = audit_quickly(builders.batch_invariant(tmp_path), devices, runs=8)
    assert [row.effective["execution"] for row in report.targets] == ["sequential", "parallel"]
    assert all_identical(report)


@pytest.mark.modern
def test_a_bias_that_is_too_short_is_an_error_of_the_model(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """B18: one line, and an exit code that is not that of drift."""
    once = ["--runs", "2", "--sessions", "1", "--processes", "1", "--require", "identical"]
    code = main([str(builders.bad_conv_bias(tmp_path)), "--device", "cpu", "--json", "-", *once])
    told = json.loads(capfd.readouterr().out)
    assert code == 3
    (target,) = told["targets"]
    assert target["status"] == "failed"
    assert "bias" in target["reason"]
    assert "\n" not in target["reason"]
    assert told["repeatability"] == []
