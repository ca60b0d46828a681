from __future__ import annotations

from typing import Any

import pytest

from detaudit.judge.judge import judge
from detaudit.record import Record
from detaudit.report import Finding
from tests.records import (
    Facts,
    Plan,
    always,
    by_run,
    floats,
    make_model,
    make_torch_record,
    torch_facts,
)

OTHER_ISA = "cpu[env.ATEN_CPU_CAPABILITY=default]"
SAVE = "save the weights once and give them (net.py:make:weights.pth)."
TOLD = "Its weights are not those of cpu, and its results are not compared with them. "
DRAWS = "From the same seed torch draws other numbers"
STEADY = always(floats(1))


def drawn(process: int, session: int) -> str:
    return f"{process}{session}"


def found(record: Record) -> list[Finding]:
    return [f for f in judge(record).findings if f.kind == "not-the-same-model"]


def test_sessions_that_nothing_seeded() -> None:
    record = make_torch_record(
        {"cpu": lambda process, session, *_: {"y": floats(process, session)}},
        facts={"cpu": torch_facts(drawn)},
        asked={"seeded": False},
    )
    message = (
        "4 different sets of weights in 4 sessions of 2 processes. These are different models, and"
        " how far their results lie apart is no drift. The factory draws its weights and nothing"
        f" seeded it: leave out --no-seed, or {SAVE}"
    )
    expected = Finding("error", "not-the-same-model", "cpu", None, message)
    # Neither of the drift that the results show, nor of a reference that varies.
    assert judge(record).findings == (expected,)


def test_sessions_that_differ_although_they_were_seeded() -> None:
    plan = Plan(runs=1, sessions=2, processes=1)
    record = make_torch_record({"cpu": STEADY}, plan, facts={"cpu": torch_facts(drawn)})
    (finding,) = found(record)
    assert finding.message == (
        "2 different sets of weights in 2 sessions of 1 process. These are different models, and"
        " how far their results lie apart is no drift. The factory reads something that changes, or"
        f" draws from a generator that no seed reaches: {SAVE}"
    )


@pytest.mark.parametrize(
    ("target", "facts", "asked", "cause"),
    [
        (
            OTHER_ISA,
            {},
            {},
            f"{DRAWS} under another ATEN_CPU_CAPABILITY: {SAVE}",
        ),
        (
            "cuda:0",
            {},
            {},
            f"{DRAWS} on another device: {SAVE}",
        ),
        (
            "cpu[python=old/bin/python]",
            {"versions": {"torch": "2.6.0"}},
            {},
            f"{DRAWS} in another version (2.6.0 against 2.13.0): {SAVE}",
        ),
        (
            "cpu[python=old/bin/python]",
            {},
            {},
            f"{DRAWS} under another Python: {SAVE}",
        ),
        (
            "cpu[threads=1]",
            {},
            {},
            f"The factory reads something that is not the same for both: {SAVE}",
        ),
        (
            OTHER_ISA,
            {},
            {"seeded": False},
            f"Nothing seeded what draws them: leave out --no-seed, or {SAVE}",
        ),
    ],
)
def test_a_target_with_other_weights(
    target: str, facts: dict[str, Any], asked: dict[str, Any], cause: str
) -> None:
    record = make_torch_record(
        {"cpu": STEADY, target: STEADY},
        facts={target: torch_facts("bb", **facts)},
        asked=asked,
    )
    message = TOLD + cause
    assert found(record) == [Finding("error", "not-the-same-model", target, None, message)]
    assert "structure-differs" not in [f.kind for f in judge(record).findings]


def test_a_checkpoint_that_lacks_some_weights() -> None:
    recipe = {"model": {"kind": "factory", "checkpoint": "w.pth"}}
    model = make_model("y", path="net.py:make:w.pth", format="torch", recipe=recipe)
    facts = {OTHER_ISA: torch_facts("bb")}
    record = make_torch_record({"cpu": STEADY, OTHER_ISA: STEADY}, model=model, facts=facts)
    (finding,) = found(record)
    assert finding.message.endswith("ATEN_CPU_CAPABILITY: let the checkpoint hold all of them.")


def test_a_file_that_does_not_decide_its_weights() -> None:
    model = make_model("y", path="net.pt", format="torch pickle")
    facts = {OTHER_ISA: torch_facts("bb")}
    record = make_torch_record({"cpu": STEADY, OTHER_ISA: STEADY}, model=model, facts=facts)
    (finding,) = found(record)
    assert finding.message.endswith("ATEN_CPU_CAPABILITY: the file does not hold all of them.")


def test_a_reference_that_varies_is_the_cause_for_those_that_do_not() -> None:
    record = make_torch_record(
        {"cpu": STEADY, OTHER_ISA: STEADY}, facts={"cpu": torch_facts(drawn)}
    )
    messages = {finding.target: finding.message for finding in found(record)}
    assert messages["cpu"].startswith("4 different sets of weights")
    assert messages[OTHER_ISA] == (
        "Not compared with cpu, whose weights differ from session to session."
    )


def test_a_reference_of_many_weights_is_not_said_to_be_measured_against() -> None:
    record = make_torch_record(
        {"cpu": by_run(floats(1), floats(2), floats(3)), OTHER_ISA: STEADY},
        facts={"cpu": torch_facts(drawn)},
    )
    kinds = [finding.kind for finding in judge(record).findings]
    assert kinds == ["not-the-same-model", "not-the-same-model", "run-drift"]


def test_the_reference_is_the_one_that_judging_names() -> None:
    record = make_torch_record(
        {"cpu": STEADY, OTHER_ISA: STEADY},
        facts={OTHER_ISA: torch_facts("bb")},
        reference=OTHER_ISA,
    )
    assert [finding.target for finding in found(record)] == ["cpu"]


def test_equal_and_unknown_weights_tell_nothing() -> None:
    calls = {"cpu": STEADY, OTHER_ISA: STEADY}
    assert found(make_torch_record(calls)) == []
    assert found(make_torch_record(calls, facts={OTHER_ISA: Facts()})) == []
    missing = make_torch_record({"cpu": STEADY, "cuda:0": "no driver"})
    assert found(missing) == []


def test_drift_beside_other_weights_keeps_its_own_finding() -> None:
    record = make_torch_record(
        {"cpu": by_run(floats(1), floats(2), floats(3)), OTHER_ISA: STEADY},
        facts={OTHER_ISA: torch_facts("bb")},
    )
    kinds = [finding.kind for finding in judge(record).findings]
    assert kinds == ["not-the-same-model", "run-drift", "reference-varies"]
