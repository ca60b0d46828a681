from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.judge.judge import judge
from detaudit.report import Verdict
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
SCORES = make_model("y", score_outputs=("y",))
ONE = np.float64([0.25, 0.75])


def verdict(
    requirement: str, *calls: Call | str, plan: Plan | None = None, **options: Any
) -> Verdict:
    targets = dict(zip(("cpu", OFF, "cuda:0"), calls, strict=False))
    return judge(make_record(targets, plan, requirement=requirement, **options)).verdict


ALL = (
    *("identical", "decimals=3", "decimals=9", "max_abs=0", "ulp=0", "no-class-flip"),
    *("y:identical", "y:decimals=2,max_abs=1", "flip-rate=0.96"),
)


@pytest.mark.parametrize("requirement", ALL)
@pytest.mark.parametrize("targets", [1, 2])
def test_equal_results_meet_everything(requirement: str, targets: int) -> None:
    found = verdict(requirement, *[always(ONE)] * targets, model=SCORES)
    assert found.requirement == requirement
    assert (found.met, found.failures) == (True, ())


@pytest.mark.parametrize("requirement", ALL)
def test_not_audited_never_counts_as_met(requirement: str) -> None:
    found = verdict(requirement, always(ONE), "no driver", model=SCORES)
    assert found.met is False
    assert found.failures == (f"{OFF} was not audited (unavailable: no driver)",)
    assert found.untested == (OFF,)
    assert verdict(requirement, "no driver", model=SCORES).met is False


def test_without_a_requirement_nothing_is_met_or_missed() -> None:
    report = judge(make_record({"cpu": by_run(floats(1), floats(2))}))
    assert (report.verdict.met, report.verdict.failures) == (None, ())


@pytest.mark.parametrize(
    ("requirement", "met"),
    [
        ("identical", False),
        ("decimals=3", True),
        ("decimals=4", False),
        ("decimals=12", False),
        ("max_abs=1e-3", True),
        ("max_abs=0.00039", False),
        ("ulp=10000000000000", True),
        ("ulp=4", False),
        ("no-class-flip", True),
        ("decimals=3,no-class-flip,max_abs=1", True),
        ("decimals=3,identical", False),
    ],
)
def test_a_deviation(requirement: str, met: bool) -> None:
    other = ONE + np.float64([0, 0.0004])
    assert verdict(requirement, always(ONE), always(other), model=SCORES).met is met


@pytest.mark.parametrize(
    ("requirement", "failure"),
    [
        ("identical", f"{OFF}, y, against cpu: the bits differ"),
        ("max_abs=1e-4", f"{OFF}, y, against cpu: 0.0004 is more than 0.0001"),
        ("ulp=1", f"{OFF}, y, against cpu: 3.6e+12 ULP is more than 1 ULP"),
        ("decimals=4", f"{OFF}, y: 1 of 2 values print differently at 4 decimals"),
    ],
)
def test_what_is_missed_is_told(requirement: str, failure: str) -> None:
    other = ONE + np.float64([0, 0.0004])
    assert verdict(requirement, always(ONE), always(other)).failures == (failure,)


def test_the_runs_of_one_target_are_held_to_it_too() -> None:
    drift = by_run(ONE, ONE + 0.0004)
    assert verdict("identical", drift).failures == ("cpu, y, run scope: the bits differ",)
    assert verdict("max_abs=0.001", drift).met
    assert not verdict("max_abs=0.0001", drift).met
    assert not verdict("decimals=4", drift).met
    assert not verdict("decimals=9", drift).met


def test_each_output_can_have_its_own() -> None:
    def one(*_: int) -> dict[str, Any]:
        return {"y": ONE, "z": ONE}

    def other(*_: int) -> dict[str, Any]:
        return {"y": ONE, "z": ONE + 0.0004}

    assert verdict("y:identical", one, other).met
    assert not verdict("z:identical", one, other).met
    assert not verdict("identical", one, other).met
    assert verdict("y:identical,z:decimals=2", one, other).met
    assert verdict("q:identical", one, other).failures == ("no output 'q' was audited",)


def test_the_sign_of_zero_is_only_no_identity() -> None:
    zeros = always(floats(0.0)), always(floats(-0.0))
    assert not verdict("identical", *zeros).met
    for requirement in ("max_abs=0", "ulp=0", "decimals=7"):
        assert verdict(requirement, *zeros).met


@pytest.mark.parametrize("requirement", ["decimals=0", "max_abs=1000", "ulp=1000000000"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (floats(1, 2), floats(1, np.nan)),
        (floats(1, np.inf), floats(1, -np.inf)),
        (floats(np.nan), floats(2)),
        (floats(1), floats(1, 1)),
        (floats(1), np.array([1])),
        (np.array(["a"]), np.array(["b"])),
        (np.array([True]), np.array([False])),
        ([floats(1)], [floats(1), floats(1)]),
        ([{"a": 1.0}], [{"b": 1.0}]),
    ],
)
def test_values_without_a_distance_meet_no_distance(one: Any, other: Any, requirement: str) -> None:
    if requirement.startswith("max_abs") and isinstance(one, list) and len(one) != len(other):
        requirement = "max_abs=0.5"
    assert verdict(requirement, always(one), always(other)).met is False
    assert verdict(requirement, by_run(one, other)).met is False


def test_whole_numbers_that_differ_print_differently() -> None:
    one, other = np.array([1, 2]), np.array([1, 3])
    for calls in ((always(one), always(other)), (by_run(one, other),)):
        found = verdict("decimals=3", *calls)
        assert found.met is False
        assert len(found.failures) == 1
    assert verdict("max_abs=1", always(one), always(other)).met


def test_flips() -> None:
    one, other = floats(0, 1), floats(1, 0)
    found = verdict("no-class-flip", always(one), always(other), model=SCORES)
    assert found.failures == (f"{OFF}, y: 1 of 1 classes flip",)
    found = verdict("no-class-flip", by_run(one, other), model=SCORES)
    assert found.failures == ("cpu, y: 1 of 2 classes flip",)
    assert verdict("no-class-flip", by_run(one, one * 2), model=SCORES).met


def test_a_rate_needs_enough_inputs() -> None:
    steady = always(floats(0, 1))
    plan = Plan(runs=1, sessions=1, processes=1, samples=60)
    assert verdict("flip-rate=0.05", steady, steady, plan=plan, model=SCORES).met
    found = verdict("flip-rate=0.01", steady, steady, plan=plan, model=SCORES)
    assert found.met is False
    assert f"{OFF}, y: 0 of 60 classes flip, which supports a rate of at most 0.049" in "".join(
        found.failures
    )


@pytest.mark.parametrize("requirement", ["no-class-flip", "flip-rate=1"])
def test_classes_that_do_not_exist_meet_nothing(requirement: str) -> None:
    found = verdict(requirement, always(ONE), always(ONE))
    assert found.failures == ("no output holds class scores; name it with --classes",)
    assert verdict(requirement, always(ONE), always(ONE), classes=(("y", -1),)).met
    assert verdict(requirement, always(ONE), classes=(("y", -1),)).met


def test_every_class_output_of_every_target_counts() -> None:
    model = make_model("y", "z", score_outputs=("y", "z"))

    def one(*_: int) -> dict[str, Any]:
        return {"y": floats(0, 1), "z": floats(0, 1)}

    def other(*_: int) -> dict[str, Any]:
        return {"y": floats(0, 1), "z": floats(1, 0)}

    assert verdict("y:no-class-flip", one, other, model=model).met
    assert not verdict("no-class-flip", one, other, model=model).met
    shorter = lambda *_: {"y": floats(0, 1), "z": floats(1)}  # noqa: E731
    assert not verdict("no-class-flip", one, shorter, model=model).met


def test_the_decimals_asked_for_need_not_be_those_that_are_shown() -> None:
    other = ONE + 4e-10
    for decimals in ((0, 7), (0, 0), (5, 6)):
        assert verdict("decimals=8", always(ONE), always(other), decimals=decimals).met
        found = verdict("decimals=10", always(ONE), always(other), decimals=decimals)
        assert found.failures == (f"{OFF}, y: 2 of 2 values print differently at 10 decimals",)


TORCH_SCORES = make_model("y", path="net.py:make", format="torch", score_outputs=("y",))


@pytest.mark.parametrize("requirement", ALL)
def test_another_model_meets_nothing(requirement: str) -> None:
    """Not even where its results happen to be those of the reference."""
    isa = "cpu[env.ATEN_CPU_CAPABILITY=default]"
    record = make_torch_record(
        {"cpu": always(ONE), isa: always(ONE)},
        model=TORCH_SCORES,
        facts={isa: torch_facts("bb")},
        requirement=requirement,
    )
    found = judge(record).verdict
    assert found.met is False
    assert found.failures
    for failure in found.failures:
        assert failure.startswith(f"{isa}, y")
        assert failure.endswith(": its weights are others: not the same model")


@pytest.mark.parametrize("requirement", ALL)
def test_sessions_of_other_weights_meet_nothing(requirement: str) -> None:
    record = make_torch_record(
        {"cpu": always(ONE)},
        model=TORCH_SCORES,
        facts={"cpu": torch_facts(lambda process, session: f"{process}{session}")},
        requirement=requirement,
    )
    found = judge(record).verdict
    assert found.met is False
    assert found.failures
    for failure in found.failures:
        assert failure.startswith("cpu, y")
        assert failure.endswith(": the weights differ: not the same model")


def statuses(found: Verdict) -> list[tuple[str, str, str | None, str]]:
    return [(c.requirement, c.target, c.output, c.status) for c in found.checks]


def test_every_condition_is_checked_on_every_target_and_output() -> None:
    def one(*_: int) -> dict[str, Any]:
        return {"y": ONE, "z": ONE}

    def other(*_: int) -> dict[str, Any]:
        return {"y": ONE, "z": ONE + 0.0004}

    found = verdict("y:identical,decimals=4", one, other, "no driver")
    assert statuses(found) == [
        ("y:identical", "cpu", "y", "met"),
        ("y:identical", OFF, "y", "met"),
        ("y:identical", "cuda:0", None, "untested"),
        ("decimals=4", "cpu", "y", "met"),
        ("decimals=4", "cpu", "z", "met"),
        ("decimals=4", OFF, "y", "met"),
        ("decimals=4", OFF, "z", "missed"),
        ("decimals=4", "cuda:0", None, "untested"),
    ]
    assert found.failures == (
        "cuda:0 was not audited (unavailable: no driver)",
        f"{OFF}, z: 2 of 2 values print differently at 4 decimals",
    )


@pytest.mark.parametrize("requirement", ALL)
def test_one_run_of_one_target_tests_nothing(requirement: str) -> None:
    plan = Plan(runs=1, sessions=1, processes=1)
    found = verdict(requirement, always(ONE), plan=plan, model=SCORES)
    assert found.met is False
    assert {check.status for check in found.checks} == {"untested"}


def test_an_output_that_one_target_lacks() -> None:
    def both(*_: int) -> dict[str, Any]:
        return {"y": ONE, "z": ONE}

    found = verdict("z:max_abs=1", both, always(ONE))
    assert statuses(found) == [
        ("z:max_abs=1", "cpu", "z", "met"),
        ("z:max_abs=1", OFF, "z", "missed"),
    ]
    found = verdict("q:max_abs=1", both, always(ONE))
    assert statuses(found) == [
        ("q:max_abs=1", "cpu", "q", "untested"),
        ("q:max_abs=1", OFF, "q", "untested"),
    ]


def test_outputs_without_numbers_are_told_of_the_target_that_has_them() -> None:
    found = verdict("decimals=2", always(floats(np.nan)), always(floats(1)))
    assert [check.failures[0] for check in found.checks] == [
        "y: no value has decimals, all are NaN or infinite",
        f"{OFF}, y: 1 of 1 values print differently at 2 decimals",
    ]


def test_only_outputs_that_hold_classes_are_held_to_flips() -> None:
    def one(*_: int) -> dict[str, Any]:
        return {"y": floats(0, 1), "z": floats(0, 1)}

    found = verdict("no-class-flip", one, one, model=make_model("y", "z", score_outputs=("y",)))
    assert statuses(found) == [
        ("no-class-flip", "cpu", "y", "met"),
        ("no-class-flip", OFF, "y", "met"),
    ]
    found = verdict("z:no-class-flip", one, model=make_model("y", "z", score_outputs=("y",)))
    assert statuses(found) == [("z:no-class-flip", "cpu", "z", "untested")]


def test_where_the_requirement_is_from() -> None:
    assert verdict("identical", always(ONE), origin="pyproject.toml").origin == "pyproject.toml"
    assert verdict("identical", always(ONE)).origin is None
