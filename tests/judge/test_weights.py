from __future__ import annotations

from collections.abc import Callable

import pytest

from detaudit.judge.judge import judge
from detaudit.judge.weights import OTHER, VARYING, count_sets, read_weights, tell_apart, vary
from detaudit.report import Report
from tests.records import (
    Call,
    Facts,
    Plan,
    always,
    by_run,
    floats,
    make_model,
    make_record,
    make_torch_record,
    torch_facts,
)

OTHER_ISA = "cpu[env.ATEN_CPU_CAPABILITY=default]"
EXPORT = "cpu[model=export.onnx]"
Weights = Callable[[int, int], str]

PER_SESSION: Weights = lambda process, session: f"{process}{session}"  # noqa: E731
PER_PROCESS: Weights = lambda process, session: f"{process}"  # noqa: E731
WITHIN: Weights = lambda process, session: f"{session}"  # noqa: E731


def follow(weights: Weights) -> Call:
    """A model whose output is its weights."""
    return lambda process, session, *_: {"y": floats(int(weights(process, session)), 1)}


def report(
    weights: Weights, call: Call | None = None, plan: Plan | None = None, **options: object
) -> Report:
    facts = {"cpu": torch_facts(weights)}
    calls = {"cpu": call or follow(weights)}
    return judge(make_torch_record(calls, plan, facts=facts, **options))


@pytest.mark.parametrize(
    ("weights", "apart"),
    [
        ((), ()),
        ((("a", "a"), ("a", "a")), ()),
        ((("a", "b"), ("a", "b")), ("session",)),
        ((("a", "a"), ("b", "b")), ("process",)),
        ((("a", "b"), ("c", "d")), ("session", "process")),
    ],
)
def test_a_scope_is_told_apart_by_what_it_compares(
    weights: tuple[tuple[str, ...], ...], apart: tuple[str, ...]
) -> None:
    assert tuple(s for s in ("run", "session", "process") if vary(weights, s)) == apart
    assert count_sets(weights) == len({digest for process in weights for digest in process})


def test_weights_are_read_per_process_and_session() -> None:
    record = make_torch_record({"cpu": always(floats(1))}, facts={"cpu": torch_facts(PER_SESSION)})
    assert read_weights(record.targets[0]) == (("00", "01"), ("10", "11"))
    assert judge(record).targets[0].weights == (("00", "01"), ("10", "11"))
    assert read_weights(make_record({"cpu": always(floats(1))}).targets[0]) == ()


@pytest.mark.parametrize(
    ("weights", "apart"),
    [
        (PER_SESSION, {"session", "process"}),
        (PER_PROCESS, {"process"}),
        (WITHIN, {"session"}),
    ],
)
def test_other_weights_have_no_figures(weights: Weights, apart: set[str]) -> None:
    for row in report(weights).repeatability:
        if row.scope in apart:
            assert row.structural == "the weights differ: not the same model"
            assert row.comparisons == 0
            assert (row.identical, row.same_values) == (None, None)
            assert (row.max_abs, row.mean_abs, row.max_ulp) == (None, None, None)
            assert (row.changed_share, row.instability_upper_bound) == (None, None)
        else:
            assert (row.structural, row.identical) == (None, True)


def test_other_weights_are_no_drift_of_printed_values_or_classes() -> None:
    model = make_model("y", path="net.py:make", format="torch", score_outputs=("y",))
    judged = report(PER_SESSION, model=model)
    assert judged.rounding == judged.decimals == judged.classes == ()
    assert len(judged.values) == 2 * 16


def test_equal_results_of_other_weights_are_not_compared_either() -> None:
    rows = {row.scope: row for row in report(PER_SESSION, always(floats(1))).repeatability}
    assert rows["session"].identical is None
    assert rows["run"].identical is True


def test_drift_inside_a_session_stays_drift() -> None:
    judged = report(PER_SESSION, by_run(floats(1), floats(2), floats(4)))
    kinds = [finding.kind for finding in judged.findings]
    assert kinds == ["not-the-same-model", "run-drift"]
    assert {row.scope: row.max_abs for row in judged.repeatability} == {
        "run": 3.0,
        "session": None,
        "process": None,
    }


@pytest.mark.parametrize(
    ("mine", "theirs", "apart"),
    [
        (torch_facts("aa"), torch_facts("aa"), None),
        (torch_facts("bb"), torch_facts("aa"), OTHER),
        (torch_facts(PER_SESSION), torch_facts("aa"), OTHER),
        (torch_facts("aa"), torch_facts(PER_SESSION), OTHER),
        (torch_facts(PER_SESSION), torch_facts(PER_SESSION), VARYING),
        (Facts(), torch_facts("aa"), None),
        (torch_facts("aa"), Facts(), None),
        (Facts(), torch_facts(PER_SESSION), VARYING),
    ],
)
def test_targets_are_told_apart(mine: Facts, theirs: Facts, apart: str | None) -> None:
    calls = {"cpu": always(floats(1)), OTHER_ISA: always(floats(1))}
    record = make_torch_record(calls, facts={"cpu": theirs, OTHER_ISA: mine})
    assert tell_apart(record.targets[1], record.targets[0]) == apart
    (row,) = judge(record).deviation
    assert row.structural == apart
    assert row.identical is (apart is None)


def test_a_target_with_other_weights_has_one_row_per_output_and_no_figures() -> None:
    calls: dict[str, Call | str] = {
        name: lambda *_: {"y": floats(0, 1), "z": floats(1)} for name in ("cpu", OTHER_ISA)
    }
    model = make_model("y", "z", path="net.py:make", format="torch", score_outputs=("y",))
    judged = judge(make_torch_record(calls, model=model, facts={OTHER_ISA: torch_facts("bb")}))
    rows = [(row.target, row.output, row.label, row.max_abs) for row in judged.deviation]
    assert rows == [(OTHER_ISA, "y", None, None), (OTHER_ISA, "z", None, None)]
    against = [*judged.rounding, *judged.decimals, *judged.classes]
    assert [row for row in against if row.reference != row.target] == []
    # Its own runs are those of one model.
    assert OTHER_ISA in {row.target for row in judged.decimals}


def test_a_model_of_its_own_has_other_weights_by_design() -> None:
    record = make_torch_record(
        {"cpu": always(floats(1)), "cpu[model=b.py:make]": always(floats(1.5))},
        facts={"cpu[model=b.py:make]": torch_facts("bb")},
    )
    (row,) = judge(record).deviation
    assert (row.structural, row.max_abs) == (None, 0.5)
    both = make_torch_record(
        {
            "cpu[model=b.py:make]": always(floats(1)),
            "cpu[model=b.py:make,threads=1]": always(floats(1.5)),
            "cpu": always(floats(1)),
        },
        facts={"cpu[model=b.py:make]": torch_facts("bb")},
    )
    assert judge(both).deviation[0].structural == OTHER
