from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from detaudit.comparison import Comparison
from detaudit.errors import UsageError
from detaudit.judge.comparing import compare_records
from detaudit.record import InputFacts, Record
from detaudit.report import Finding
from tests.judge.named import name, on
from tests.records import (
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

ONE, OTHER = always(floats(0.25, 0.5)), always(floats(0.25, 0.5004))
NEW = make_record({"cpu": ONE})
OLD = make_record({"cpu": OTHER}, facts={"cpu": Facts(versions={"onnxruntime": "1.0"})})


def compare(
    records: Mapping[str, Record], require: str | None = None, **options: Any
) -> Comparison:
    judging = {} if require is None else {"requirement": require}
    return compare_records([name(r, n) for n, r in records.items()], judging, **options)


def found(comparison: Comparison, kind: str) -> list[Finding]:
    return [finding for finding in comparison.report.findings if finding.kind == kind]


def refusal(*records: Record, **options: Any) -> str:
    with pytest.raises(UsageError) as caught:
        compare({f"r{number}": record for number, record in enumerate(records)}, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_every_target_against_one_reference() -> None:
    comparison = compare({"new": NEW, "old": OLD, "again": NEW})
    (old, again) = (row for row in comparison.report.deviation if row.label is None)
    assert (old.target, old.reference, old.identical) == ("old:cpu", "new:cpu", False)
    assert old.max_abs == float(np.float32(0.5004)) - 0.5
    assert (again.target, again.identical) == ("again:cpu", True)
    bits = comparison.agreement[0]
    assert bits.classes == (("new:cpu", "again:cpu"), ("old:cpu",))
    assert [level.decimals for level in comparison.agreement] == [None, *range(8)]
    sentence = comparison.report.verdict.sentence
    assert sentence.startswith("Same bits: new:cpu, again:cpu. Bits of their own: old:cpu. On ")
    assert [row.name for row in comparison.records] == ["new", "old", "again"]
    assert [(row.name, row.values) for row in comparison.environments] == [
        ("onnxruntime", ("1.2.3", "1.0", "1.2.3"))
    ]


def test_nothing_is_said_of_targets_that_did_not_run() -> None:
    lost = make_record({"cuda:0": "no driver"})
    sentence = compare({"new": NEW, "lost": lost, "again": NEW}).report.verdict.sentence
    assert sentence.startswith("Same bits on all 2 targets that ran (new:cpu, again:cpu).")
    assert sentence.endswith("Not audited: lost:cuda:0.")
    sentence = compare({"new": NEW, "lost": lost}).report.verdict.sentence
    assert sentence.startswith("Only one target ran to its end, so that nothing is compared.")
    sentence = compare({"lost": lost, "again": lost}).report.verdict.sentence
    assert sentence.startswith("No target ran to its end.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "new:cpu"),
        ("old", "old:cpu"),
        ("old:cpu", "old:cpu"),
        ("new:cpu[opt=off,threads=4]", "new:cpu[opt=off,threads=4]"),
        ("new:cpu[threads=4,opt=off]", "new:cpu[opt=off,threads=4]"),
    ],
)
def test_the_reference(text: str | None, expected: str) -> None:
    new = make_record({"cpu": ONE, "cpu[opt=off,threads=4]": ONE})
    comparison = compare({"new": new, "old": OLD}, reference=text)
    assert [row.name for row in comparison.report.targets if row.is_reference] == [expected]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x:cpu", "--reference x:cpu does not begin with the name of a record: new, old"),
        ("old:cuda:0", "--reference old:cuda:0: old has no such target; it has: cpu"),
        ("old:gpu", "unknown device 'gpu'"),
        ("cpu", "--reference cpu does not begin with the name of a record: new, old"),
    ],
)
def test_references_that_are_none(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"^{words.replace('[', '.')}"):
        compare({"new": NEW, "old": OLD}, reference=text)


def test_what_differs_is_named_and_refused() -> None:
    model = replace(NEW, model=make_model("y", sha256="cd" * 32))
    inputs = replace(NEW, inputs_sha256="12" * 32)
    plan = make_record({"cpu": ONE}, Plan(runs=2))
    assert refusal(NEW, model) == (
        "the records differ in model (abababababab… in r0, cdcdcdcdcdcd… in r1);"
        " to compare them nonetheless: --allow-other model"
    )
    both = replace(plan, inputs_sha256="12" * 32)
    assert refusal(NEW, NEW, both) == (
        "the records differ in inputs (efefefefefef… in r0 and r1, 121212121212… in r2);"
        " plan (4 x 2 x 2 in r0 and r1, 2 x 2 x 2 in r2);"
        " to compare them nonetheless: --allow-other inputs,plan"
    )
    assert refusal(NEW, both, allowed=["plan"]).endswith("--allow-other inputs")
    for record, kind in ((model, "model"), (inputs, "inputs"), (plan, "plan")):
        comparison = compare({"a": NEW, "b": record}, allowed=[kind])
        assert [row.name for row in comparison.differing] == [kind]
        (finding,) = found(comparison, f"other-{kind}")
        assert finding.level == ("info" if kind == "plan" else "warning")


@pytest.mark.parametrize(
    ("asked", "option"),
    [
        ({"outputs": ("y",)}, "--output (all in r0, y in r1)"),
        ({"seeded": False}, "--no-seed (not given in r0, given in r1)"),
        ({"seed_runtime": True}, "--seed-runtime (not given in r0, given in r1)"),
        ({"evaluate": True}, "--eval (not given in r0, given in r1)"),
    ],
)
def test_what_may_never_differ(asked: dict[str, Any], option: str) -> None:
    steady = {"cpu": ONE}
    one, two = make_torch_record(steady), make_torch_record(steady, asked=asked)
    text = refusal(one, two, allowed=["model", "inputs", "plan"])
    assert text == f"the records differ in {option}; they were not asked the same"


def test_models_that_targets_bring_have_to_be_the_same() -> None:
    other = "cpu[model=b.onnx]"

    def made(sha256: str) -> Record:
        facts = {other: Facts(model=make_model("y", path="b.onnx", sha256=sha256))}
        return make_record({"cpu": ONE, other: ONE}, facts=facts)

    assert "model of cpu[model=b.onnx] (1 in r0, 2 in r1)" in refusal(made("1"), made("2"))
    # What only one record has is compared with the reference of the same audited model.
    assert compare({"a": made("1"), "b": NEW}).differing == ()


def test_other_plans_keep_their_own_numbers() -> None:
    few, many = make_record({"cpu": ONE}, Plan(2, 1, 1)), make_record({"cpu": ONE}, Plan(5, 3, 2))
    comparison = compare({"few": few, "many": many}, allowed=["plan"])
    assert [(row.runs, row.plan) for row in comparison.report.targets] == [
        (2, (2, 1, 1)),
        (30, (5, 3, 2)),
    ]
    assert comparison.agreement[0].classes == (("few:cpu", "many:cpu"),)


def test_other_inputs_may_be_other_numbers_of_samples() -> None:
    one, three = (make_record({"cpu": ONE}, Plan(samples=n)) for n in (1, 3))
    three = replace(three, inputs_sha256="12" * 32)
    comparison = compare({"one": one, "three": three}, allowed=["inputs"])
    assert [row.runs for row in comparison.report.targets] == [16, 48]
    assert comparison.agreement[0].classes == (("one:cpu",), ("three:cpu",))
    assert found(comparison, "other-bits-unexplained") == []


def test_what_differs_beside_the_bits_is_told_and_no_cause_made_up() -> None:
    (finding,) = found(compare({"new": NEW, "old": OLD}), "other-bits-elsewhere")
    assert finding == Finding(
        "info",
        "other-bits-elsewhere",
        "old:cpu",
        None,
        "The bits are not those of new:cpu. What differs on record: onnxruntime 1.0 against 1.2.3.",
    )
    cpu = {"name": "Abacus 9001", "cores": 2, "flags": []}
    (finding,) = found(compare({"new": NEW, "old": on(OLD, cpu=cpu)}), "other-bits-elsewhere")
    assert finding.message == (
        "The bits are not those of new:cpu. What differs on record: instruction sets not shared:"
        " – against avx2; processor Abacus 9001 against Abacus 9000; onnxruntime 1.0 against"
        " 1.2.3. The record cannot tell which of these matters."
    )
    same = on(NEW, cpu=cpu)
    (finding,) = found(compare({"new": NEW, "old": same}), "same-bits-elsewhere")
    assert finding.message.startswith("The bits are those of new:cpu, although these differ: ")


def test_bits_that_differ_without_any_fact_that_does() -> None:
    comparison = compare({"a": NEW, "b": make_record({"cpu": OTHER})})
    (finding,) = found(comparison, "other-bits-unexplained")
    assert (finding.level, finding.target) == ("warning", "b:cpu")


@pytest.mark.parametrize("varying", ["a", "b"])
def test_nothing_is_told_of_bits_that_vary(varying: str) -> None:
    drift = make_record({"cpu": by_run(floats(0.25, 0.5), floats(0.25, 0.75))})
    comparison = compare({"a": NEW, "b": NEW} | {varying: drift})
    assert not [f for f in comparison.report.findings if "elsewhere" in f.kind]
    assert found(comparison, "other-bits-unexplained") == []
    assert comparison.agreement[0].varying == (f"{varying}:cpu",)
    assert f"No steady bits: {varying}:cpu." in comparison.report.verdict.sentence


def test_a_target_that_did_not_run_is_told() -> None:
    gpu = make_record({"cuda:0": "no driver"})
    comparison = compare({"a": NEW, "b": gpu})
    assert comparison.report.verdict.untested == ("b:cuda:0",)
    assert comparison.agreement[0].classes == (("a:cpu",),)
    assert compare({"a": gpu, "b": gpu}).report.verdict.sentence.startswith("No target ran")


def test_requirements_are_asked_anew() -> None:
    strict = make_record({"cpu": ONE}, requirement="identical")
    assert compare({"a": strict, "b": OLD}).report.verdict.met is None
    verdict = compare({"a": strict, "b": OLD}, require="identical").report.verdict
    assert verdict.met is False
    assert any("b:cpu, y, against a:cpu: the bits differ" in line for line in verdict.failures)
    assert compare({"a": strict, "b": OLD}, require="decimals=2").report.verdict.met is True


def test_labels_are_those_of_the_reference() -> None:
    labelled = make_record({"cpu": ONE}, labels=(("y", ("cat", "dog")),))
    comparison = compare({"a": labelled, "b": OLD})
    assert [row.label for row in comparison.report.deviation] == [None, "cat", "dog"]


def test_weights_that_are_others_are_no_drift() -> None:
    def made(weights: str, version: str) -> Record:
        facts = {"cpu": torch_facts(weights, versions={"torch": version})}
        return make_torch_record({"cpu": ONE if weights == "aa" else OTHER}, facts=facts)

    comparison = compare({"a": made("aa", "2.13.0"), "b": made("bb", "2.6.0")})
    (row,) = comparison.report.deviation
    assert (row.max_abs, row.structural) == (None, "its weights are others: not the same model")
    (finding,) = found(comparison, "not-the-same-model")
    assert "in another version (2.6.0 against 2.13.0)" in finding.message
    assert found(comparison, "other-bits-elsewhere") == []
    assert compare({"a": made("aa", "1"), "b": made("aa", "2")}).report.deviation[0].identical


def test_results_that_were_not_kept_still_count() -> None:
    # Half of 8 MiB each: the third and later outcomes are only in the lowest and highest values.
    def big(_p: int, _s: int, _n: int, run: int) -> dict[str, Any]:
        return {"y": np.full(1 << 20, [0.5, 0.5001, 0.75, 0.5002][run], np.float32)}

    plan = Plan(4, 1, 1)
    varying, steady = make_record({"cpu": big}, plan), make_record({"cpu": ONE_BIG}, plan)
    (outcomes,) = varying.targets[0].outcomes
    assert (len(outcomes.digests), len(outcomes.kept)) == (4, 2)
    comparison = compare({"a": steady, "b": varying})
    assert comparison.report.deviation[0].max_abs == 0.25
    assert comparison.agreement[1].classes == (("a:cpu",),)
    assert comparison.agreement[1].varying == ("b:cpu",)


ONE_BIG = always(np.full(1 << 20, 0.5, np.float32))


def test_rows_of_the_table() -> None:
    comparison = compare({"new": NEW, "old": OLD}, require="decimals=3")
    rows = list(comparison.rows())
    assert [(r["target"], r["measure"], r["value"]) for r in rows[:2]] == [
        ("new", "onnxruntime", "1.2.3"),
        ("old", "onnxruntime", "1.0"),
    ]
    levels = [r for r in rows if r["section"] == "agreement"]
    assert len(levels) == 2 * 9
    assert [(r["target"], r["decimals"], r["measure"], r["value"]) for r in levels[:4]] == [
        ("new:cpu", None, "bits_class", 1),
        ("old:cpu", None, "bits_class", 2),
        ("new:cpu", 0, "printed_class", 1),
        ("old:cpu", 0, "printed_class", 2),
    ]
    assert rows[2 + len(levels) :] == list(comparison.report.rows())


def test_the_facts_of_inputs_need_not_be_in_the_same_words() -> None:
    told = tuple(replace(fact, source="x.npz") for fact in NEW.inputs)
    assert all(isinstance(fact, InputFacts) for fact in told)
    assert compare({"a": NEW, "b": replace(NEW, inputs=told)}).differing == ()
