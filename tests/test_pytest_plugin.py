from __future__ import annotations

import sys

import pytest

from tests.builders import classifier, noisy
from tests.cli.commands import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest_plugins = ["pytester"]
ONCE = "runs=2, sessions=1, processes=1"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Project with a model that gives the same again, and one that does not."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    steady, unsteady = classifier(pytester.path), noisy(pytester.path)
    steady.rename(pytester.path / "steady.onnx")
    unsteady.rename(pytester.path / "unsteady.onnx")
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run the project's tests with the plugin, whether or not it is installed under its name."""
    plugin = ("-p", "no:detaudit", "-p", "detaudit.pytest_plugin", "-p", "no:cacheprovider")
    return project.runpytest_subprocess(*plugin, *arguments)


def test_it_is_installed_under_its_name() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert told["project"]["entry-points"]["pytest11"] == {"detaudit": "detaudit.pytest_plugin"}


TESTS = f"""
def test_steady(detaudit):
    report = detaudit.assert_reproducible(
        "steady.onnx", device=["cpu", "cpu[threads=1]"], require="decimals=3", {ONCE}
    )
    assert report.verdict.met

def test_unsteady(detaudit):
    detaudit.assert_reproducible("unsteady.onnx", device="cpu", require="decimals=7", {ONCE})

def test_untested(detaudit):
    detaudit.assert_reproducible("steady.onnx", device="cpu,cuda:99", require="ulp=9", {ONCE})
"""


def test_one_passes_one_fails_and_one_was_not_tested(project: pytest.Pytester) -> None:
    project.makepyfile(TESTS)
    result = run(project)
    result.assert_outcomes(passed=1, failed=2)
    once = "--runs 2 --sessions 1 --processes 1"
    result.stdout.fnmatch_lines(
        [
            ">   *unsteady.onnx*",
            "E *unsteady.onnx is not shown to be reproducible",
            "E *Requirement decimals=7: NOT MET",
            "E *  cpu, y: * of * values print differently at 7 decimals",
            "E *  0 of 1 checks met",
            f"E *  detaudit unsteady.onnx --device cpu {once} --require decimals=7",
            "E *Requirement ulp=9: NOT MET",
            "E *  untested: cuda:99 was not audited (unavailable: *",
            f"E *  detaudit steady.onnx --device cpu,cuda:99 {once} --require ulp=9",
        ]
    )
    # The test is shown, and nothing of what is behind the fixture.
    assert "pytest_plugin.py" not in result.stdout.str()


def test_skipping_has_to_be_asked_for(project: pytest.Pytester) -> None:
    project.makepyfile(
        f"""
        def test_absent(detaudit):
            detaudit.assert_reproducible(
                "steady.onnx", device="cpu,cuda:99", unavailable="skip", {ONCE}
            )

        def test_missed(detaudit):
            detaudit.assert_reproducible(
                "unsteady.onnx", device="cpu,cuda:99", unavailable="skip", {ONCE}
            )

        def test_failed(detaudit):
            detaudit.assert_reproducible(
                "steady.onnx", device="cpu", timeout=0.001, unavailable="skip", {ONCE}
            )

        def test_nothing_compared(detaudit):
            detaudit.assert_reproducible(
                "steady.onnx", device="cpu", unavailable="skip", runs=1, sessions=1, processes=1
            )

        def test_misspelt(detaudit):
            detaudit.assert_reproducible("steady.onnx", unavailable="pass")
        """
    )
    result = run(project, "-rs")
    result.stdout.fnmatch_lines(["SKIPPED*", "*untested: cuda:99 was not audited*"])
    result.stdout.fnmatch_lines(["*UsageError: unavailable 'pass' is neither fail nor skip"])
    result.assert_outcomes(skipped=1, failed=4)


def test_the_project_says_what_a_test_does_not(project: pytest.Pytester) -> None:
    project.makepyprojecttoml(
        """
        [tool.detaudit]
        require = "max_abs=1e-12"
        device = ["cpu", "cpu[opt=off]"]
        runs = 2
        sessions = 1
        processes = 1
        """
    )
    project.makepyfile(
        """
        def test_project(detaudit):
            detaudit.assert_reproducible("unsteady.onnx")

        def test_other(detaudit):
            detaudit.assert_reproducible("unsteady.onnx", device="cpu", require="max_abs=99")
        """
    )
    result = run(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *Requirement max_abs=1e-12 (from pyproject.toml): NOT MET",
            "E *  detaudit unsteady.onnx --device 'cpu,cpu?opt=off?' * --require max_abs=1e-12",
        ]
    )


def test_without_any_requirement_the_bits_have_to_be_the_same(project: pytest.Pytester) -> None:
    project.makepyfile(
        f"""
        def test_bits(detaudit):
            report = detaudit.assert_reproducible("steady.onnx", device="cpu", {ONCE})
            assert report.verdict.requirement == "identical"
        """
    )
    run(project).assert_outcomes(passed=1)


def test_it_works_when_tests_are_spread_over_processes(project: pytest.Pytester) -> None:
    project.makepyfile(TESTS)
    run(project, "-p", "xdist", "-n", "2").assert_outcomes(passed=1, failed=2)


def test_tests_that_do_not_ask_for_it_load_nothing(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import sys

        def test_light():
            heavy = {"numpy", "pandas", "torch", "onnx", "onnxruntime", "rich", "scipy", "yaml"}
            assert not heavy & set(sys.modules)
        """
    )
    run(project).assert_outcomes(passed=1)
