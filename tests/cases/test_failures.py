"""C9, J9: a target that ends badly is told, and the others go on."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from detaudit.cli import main
from tests import builders
from tests.cases.audits import audit_quickly, only
from tests.cases.runtimes import stand_in

MISHAPS = {
    "SIGSEGV:2": "the worker crashed (SIGSEGV)",
    "SIGABRT": "the worker crashed (SIGABRT)",
    "SIGKILL:3": "the worker was killed (SIGKILL), as the system does when memory runs out",
    "exit:2": "the worker ended with exit code 7: the library gave up",
    "raise": "no kernel for this",
    "raise:3": "no kernel for this",
    "refuse": "no kernel for this",
}


@pytest.mark.parametrize("mishap", MISHAPS)
def test_the_others_go_on(tmp_path: Path, mishap: str) -> None:
    """C9: whatever happens to the one in the middle, in whatever call."""
    bad = stand_in("cpu", MISHAP=mishap, WORDS="no kernel for this")
    report = audit_quickly(
        builders.classifier(tmp_path), f"cpu,{bad},cpu[opt=off]", runs=3, require="identical"
    )
    before, failed, after = report.targets
    assert (before.status, failed.status, after.status) == ("ok", "failed", "ok")
    assert failed.reason == MISHAPS[mishap]
    assert {row.target for row in report.repeatability} == {"cpu", "cpu[opt=off]"}
    assert {row.target for row in report.deviation} == {"cpu[opt=off]"}
    assert only(report.findings, kind="failed").target == failed.name
    assert report.verdict.untested == (failed.name,)
    assert report.verdict.met is False


def test_a_reference_that_fails_leaves_nothing_to_measure_against(tmp_path: Path) -> None:
    """C9: the others are still repeated, and no deviation is made up."""
    bad = stand_in("cpu", MISHAP="SIGSEGV")
    report = audit_quickly(builders.classifier(tmp_path), f"{bad},cpu")
    assert [row.status for row in report.targets] == ["failed", "ok"]
    assert {row.target for row in report.repeatability} == {"cpu"}
    assert not report.deviation
    assert "Not audited" in report.verdict.sentence


def test_memory_that_runs_out_is_named(tmp_path: Path) -> None:
    """C9: whatever the runtime calls it."""
    bad = stand_in("cpu", MISHAP="raise", WORDS="bad_alloc in BFCArena")
    (row,) = audit_quickly(builders.classifier(tmp_path), bad).targets
    assert row.reason == "out of memory: bad_alloc in BFCArena"


def test_a_worker_that_stays_silent_is_ended(tmp_path: Path) -> None:
    """C9: after --timeout, and the next target runs."""
    report = audit_quickly(
        builders.classifier(tmp_path), f"{stand_in('cpu', MISHAP='hang')},cpu", timeout=4.0
    )
    hung, after = report.targets
    assert hung.status == "failed"
    assert hung.reason == "no sign of life for 4 s, ended by --timeout"
    assert after.status == "ok"


def test_an_interpreter_that_kills_itself(tmp_path: Path) -> None:
    """C9: dead before it says anything."""
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nkill -9 $$\n", "utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    report = audit_quickly(builders.classifier(tmp_path), f"cpu[python={script}],cpu")
    assert [row.status for row in report.targets] == ["failed", "ok"]
    assert "SIGKILL" in report.targets[0].reason


def test_an_interpreter_without_the_runtime(tmp_path: Path) -> None:
    """C9: says so and names what is missing."""
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho 'No module named numpy' >&2\nexit 1\n", "utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    (row,) = audit_quickly(builders.classifier(tmp_path), f"cpu[python={script}]").targets
    assert row.reason == "the worker ended with exit code 1: No module named numpy"


def test_a_mode_that_raises_is_its_own_error(tmp_path: Path) -> None:
    """J9: the deterministic mode itself may refuse; that is no drift of the model."""
    words = "deterministic mode has no such kernel"
    bad = stand_in("cpu", "deterministic=1", MISHAP="raise", WORDS=words)
    report = audit_quickly(builders.identity(tmp_path), f"{stand_in('cpu')},{bad}", runs=3)
    assert [row.status for row in report.targets] == ["ok", "failed"]
    assert report.targets[1].reason == words
    assert {finding.kind for finding in report.findings} == {"failed"}
    assert report.verdict.sentence.startswith("On cpu")


def test_the_exit_code_tells_that_something_is_missing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """C9: 3, while the rest is reported; a missed requirement does not hide it."""
    model = str(builders.classifier(tmp_path))
    devices = f"cpu,{stand_in('cpu', MISHAP='SIGSEGV')}"
    once = ["--runs", "2", "--sessions", "1", "--processes", "1"]
    assert main([model, "--device", devices, *once]) == 3
    out = capfd.readouterr().out
    assert "the worker crashed (SIGSEGV)" in " ".join(out.split())
    assert "same bits in 2 of 2 runs" in " ".join(out.split())
    assert main([model, "--device", devices, "--require", "identical", "--quiet", *once]) == 3


def test_what_libraries_print_stays_out_of_the_report(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """F6: the stand-in prints in every call."""
    once = ["--runs", "2", "--sessions", "1", "--processes", "1"]
    assert main([str(builders.identity(tmp_path)), "--device", stand_in("cpu"), *once]) == 0
    assert "a library that writes to stdout" not in capfd.readouterr().out
