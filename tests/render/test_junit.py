from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given, settings

from detaudit.render.junit import render_junit
from detaudit.report import Check, Report, Verdict
from tests.render.reports import REPORTS
from tests.render.strategies import reports

CHECKS = (
    Check("decimals=3", "cpu", "y", "met", ()),
    Check("decimals=3", "cpu[opt=off]", "y", "missed", ("1 of 2 <values>", "& more")),
    Check("decimals=3", "cuda:0", None, "untested", ("cuda:0 was not audited",)),
)


def read(report: Report) -> ElementTree.Element:
    """Root of what any parser of XML 1.0 reads."""
    return ElementTree.fromstring(render_junit(report).encode("utf-8"))


def make(*checks: Check) -> Report:
    verdict = Verdict("decimals=3", False, ("cuda:0",), (), "Said.", "pyproject.toml", checks)
    return replace(REPORTS["same"](), verdict=verdict)


def test_a_case_per_condition_target_and_output() -> None:
    cases = read(make(*CHECKS)).findall("testsuite/testcase")
    assert [(case.get("classname"), case.get("name")) for case in cases] == [
        ("cpu", "decimals=3 in y"),
        ("cpu[opt=off]", "decimals=3 in y"),
        ("cuda:0", "decimals=3"),
    ]
    assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["error"]]


def test_a_failure_holds_the_figures_and_an_error_the_reason() -> None:
    root = read(make(*CHECKS))
    failure, error = root.find(".//failure"), root.find(".//error")
    assert failure is not None
    assert error is not None
    assert failure.get("message") == "1 of 2 <values>; & more"
    assert failure.text == "1 of 2 <values>\n& more"
    assert (error.get("type"), error.text) == ("untested", "cuda:0 was not audited")


def test_what_is_around_the_cases() -> None:
    root = read(make(*CHECKS))
    (suite,) = root
    counts = {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    for element in (root, suite):
        assert counts.items() <= element.attrib.items()
    assert suite.get("timestamp") == REPORTS["same"]().created[:19]
    told = {p.get("name"): p.get("value") for p in suite.findall("properties/property")}
    assert told["requirement"] == "decimals=3"
    assert told["origin"] == "pyproject.toml"
    assert told["kind of cpu"] == "measured"
    assert suite.findtext("system-out") == "Said."


def test_names_that_xml_cannot_hold() -> None:
    odd = "\x00\x1b]0;\ud800\ufffe\n\"'<&]]>\u202e"
    (case,) = read(make(Check(odd, odd, odd, "missed", (odd,)))).findall("testsuite/testcase")
    seen = "\\x00\\x1b]0;\\ud800\\ufffe\\n\"'<&]]>\\u202e"
    assert case.get("classname") == seen
    assert case.get("name") == f"{seen} in {seen}"
    assert case.findtext("failure") == seen


@given(reports())
@settings(max_examples=60)
def test_any_report(report: Report) -> None:
    root = read(report)
    checks = report.verdict.checks
    cases = root.findall("testsuite/testcase")
    passed = [len(case) == 0 for case in cases]
    assert passed == [check.status == "met" for check in checks]
    problems = sum(int(root.get(name, "")) for name in ("failures", "errors"))
    assert problems == passed.count(False)
