from __future__ import annotations

import io
from dataclasses import replace

from detaudit.render.answer import print_answer, render_answer
from detaudit.report import Check, Report, Verdict
from tests.render.reports import REPORTS


def make(*checks: Check, interrupted: bool = False) -> Report:
    met = all(check.status == "met" for check in checks)
    verdict = Verdict("decimals=3", met, (), (), "Said.", checks=checks)
    return replace(REPORTS["same"](), verdict=verdict, interrupted=interrupted)


def check(status: str, target: str = "cpu", *failures: str) -> Check:
    return Check("decimals=3", target, "y", status, failures)  # type: ignore[arg-type]


def test_met() -> None:
    assert render_answer(make(check("met"), check("met", "cuda:0"))) == (
        "Requirement decimals=3: met\n  2 of 2 checks met, on cpu, cuda:0\n"
    )


def test_missed_comes_before_untested_and_nothing_is_told_twice() -> None:
    report = make(check("untested", "cpu", "no run"), check("missed", "b", "c", "d", "c"))
    assert render_answer(report).splitlines() == [
        "Requirement decimals=3: NOT MET",
        "  c",
        "  d",
        "  untested: no run",
        "  0 of 2 checks met",
    ]


def test_an_interrupted_audit_says_so() -> None:
    assert "INTERRUPTED" in render_answer(make(check("met"), interrupted=True))


def test_the_file_that_the_requirement_is_from_is_named() -> None:
    report = make(check("met"))
    report = replace(report, verdict=replace(report.verdict, origin="../pyproject.toml"))
    assert "decimals=3 (from ../pyproject.toml): met\n" in render_answer(report)


def test_nothing_in_a_name_reaches_the_terminal() -> None:
    told = render_answer(make(check("missed", "cpu", "a\x1b[2J\nb \u202e")))
    assert "  a\\x1b[2J\\nb \\u202e\n" in told


def test_a_stream_that_holds_ascii_only_gets_it() -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    print_answer(make(check("missed", "cpu", "größer")), file)
    file.flush()
    assert b"  gr\\xf6\\xdfer\n" in raw.getvalue()
