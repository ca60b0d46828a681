from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from detaudit.capture.capture import capture
from detaudit.judge.judge import judge
from detaudit.models.model import RandomOp, TensorInfo
from detaudit.record import Record
from detaudit.report import Finding
from detaudit.spec import AuditSpec
from detaudit.target import parse_targets
from tests.builders import noisy_in_if, random_times_zero
from tests.records import Plan, always, by_run, floats, make_model, make_record

OFF = "cpu[opt=off]"
DRAW = RandomOp("RandomUniformLike", "draw", "If_0/then_branch", seeded=False)


def kinds(record: Record) -> list[str]:
    return [finding.kind for finding in judge(record).findings]


def find(record: Record, kind: str) -> Finding:
    (found,) = [finding for finding in judge(record).findings if finding.kind == kind]
    return found


def test_nothing_to_tell() -> None:
    assert kinds(make_record({"cpu": always(floats(1)), OFF: always(floats(1))})) == []


def test_what_was_not_audited_comes_first() -> None:
    findings = judge(
        make_record({"cpu": by_run(floats(1), floats(2)), "cuda:0": "no driver"})
    ).findings
    assert findings[0] == Finding("error", "unavailable", "cuda:0", None, "no driver.")
    levels = [finding.level for finding in findings]
    assert levels == sorted(levels, key=["error", "warning", "info"].index)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            by_run(floats(1, 2), floats(1, 2.5)),
            "first-run-differs",
            "The first run of a session differs from the rest in y, up to 5.0e-01 apart.",
        ),
        (
            by_run(floats(1), floats(2), floats(4)),
            "run-drift",
            "3 distinct results in 4 runs of y, up to 3.0e+00 apart.",
        ),
        (
            lambda _p, session, *_: {"y": floats(session)},
            "session-drift",
            "2 distinct results in 2 sessions of y, up to 1.0e+00 apart.",
        ),
        (
            lambda process, *_: {"y": floats(process)},
            "process-drift",
            "2 distinct results in 2 processes of y, up to 1.0e+00 apart.",
        ),
        (
            by_run(np.array(["a"]), np.array(["b"]), np.array(["a"])),
            "run-drift",
            "2 distinct results in 4 runs of y.",
        ),
    ],
)
def test_drift_is_told_in_its_narrowest_scope(call: Any, kind: str, words: str) -> None:
    finding = find(make_record({"cpu": call}), kind)
    assert (finding.level, finding.target) == ("warning", "cpu")
    assert finding.message.startswith(words)


def test_scopes_that_repeat_are_told_too() -> None:
    finding = find(make_record({"cpu": by_run(floats(1), floats(2), floats(3))}), "run-drift")
    assert "The first calls of fresh sessions and fresh processes are equal." in finding.message
    plan = Plan(sessions=1, processes=1)
    finding = find(make_record({"cpu": by_run(floats(1), floats(2), floats(3))}, plan), "run-drift")
    assert "are equal" not in finding.message


def test_the_first_run_is_told_only_where_it_alone_differs() -> None:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"y": floats(min(run, 1)), "z": floats(run)}

    assert "run-drift" in kinds(make_record({"cpu": call}))
    assert "first-run-differs" not in kinds(make_record({"cpu": call}))


def test_random_operators_are_named_as_the_cause() -> None:
    model = make_model("y", random_ops=(DRAW,))
    for call, kind, words in (
        (by_run(floats(1), floats(2), floats(3)), "run-drift", "a seed attribute does not change"),
        (lambda process, *_: {"y": floats(process)}, "process-drift", "--seed-runtime"),
    ):
        finding = find(make_record({"cpu": call}, model=model), kind)
        assert "RandomUniformLike 'draw' in If_0/then_branch" in finding.message
        assert words in finding.message


def test_random_operators_without_effect() -> None:
    model = make_model("y", random_ops=(DRAW,))
    finding = find(
        make_record({"cpu": always(floats(1))}, model=model), "random-ops-without-effect"
    )
    assert "no difference was seen" in finding.message
    missing = make_record({"cuda:0": "no driver"}, model=model)
    assert "random-ops-without-effect" not in kinds(missing)


def test_random_operators_of_real_models(tmp_path: Any) -> None:
    plan = {"targets": parse_targets("cpu"), "runs": 3, "sessions": 1, "processes": 1}
    record = capture(AuditSpec(model=str(noisy_in_if(tmp_path)), **plan))
    assert "RandomUniformLike 'draw'" in find(record, "run-drift").message
    record = capture(AuditSpec(model=str(random_times_zero(tmp_path)), **plan))
    assert "'draw'" in find(record, "random-ops-without-effect").message


def test_causes_on_a_gpu_are_others() -> None:
    gpu = make_record({"cuda:0": by_run(floats(1), floats(2), floats(3))})
    assert "atomic additions" in find(gpu, "run-drift").message
    gpu = make_record({"cuda:0": lambda _p, session, *_: {"y": floats(session)}})
    assert "cudnn_conv_algo_search=DEFAULT" in find(gpu, "session-drift").message
    cpu = make_record({"cpu": by_run(floats(1), floats(2), floats(3))})
    assert "threads=1" in find(cpu, "run-drift").message


def test_a_reference_that_varies_is_told() -> None:
    drift = by_run(floats(1), floats(2))
    assert "reference-varies" in kinds(make_record({"cpu": drift, OFF: always(floats(1))}))
    assert "reference-varies" not in kinds(make_record({"cpu": always(floats(1)), OFF: drift}))
    assert "reference-varies" not in kinds(make_record({"cpu": drift}))


def test_nan_that_comes_and_goes() -> None:
    finding = find(make_record({"cpu": by_run(floats(1), floats(np.nan))}), "nan-varies")
    assert finding.message == "NaN or infinity comes and goes in y."
    both = make_record({"cpu": always(floats(1)), OFF: always(floats(np.inf))})
    assert find(both, "nan-differs").target == OFF


def test_structures_that_change() -> None:
    finding = find(make_record({"cpu": by_run(floats(1), floats(1, 2))}), "structure-varies")
    assert (finding.level, finding.message) == ("error", "shape (1,) against (2,).")
    both = make_record({"cpu": always(floats(1)), OFF: always(floats(1, 2))})
    finding = find(both, "structure-differs")
    assert finding.level == "error"
    assert finding.message.startswith("Cannot be compared with cpu: shape (")


def test_sizes_that_are_unusual_are_told_with_their_share() -> None:
    both = make_record({"cpu": always(floats(1, 2)), OFF: always(floats(1, 2.01))})
    finding = find(both, "unusual-size")
    assert finding.message.startswith("1 of 2 values are up to 1.0e-02 off cpu:")


def test_flips_ties_and_missing_classes() -> None:
    model = make_model("y", score_outputs=("y",))

    def scores(*values: float) -> Record:
        return make_record({"cpu": always(floats(0, 1)), OFF: always(floats(*values))}, model=model)

    finding = find(scores(1, 0), "class-flips")
    assert (finding.target, finding.message) == (OFF, "1 of 1 predicted classes change.")
    assert find(scores(1, 1), "ties").message.startswith("1 of 1 items have two equal largest")
    assert find(scores(0, np.nan), "no-class").message.startswith("1 of 1 items have NaN")


def test_values_that_are_not_spread_evenly() -> None:
    one = np.full(1000, 0.4999999)
    other = np.full(1000, 0.5000001)
    record = make_record({"cpu": always(one), OFF: always(other)})
    finding = find(record, "uneven-values")
    assert finding.message.startswith("At 0 decimals 1000 of 1000 printed values change where 0")


def test_values_that_crowd_at_their_ends() -> None:
    rng = np.random.default_rng(1)
    scores = 1 / (1 + np.exp(-8 * rng.standard_normal(50_000)))
    other = scores + 4e-4 * rng.standard_normal(scores.size)
    found = find(make_record({"cpu": always(scores), OFF: always(other)}), "uneven-values")
    # The last digits are the exponential function's, which differs between machines.
    words = r"At 2 decimals 9\d\d of 50000 printed values change where 1[56]\d\d were expected: .*"
    assert re.fullmatch(words, found.message)


def test_many_runs_that_differ_are_no_sign_of_uneven_values() -> None:
    rng = np.random.default_rng(2)
    values = rng.standard_normal(5_000)
    runs = [values + 4e-4 * rng.standard_normal(values.size) for _ in range(20)]
    plan = Plan(runs=20, sessions=1, processes=1)
    assert "uneven-values" not in kinds(make_record({"cpu": by_run(*runs)}, plan))


def test_options_without_effect() -> None:
    record = make_record({"cpu[inter_threads=4]": always(floats(1))})
    assert "inter_threads has no effect" in find(record, "moot-option").message
    record = make_record({"cpu[execution=parallel,inter_threads=4]": always(floats(1))})
    assert kinds(record) == []


@pytest.mark.parametrize(
    ("in_force", "kind", "words"),
    [
        ({"use_tf32": "0"}, None, ""),
        ({"use_tf32": "1"}, "not-in-force", "use_tf32=0 was asked for, but the session has"),
        ({}, "unconfirmed-option", "use_tf32: handed to ONNX Runtime"),
    ],
)
def test_options_that_are_not_in_force(
    in_force: dict[str, str], kind: str | None, words: str
) -> None:
    """A variant that the runtime passes over must not be taken for another one that agrees."""
    record = make_record({"cuda:0[use_tf32=0]": always(floats(1))})
    effective = {"provider_options": {"CUDAExecutionProvider": in_force}}
    (target,) = record.targets
    record = replace(record, targets=(replace(target, effective=effective),))
    assert kinds(record) == ([] if kind is None else [kind])
    if kind is not None:
        assert words in find(record, kind).message


def test_types_that_were_widened_are_told_with_what_they_are() -> None:
    model = make_model("y", widened=("y",))
    object.__setattr__(model, "outputs", (TensorInfo("y", "bfloat16", None),))
    assert (
        "y (bfloat16)"
        in find(make_record({"cpu": always(floats(1))}, model=model), "widened").message
    )


def test_no_finding_says_deterministic() -> None:
    for call in (always(floats(1)), by_run(floats(1), floats(2)), by_run(floats(1, 2), floats(1))):
        for finding in judge(make_record({"cpu": call, OFF: call, "cuda:0": "none"})).findings:
            assert "deterministic" not in finding.message
