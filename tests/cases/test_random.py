"""B9 to B14, facts 1, 2 and 10: models that draw random numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from detaudit.report import Report
from tests import builders
from tests.cases.audits import all_identical, audit_quickly, capture_quickly, kinds, message, only

WIDE = {"shapes": {"n": "16"}}
"""So many values that two draws never give the same."""

SCOPES = ("run", "session", "process")


def scopes(report: Report) -> tuple[bool, ...]:
    """Whether run, session and process scope are identical."""
    return tuple(only(report.repeatability, scope=scope).identical for scope in SCOPES)


def draws_named(report: Report) -> list[tuple[str, str, str]]:
    """Operator, node and subgraph of every random operator of the report."""
    return [(op["op"], op["node"], op["subgraph"]) for op in report.model["random_ops"]]


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("noisy", ""),
        ("noisy_in_if", "choose/then_branch"),
        ("noisy_in_loop", "repeat/body"),
        ("noisy_in_function", None),
    ],
)
def test_each_scope_gives_its_own_answer(tmp_path: Path, name: str, inside: str | None) -> None:
    """B9, facts 1 and 10: run differs, session repeats, process differs; the op is named."""
    model = getattr(builders, name)(tmp_path)
    report = audit_quickly(model, runs=10, sessions=2, processes=2, **WIDE)
    assert scopes(report) == (False, True, False)
    run = only(report.repeatability, scope="run")
    assert (run.distinct, run.units, run.first_run_differs) == (10, 10, False)
    assert 0 < run.max_abs <= 4e-6
    session = only(report.repeatability, scope="session")
    assert (session.distinct, session.comparisons) == (1, 2)
    process = only(report.repeatability, scope="process")
    assert (process.distinct, process.units, process.instability_upper_bound) == (2, 2, None)
    (drawn,) = draws_named(report)
    assert drawn[:2] == ("RandomUniformLike", "draw")
    assert drawn[2] == inside if inside is not None else drawn[2]
    told = message(report, "run-drift")
    assert "RandomUniformLike 'draw'" in told
    assert drawn[2] in told
    assert told.endswith("The first calls of fresh sessions are equal.")
    assert "differ from run to run (10 distinct results of 10)" in report.verdict.sentence


def test_a_seed_in_the_node_steadies_processes_only(tmp_path: Path) -> None:
    """B9, fact 1: seeded processes agree, runs of a session still do not."""
    model = builders.noisy_with_seed(tmp_path)
    report = audit_quickly(model, runs=4, sessions=2, processes=2, **WIDE)
    assert scopes(report) == (False, True, True)
    assert report.model["random_ops"][0]["seeded"] is True
    told = message(report, "run-drift")
    assert "a seed attribute does not change that" in told
    assert told.endswith("The first calls of fresh sessions and fresh processes are equal.")


def first_digest(model: Path, **options: object) -> str:
    record = capture_quickly(model, inputs={"x": "ones"}, **WIDE, **options)
    return record.targets[0].outcomes[0].digests[0]


def test_seeding_the_runtime_steadies_processes(tmp_path: Path) -> None:
    """B10, fact 2: the seed is set before any session, so it works; and it is written down."""
    model = builders.noisy(tmp_path)
    report = audit_quickly(model, runs=3, sessions=2, processes=2, seed_runtime=True, **WIDE)
    assert scopes(report) == (False, True, True)
    (target,) = report.seeding["targets"].values()
    assert all("onnxruntime" in str(process["seeding"]) for process in target)


def test_the_seed_of_the_runtime_matters_until_the_node_has_its_own(tmp_path: Path) -> None:
    """B10, fact 2: other seeds give other draws, the same seed the same; a node's seed wins."""
    plain, seeded = builders.noisy(tmp_path), builders.noisy_with_seed(tmp_path)
    seven, again, eight = (first_digest(plain, seed=seed, seed_runtime=True) for seed in (7, 7, 8))
    assert seven == again != eight
    assert first_digest(seeded, seed=7, seed_runtime=True) == first_digest(
        seeded, seed=8, seed_runtime=True
    )


@pytest.mark.parametrize("op", builders.RANDOM_OPS)
def test_every_random_operator_is_found_and_measured(tmp_path: Path, op: str) -> None:
    """B14: the scan names it, the runs of a session show it, most repeat in fresh sessions."""
    positive = {"x": "uniform:0.3:0.7"}
    report = audit_quickly(builders.random_op(tmp_path, op), runs=6, sessions=2, inputs=positive)
    assert draws_named(report) == [(op, "draw", "")]
    assert not only(report.repeatability, output="y", scope="run").identical
    session = only(report.repeatability, output="y", scope="session")
    # The state of Dropout outlives its session; that of all others is the session's own.
    assert session.identical == (op != "Dropout")
    assert only(report.repeatability, output="same", scope="run").identical
    told = message(report, "run-drift")
    assert f"{op} 'draw'" in told
    assert ("sessions are equal" in told) == session.identical


@pytest.mark.modern
def test_dropout_left_in_training_drifts_at_every_level(tmp_path: Path) -> None:
    """B12: no optimiser level of the current runtime hides it, and the cause is named."""
    levels = [f"cpu[opt={level}]" for level in ("off", "basic", "extended")] + ["cpu"]
    report = audit_quickly(builders.dropout_training(tmp_path), ",".join(levels), runs=6)
    for level in levels:
        assert not only(report.repeatability, target=level, output="y", scope="run").identical
        assert "Dropout 'draw'" in message(report, "run-drift", target=level)


def test_dropout_left_in_training_is_random_with_the_optimiser_off(tmp_path: Path) -> None:
    """B12: whatever a version's optimiser makes of it, the scan and the plain graph agree."""
    report = audit_quickly(builders.dropout_training(tmp_path), "cpu[opt=off]", runs=6)
    assert not only(report.repeatability, output="y", scope="run").identical
    assert "Dropout 'draw'" in message(report, "run-drift")


def test_dropout_in_inference_is_nothing_random(tmp_path: Path) -> None:
    """B12: a Dropout as it should be is not named."""
    report = audit_quickly(builders.dropout_inference(tmp_path))
    assert draws_named(report) == []
    assert all_identical(report)
    assert not kinds(report) & {"run-drift", "random-ops-without-effect"}


@pytest.mark.parametrize("name", ["random_times_zero", "random_unused"])
def test_measurement_decides_and_the_scan_explains(tmp_path: Path, name: str) -> None:
    """Item 3: an operator without effect is named, and nothing is claimed of it."""
    report = audit_quickly(getattr(builders, name)(tmp_path), runs=4, sessions=2, processes=2)
    assert all_identical(report)
    assert draws_named(report) == [("RandomUniformLike", "draw", "")]
    assert "RandomUniformLike 'draw'" in message(report, "random-ops-without-effect")
    assert "deterministic" not in report.verdict.sentence


def test_a_length_that_is_drawn_is_a_change_of_structure(tmp_path: Path) -> None:
    """C14, L3: results of other lengths are told as such, never cut to fit."""
    report = audit_quickly(builders.random_length(tmp_path), runs=8, require="max_abs=1000")
    run = only(report.repeatability, scope="run")
    assert not run.identical
    assert "shape" in run.structural
    assert "structure-varies" in kinds(report)
    assert report.verdict.met is False
