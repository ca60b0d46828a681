from __future__ import annotations

import numpy as np
import pytest

from detaudit.judge.judge import judge
from detaudit.judge.types import find_float_grid
from detaudit.models.model import TensorInfo
from detaudit.record import OutputFacts
from detaudit.report import Finding
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

NARROW = "cpu[dtype=bfloat16]"
BRAIN = torch_facts(declared={"y": "bfloat16"})
NEIGHBOUR = 1 + 2**-7


def facts(dtype: str, declared: str = "") -> OutputFacts:
    return OutputFacts("y", dtype, (1,), declared=declared)


@pytest.mark.parametrize(
    ("mine", "theirs", "grid"),
    [
        (facts("float32"), facts("float32"), "float32"),
        (facts("float32", "bfloat16"), facts("float32", "bfloat16"), "bfloat16"),
        (facts("float32", "bfloat16"), facts("float32"), "bfloat16"),
        (facts("float32"), facts("float32", "bfloat16"), "bfloat16"),
        (facts("float16"), facts("float32"), "float16"),
        (facts("float16"), facts("float32", "bfloat16"), "bfloat16"),
        (facts("float64"), facts("float32"), "float32"),
        (facts("float32", "float8_e4m3fn"), facts("float32"), None),
        (facts("int64"), facts("int64"), None),
        (facts("float32"), facts("int64"), None),
        (facts("string"), facts("string"), None),
    ],
)
def test_the_coarser_type_counts(mine: OutputFacts, theirs: OutputFacts, grid: str | None) -> None:
    assert find_float_grid(mine, theirs) == grid


def ulps(call: Call, other: Call, told: dict[str, Facts]) -> int | None:
    record = make_torch_record({"cpu": call, NARROW: other}, facts=told)
    (row,) = judge(record).deviation
    return row.max_ulp


def test_steps_of_bfloat16_are_counted_where_one_side_has_them() -> None:
    one, next_ = always(floats(1)), always(floats(NEIGHBOUR))
    assert ulps(one, next_, {}) == 2**16
    assert ulps(one, next_, {"cpu": BRAIN, NARROW: BRAIN}) == 1
    assert ulps(one, next_, {NARROW: BRAIN}) == 1
    assert ulps(one, next_, {"cpu": BRAIN}) == 1


def test_steps_of_float16_are_counted_where_one_side_has_them() -> None:
    half = always(np.array([1 + 2**-10], np.float16))
    assert ulps(always(floats(1)), half, {}) == 1


def test_a_size_that_is_usual_for_the_coarser_type_is_not_unusual() -> None:
    record = make_torch_record(
        {"cpu": always(floats(1)), NARROW: always(floats(NEIGHBOUR))}, facts={NARROW: BRAIN}
    )
    (row,) = judge(record).deviation
    assert row.explanation is None
    decimals = [row.resolution for row in judge(record).decimals if row.target == NARROW]
    assert decimals == [2, 2]


def test_repeats_are_counted_in_steps_of_bfloat16_too() -> None:
    call = by_run(floats(1), floats(NEIGHBOUR), floats(-1))
    plan = Plan(sessions=1, processes=1)
    told = {"cpu": BRAIN}
    rows = judge(make_torch_record({"cpu": call}, plan, facts=told)).repeatability
    # From -1 to 1 are 2 * 127 * 128 steps, since 1 is the first of the exponent 127.
    assert rows[0].max_ulp == 2 * 127 * 128 + 1
    rows = judge(make_torch_record({"cpu": call}, plan)).repeatability
    assert rows[0].max_ulp == (2 * 127 * 128 + 1) << 16


def test_repeats_of_onnx_models_are_too() -> None:
    model = make_model("y", widened=("y",))
    object.__setattr__(model, "outputs", (TensorInfo("y", "bfloat16", None),))
    record = make_record({"cpu": by_run(floats(1), floats(NEIGHBOUR))}, model=model)
    assert judge(record).repeatability[0].max_ulp == 1


def test_widened_outputs_are_told_per_target() -> None:
    record = make_torch_record(
        {"cpu": always(floats(1)), NARROW: always(floats(1))}, facts={NARROW: BRAIN}
    )
    differs = "type bfloat16 against float32: compared by value, ULPs in the coarser type."
    message = "y (bfloat16): compared as float32, since NumPy has no such type."
    assert judge(record).findings == (
        Finding("info", "type-differs", NARROW, "y", differs),
        Finding("info", "widened", NARROW, None, message),
    )
    both = make_torch_record(
        {"cpu": always(floats(1)), NARROW: always(floats(1))},
        facts={"cpu": BRAIN, NARROW: BRAIN},
    )
    assert [(f.kind, f.target) for f in judge(both).findings] == [
        ("widened", "cpu"),
        ("widened", NARROW),
    ]


def test_another_model_declares_its_own_types() -> None:
    export = make_model("z", path="export.onnx", widened=("z",))
    object.__setattr__(export, "outputs", (TensorInfo("z", "bfloat16", None),))
    name = "cpu[model=export.onnx]"
    record = make_torch_record(
        {"cpu": always(floats(1)), name: always(floats(NEIGHBOUR), "z")},
        facts={name: Facts(model=export)},
    )
    report = judge(record)
    assert report.deviation[0].max_ulp == 1
    assert ("widened", name) in [(f.kind, f.target) for f in report.findings]
