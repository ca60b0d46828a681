from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detaudit.comparison import Level
from detaudit.judge.agreement import judge_agreement
from detaudit.judge.grid import audited_grids
from detaudit.spec import JudgeSpec
from tests.records import Call, Facts, Plan, always, by_run, floats, make_model, make_record

Groups = list[list[str]]
A, B, C = "cpu", "cpu[opt=off]", "cpu[threads=4]"


def classify(
    targets: dict[str, Call | str], decimals: tuple[int, int] = (1, 3), **options: Any
) -> dict[int | None, tuple[Groups, list[str]]]:
    record = make_record(targets, options.pop("plan", Plan(runs=3)), **options)
    levels = judge_agreement(audited_grids(record), JudgeSpec(decimals=decimals), record.arrays)
    return {level.decimals: ([*map(list, level.classes)], list(level.varying)) for level in levels}


def test_bits_and_decimals_have_classes_of_their_own() -> None:
    found = classify({A: always(floats(0.5)), B: always(floats(0.5004)), C: always(floats(0.5))})
    assert found == {
        None: ([[A, C], [B]], []),
        1: ([[A, B, C]], []),
        2: ([[A, B, C]], []),
        3: ([[A, B, C]], []),
    }
    assert classify({A: always(floats(0.5)), B: always(floats(0.5006))})[3] == ([[A], [B]], [])


def test_a_chain_of_neighbours_is_no_class() -> None:
    # Each lies within half a unit of the next, and yet two of them print differently.
    found = classify({A: always(floats(1.2)), B: always(floats(1.24)), C: always(floats(1.28))})
    assert found[1] == ([[A, B], [C]], [])


def test_classes_at_more_decimals_are_no_parts_of_those_at_fewer() -> None:
    found = classify({A: always(floats(0.1496)), B: always(floats(0.1504))})
    assert found[3] == ([[A, B]], [])
    assert found[2] == ([[A, B]], [])
    assert found[1] == ([[A], [B]], [])


def test_two_that_differ_from_the_first_may_agree_with_each_other() -> None:
    found = classify({A: always(floats(0.1)), B: always(floats(0.2)), C: always(floats(0.201))})
    assert found[None] == ([[A], [B], [C]], [])
    assert found[2] == ([[A], [B, C]], [])
    assert found[3] == ([[A], [B], [C]], [])


def test_who_varies_is_in_no_class_as_far_as_it_varies() -> None:
    found = classify({A: always(floats(0.5)), B: by_run(floats(0.5), floats(0.5006))})
    assert found[None] == ([[A]], [B])
    assert found[2] == ([[A, B]], [])
    assert found[3] == ([[A]], [B])


def test_every_output_and_sample_counts() -> None:
    def call(value: float) -> Call:
        return lambda _p, _s, sample, _r: {"x": floats(1), "y": floats(value if sample else 0)}

    found = classify({A: call(0.5), B: call(0.6), C: call(0.5)}, plan=Plan(samples=2))
    assert found[None] == ([[A, C], [B]], [])
    assert found[1] == ([[A, C], [B]], [])


def test_what_never_prints_differently() -> None:
    zero, minus = always(floats(0.0, np.nan, np.inf)), always(floats(-0.0, np.nan, np.inf))
    found = classify({A: zero, B: minus})
    assert found[None] == ([[A], [B]], [])
    assert found[3] == ([[A, B]], [])


@pytest.mark.parametrize(
    "other",
    [
        always(floats(0.5, 0.5)),
        always(floats(np.nan)),
        always(np.array([0], np.int64)),
        always(floats(0.5), "z"),
        lambda *_: {"y": floats(0.5), "z": floats(0.5)},
        always({"cat": 0.5}),
    ],
)
def test_what_has_no_figures_in_common_never_agrees(other: Call) -> None:
    found = classify({A: always(floats(0.5)), B: other})
    assert all(level == ([[A], [B]], []) for level in found.values())


def test_numbers_that_are_no_floats_have_to_be_equal() -> None:
    one, two = always(np.array([1, 2])), always(np.array([1, 3]))
    found = classify({A: one, B: two, C: by_run(np.array([1, 2]), np.array([1, 3]))})
    assert all(level == ([[A], [B]], [C]) for level in found.values())


def test_maps_with_other_keys_never_agree() -> None:
    found = classify({A: always({"cat": 0.5}), B: always({"dog": 0.5})})
    assert found[1] == ([[A], [B]], [])


@pytest.mark.parametrize("late", [floats(0.5, 0.5), None])
def test_a_structure_that_varies_agrees_with_nothing(late: Any) -> None:
    def varying(_p: int, _s: int, _n: int, run: int) -> dict[str, Any]:
        if run == 0:
            return {"x": floats(1), "y": floats(0.5)}
        return {"x": floats(1)} if late is None else {"x": floats(1), "y": late}

    found = classify({A: lambda *_: {"x": floats(1), "y": floats(0.5)}, B: varying})
    assert all(level == ([[A]], [B]) for level in found.values())


def test_another_form_of_the_model_tells_lengths_in_its_own_way() -> None:
    onnx = "cpu[model=b.onnx]"
    calls = {A: always([floats(0.5)]), onnx: lambda *_: {"y[0]": floats(0.5)}}
    facts = {onnx: Facts(model=make_model("y[0]", path="b.onnx"))}
    assert classify(calls, facts=facts)[None] == ([[A, onnx]], [])


def test_who_did_not_run_is_in_no_class() -> None:
    found = classify({A: always(floats(0.5)), "cuda:0": "no driver"})
    assert found[None] == ([[A]], [])


def test_the_place_of_a_target() -> None:
    level = Level(None, (("a",), ("b", "c")), ("d",))
    assert [level.place(target) for target in "abcde"] == [0, 1, 1, None, None]
