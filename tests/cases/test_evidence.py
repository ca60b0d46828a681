"""What was not compared is evidence of nothing, and never meets a requirement."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detaudit.cli import main
from detaudit.judge.judge import judge
from detaudit.spec import JudgeSpec
from tests import builders
from tests.records import Plan, always, by_run, make_record

ONCE = Plan(runs=1, sessions=1, processes=1)
ONE_SESSION = Plan(runs=3, sessions=1, processes=1)
RNG = np.random.default_rng(0)


def met(calls: dict[str, Any], plan: Plan, requirement: str, **known: Any) -> bool | None:
    return judge(make_record(calls, plan, requirement=requirement, **known)).verdict.met


@pytest.mark.parametrize("requirement", ["identical", "decimals=3", "max_abs=1", "ulp=5"])
def test_one_run_proves_nothing(requirement: str) -> None:
    steady = always(np.float32([1, 2]))
    assert met({"cpu": steady}, ONCE, requirement) is False
    assert met({"cpu": steady}, ONE_SESSION, requirement) is True
    assert met({"cpu": steady, "cpu[opt=off]": steady}, ONCE, requirement) is True


def test_scopes_that_were_not_repeated_say_nothing() -> None:
    report = judge(make_record({"cpu": always(np.float32([1]))}, ONE_SESSION))
    by_scope = {row.scope: row for row in report.repeatability}
    assert by_scope["run"].identical is True
    for scope in ("session", "process"):
        row = by_scope[scope]
        assert (row.identical, row.same_values, row.max_abs, row.changed_share) == (None,) * 4
        assert row.instability_upper_bound is None


@pytest.mark.parametrize(
    "scores",
    [np.full((4, 3), np.nan), np.ones((4, 3))],
    ids=["no class at all", "ties only"],
)
@pytest.mark.parametrize("requirement", ["no-class-flip", "flip-rate=0.9"])
def test_items_without_a_decision_meet_nothing(scores: np.ndarray, requirement: str) -> None:
    steady = always(scores.astype(np.float32))
    record = make_record({"cpu": steady, "cpu[opt=off]": steady}, ONE_SESSION)
    judging = JudgeSpec(classes=(("y", -1),), requirement=requirement)
    assert judge(record, judging).verdict.met is False


def test_flips_among_results_that_were_not_kept_are_not_denied() -> None:
    """Beyond 8 MiB only the first result is kept, which equals itself."""
    first = RNG.normal(size=(300_000, 8)).astype(np.float32)
    calls = by_run(first, first[:, ::-1].copy(), first)
    record = make_record({"cpu": always(first), "cpu[opt=off]": calls}, ONE_SESSION)
    report = judge(record, JudgeSpec(classes=(("y", -1),), requirement="no-class-flip"))
    assert report.verdict.met is False
    assert "No class" not in report.verdict.sentence
    assert [r.flip_upper_bound for r in report.classes if r.target == "cpu[opt=off]"] != []
    assert all(r.flip_upper_bound is None for r in report.classes if r.target != "cpu")


def test_values_that_stay_nan_are_no_printed_values() -> None:
    base = np.full(1000, np.nan, np.float32)
    base[0] = 1.0
    moved = base.copy()
    moved[0] += np.float32(1e-3)
    report = judge(make_record({"cpu": always(base), "cpu[opt=off]": always(moved)}, ONCE))
    rows = {row.decimals: row for row in report.rounding}
    assert (rows[3].values, rows[3].changed) == (1, 1)
    assert rows[2].expected_share == pytest.approx(0.1, rel=1e-3)


def test_other_shapes_have_no_distance() -> None:
    calls = by_run(np.float32([1, 2]), np.float32([1, 2, 3]), np.float32([1, 2]))
    row = judge(make_record({"cpu": calls}, ONE_SESSION)).repeatability[0]
    assert row.structural is not None
    assert (row.max_abs, row.mean_abs, row.changed_share) == (None, None, None)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--device", "cpu[config.session.record_ep_graph_assignment_info=0]"], 2, "cannot be set"),
        (["--device", "cpu[config.=1]"], 2, "cannot be set"),
        (["--require", "nope:identical"], 2, "has no output 'nope'"),
        (["--require", ":identical"], 2, "names no output"),
        (["--labels", ",".join(f"label number {i}" for i in range(40))], 2, "40 labels"),
        (["--shape", "n=2", "--shape", "n=3"], 2, "given twice"),
        (["--input", "x=ones", "--input", "x=zeros"], 2, "given twice"),
        (["--confidence", "0.9999999999999999"], 2, "--confidence"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    arguments: list[str], code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = builders.classifier(tmp_path)
    assert main([str(model), "--no-progress", *arguments]) == code
    said = capsys.readouterr()
    assert words in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_an_input_that_claims_to_be_endless(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bomb.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (10**13,)}
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", header.getvalue())
    assert main([str(builders.classifier(tmp_path)), "--input", str(path)]) == 2
    assert "is no readable" in capsys.readouterr().err


def test_an_archive_of_endless_depth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "deep.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("d/" * 1500 + "model.onnx", b"x")
    assert main([str(path)]) == 3
    assert "folders deep" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.update(targets=[]),
        lambda facts: facts["targets"][0].update(outcomes=[]),
        lambda facts: facts["spec"].update(runs=1000),
        lambda facts: facts["spec"]["inputs"].update(samples=5),
        lambda facts: facts["targets"][0]["outcomes"][0].update(counts=[1.5]),
        lambda facts: facts.pop("digests"),
        lambda facts: facts.update(version=99),
    ],
)
def test_an_edited_record_is_one_clear_line(
    change: Callable[[dict[str, Any]], Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, saved, edited = builders.noisy(tmp_path), tmp_path / "a.audit", tmp_path / "b.audit"
    quick = ["--device", "cpu", "--runs", "2", "--sessions", "1", "--processes", "1", "--quiet"]
    assert main([str(model), *quick, "--save", str(saved)]) == 0
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(edited, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "record.json":
                facts = json.loads(data)
                change(facts)
                data = json.dumps(facts).encode()
            new.writestr(name, data)
    capsys.readouterr()
    assert main(["show", str(edited)]) == 3
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.parametrize("targets", [("cpu",), ("cpu", "cpu[opt=off]")])
def test_outputs_of_nothing_but_nan_have_no_decimals(targets: tuple[str, ...]) -> None:
    steady = always(np.full((2, 3), np.nan, np.float32))
    assert met(dict.fromkeys(targets, steady), Plan(), "decimals=3") is False
    assert met(dict.fromkeys(targets, steady), Plan(), "identical") is True
    empty = always(np.zeros((0, 3), np.float32))
    assert met(dict.fromkeys(targets, empty), Plan(), "decimals=3") is True


def test_targets_of_other_shapes_have_no_distance() -> None:
    calls = {"cpu": always(np.float32([1, 2])), "cpu[opt=off]": always(np.float32([1, 2, 3]))}
    (row,) = judge(make_record(calls, ONE_SESSION)).deviation
    assert row.structural is not None
    assert (row.max_abs, row.changed_share, row.bits_kept) == (None, None, None)


@pytest.mark.parametrize("option", ["--json", "--csv", "--save"])
def test_no_part_of_a_model_is_overwritten(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither external data, nor what lies in a folder that is read, nor a file of labels."""
    external = builders.external_data(tmp_path)
    folder = builders.audonnx_folder(tmp_path / "folder", labels=["a", "b", "c"])
    labels = tmp_path / "labels.txt"
    labels.write_text("a\nb\nc\n", encoding="utf-8")
    parts = [p for p in external.parent.iterdir() if p.is_file() and p != labels]
    victims = [(external, p) for p in parts] + [(folder, p) for p in folder.iterdir()]
    for model, victim in victims:
        before = victim.read_bytes()
        assert main([str(model), "--no-progress", option, str(victim)]) == 2
        assert "overwrit" in capsys.readouterr().err
        assert victim.read_bytes() == before
    arguments = ["--labels", str(labels), option, str(labels)]
    assert main([str(external), "--no-progress", *arguments]) == 2
    assert labels.read_text(encoding="utf-8") == "a\nb\nc\n"


def test_an_audit_leaves_the_callers_generators_alone(tmp_path: Path) -> None:
    """Nobody's training may be reseeded behind their back, least of all by this tool."""
    import detaudit

    detaudit.set_seeds(7)
    before = detaudit.get_seeds_state()
    report = detaudit.audit(builders.classifier(tmp_path), device="cpu", runs=2, processes=1)
    assert detaudit.get_seeds_state() == before
    assert report.seeding["parent"]["seed"] == 1
