from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.judge.judge import judge
from tests.records import (
    Call,
    Plan,
    always,
    by_run,
    floats,
    make_model,
    make_record,
    make_torch_record,
    torch_facts,
)

OFF = "cpu[opt=off]"
STEADY = always(np.float64([0.25, 0.5]))


def sentence(targets: dict[str, Call | str], plan: Plan | None = None, **options: Any) -> str:
    return judge(make_record(targets, plan, **options)).verdict.sentence


def test_no_difference_comes_with_the_bound_that_the_runs_support() -> None:
    """Four sessions in two processes of two support 1 - 0.05 ** (1 / 2), two processes 0.95."""
    assert sentence({"cpu": STEADY}, Plan(runs=10)) == (
        "On cpu no difference was seen in 40 runs (with 95 % confidence, a fresh process in at"
        " most 95 % of cases and a fresh session in at most 77.7 % of cases would differ)."
    )


def test_one_session_supports_nothing() -> None:
    assert sentence({"cpu": STEADY}, Plan(runs=10, sessions=1, processes=1)) == (
        "On cpu no difference was seen in 10 runs of one session, which tells nothing of a fresh"
        " session or process."
    )
    assert sentence({"cpu": STEADY}, Plan(runs=1, sessions=1, processes=1)).startswith(
        "On cpu every input ran once, and there is nothing to compare with."
    )


def test_bounds_are_never_rounded_down() -> None:
    for processes in range(2, 80):
        text = sentence({"cpu": STEADY}, Plan(runs=1, sessions=1, processes=processes))
        (percent,) = re.findall(r"at most ([0-9.]+) %", text)
        assert float(percent) / 100 >= 1 - 0.05 ** (1 / (processes - 1))


def test_targets_that_behave_alike_share_a_sentence() -> None:
    text = sentence({"cpu": STEADY, OFF: STEADY, "cpu[threads=2]": STEADY})
    assert text.startswith("On cpu, cpu[opt=off] and cpu[threads=2] no difference was seen in 16")
    assert text.count("no difference was seen") == 1
    assert f"{OFF} gave the bits of cpu." in text


def test_drift() -> None:
    assert sentence({"cpu": by_run(floats(1), floats(2), floats(4))}) == (
        "On cpu results differ from run to run (3 distinct results of 4), by up to 3.0e+00."
    )
    assert sentence({"cpu": by_run(floats(1), floats(2))}) == (
        "On cpu the first run of a session differs from the rest, by up to 1.0e+00."
    )
    assert sentence({"cpu": lambda process, *_: {"y": floats(process)}}) == (
        "On cpu results differ from process to process (2 distinct results of 2), by up to 1.0e+00."
    )
    assert sentence({"cpu": by_run(np.array(["a"]), np.array(["b"]), np.array(["a"]))}) == (
        "On cpu results differ from run to run (2 distinct results of 4)."
    )


def test_bits_that_differ_without_another_value() -> None:
    zeros = by_run(floats(0.0), floats(-0.0), floats(0.0))
    assert sentence({"cpu": zeros}) == (
        "On cpu results differ from run to run (2 distinct results of 4), in the sign of zeros or"
        " what NaNs carry only."
    )
    text = sentence({"cpu": always(floats(0.0)), OFF: always(floats(-0.0))})
    assert f"{OFF} differs from cpu in the sign of zeros or what NaNs carry only." in text


def test_a_deviation_comes_with_decimals() -> None:
    """Section 4 of the method: E|d| = D = 1e-6 agrees to 5 decimals, 4 are safe."""
    one = np.float64([0.0, 0.0])
    text = sentence({"cpu": always(one), OFF: always(one + 1e-6)})
    assert text.endswith(
        f"{OFF} deviates from cpu by up to 1.0e-06 (y); any two results agree to 5 decimals, and"
        " at 4 decimals at most 1 % of printed values change."
    )


def test_large_deviations_agree_to_nothing() -> None:
    one = np.zeros(2)
    text = sentence({"cpu": always(one), OFF: always(one + 7)})
    assert "not even the units of the printed values are safe" in text
    # One outlier of many: the mean is small, but two results do not agree to any decimal.
    one = np.zeros(100_000)
    other = one.copy()
    other[0] = 7
    text = sentence({"cpu": always(one), OFF: always(other)})
    assert "by up to 7.0e+00" in text
    assert "agree to 0 decimals" not in text
    assert "at 2 decimals at most 1 % of printed values change" in text


def test_values_without_a_distance() -> None:
    text = sentence({"cpu": always(np.array(["a"])), OFF: always(np.array(["b"]))})
    assert f"{OFF} differs from cpu in values that have no distance." in text
    assert "1 of 1 classes of y changed." in text


def test_structures_that_differ() -> None:
    text = sentence({"cpu": always(floats(1)), OFF: always(floats(1, 2))})
    assert f"{OFF} cannot be compared with cpu in y." in text


def test_classes_are_told() -> None:
    model = make_model("y", score_outputs=("y",))
    text = sentence({"cpu": always(floats(0, 1)), OFF: always(floats(0, 1.5))}, model=model)
    assert "No class of y changed (1 decision)." in text
    text = sentence({"cpu": always(floats(0, 1)), OFF: always(floats(1, 0))}, model=model)
    assert "1 of 1 classes of y changed." in text


def test_what_was_not_audited_is_named_and_nothing_more() -> None:
    text = sentence({"cpu": STEADY, "cuda:0": "no driver", "cuda:0[use_tf32=0]": "no driver"})
    assert text.endswith("Not audited: cuda:0, cuda:0[use_tf32=0].")
    assert text.count("cuda:0") == 2
    assert sentence({"cuda:0": "no driver"}) == "Not audited: cuda:0."


def test_a_reference_that_did_not_run_is_compared_with_nothing() -> None:
    text = sentence({"cuda:0": "no driver", "cpu": STEADY})
    assert "bits of" not in text
    assert "deviates" not in text
    assert text.endswith("Not audited: cuda:0.")


CALLS: list[Call | str] = [
    STEADY,
    always(floats(1, 2)),
    by_run(floats(1, 2), floats(1, 2.5)),
    by_run(floats(1), floats(2, 3), floats(4)),
    by_run(floats(np.nan), floats(1)),
    always(np.array(["a", "b"])),
    by_run(np.array([1]), np.array([2]), np.array([1])),
    always([]),
    lambda process, *_: {"y": floats(process), "z": floats(-0.0)},
    "no driver",
    "out of memory: it does not fit",
]


@given(
    calls=st.lists(st.sampled_from(CALLS), min_size=1, max_size=4),
    plan=st.builds(
        Plan,
        runs=st.integers(1, 3),
        sessions=st.integers(1, 3),
        processes=st.integers(1, 2),
        samples=st.integers(1, 2),
    ),
    requirement=st.sampled_from([None, "identical", "decimals=3", "no-class-flip"]),
)
def test_no_verdict_claims_what_was_not_seen(
    calls: list[Call | str], plan: Plan, requirement: str | None
) -> None:
    names = ["cpu", OFF, "cuda:0", "cpu[threads=3]"][: len(calls)]
    report = judge(make_record(dict(zip(names, calls, strict=True)), plan, requirement=requirement))
    text = report.verdict.sentence
    assert "deterministic" not in text
    assert "identical" not in text
    assert "None" not in text
    assert "nan" not in text.lower().replace("nans", "")
    assert text.endswith(".")
    missing = [name for name, call in zip(names, calls, strict=True) if isinstance(call, str)]
    audited = text.partition("Not audited:")[0]
    assert list(report.verdict.untested) == missing
    for name in missing:
        assert not re.search(rf"(^|[ ,]){re.escape(name)}($|[ .,])", audited)
        assert name in text
    if missing and requirement:
        assert report.verdict.met is False
    for row in report.repeatability:
        if row.identical is False:
            assert not re.search(rf"On {re.escape(row.target)} no difference", text)
    if requirement is None:
        assert report.verdict.met is None
        assert report.verdict.failures == ()


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99, 0.999])
def test_the_confidence_is_told(confidence: float) -> None:
    text = sentence({"cpu": STEADY}, confidence=confidence)
    assert f"with {confidence * 100:g} % confidence" in text


def drawn(process: int, session: int) -> str:
    return f"{process}{session}"


def torch_sentence(calls: dict[str, Call | str], plan: Plan | None = None, **told: Any) -> str:
    facts = {name: torch_facts(weights) for name, weights in told.items()}
    return judge(make_torch_record(calls, plan, facts=facts)).verdict.sentence


def test_other_weights_are_said_to_be_other_models() -> None:
    varying: Call = lambda process, session, *_: {"y": floats(process, session)}  # noqa: E731
    told = "On cpu 4 sessions had 4 different sets of weights and are not the same model."
    assert torch_sentence({"cpu": varying}, cpu=drawn) == (
        f"{told} Among calls with the same weights no difference was seen."
    )
    assert torch_sentence({"cpu": varying}, Plan(runs=1), cpu=drawn) == told
    assert torch_sentence({"cpu": by_run(floats(1), floats(2), floats(4))}, cpu=drawn) == (
        f"{told} Among calls with the same weights results differ from run to run (3 distinct"
        " results of 4), by up to 3.0e+00."
    )


def test_a_target_with_other_weights_is_said_to_be_another_model() -> None:
    isa = "cpu[env.ATEN_CPU_CAPABILITY=default]"
    text = torch_sentence({"cpu": STEADY, isa: STEADY}, **{isa: "bb"})
    assert text.endswith(f" {isa} is not the same model as cpu: its weights are others.")
    both = torch_sentence({"cpu": STEADY, isa: STEADY}, **{isa: drawn})
    assert both.endswith(" Among calls with the same weights no difference was seen.")


def test_nothing_is_compared_with_a_reference_whose_weights_vary() -> None:
    for name in ("cpu[env.ATEN_CPU_CAPABILITY=default]", "cpu[model=export.onnx]"):
        text = torch_sentence({"cpu": STEADY, name: STEADY}, cpu=drawn)
        assert text.endswith(f" {name} is not compared with cpu, whose weights vary.")
