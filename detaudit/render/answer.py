"""Whether the requirement is met, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from detaudit.report import Report

from . import phrases, words


def render_answer(report: Report) -> str:
    """What the requirement makes of the report.

    Args:
        report: report of an audit with a requirement

    Returns:
        lines, the last ended

    """
    return "".join(f"{words.visible(line)}\n" for line in _answer(report))


def print_answer(report: Report, file: TextIO) -> None:
    """Write the answer to a stream; one whose encoding cannot hold it gets ASCII.

    Args:
        report: report of an audit with a requirement
        file: text stream, such as ``sys.stdout``

    """
    text = render_answer(report)
    try:
        text.encode(getattr(file, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = words.plain(text)
    file.write(text)


def _answer(report: Report) -> Iterator[str]:
    checks = report.verdict.checks
    yield str(phrases.requirement(report))
    if report.interrupted:
        yield "  INTERRUPTED before its end: what was not reached is not in this record."
    for status, told in (("missed", ""), ("untested", "untested: ")):
        failures = (f for check in checks if check.status == status for f in check.failures)
        yield from (f"  {told}{failure}" for failure in dict.fromkeys(failures))
    met = [check for check in checks if check.status == "met"]
    targets = ", ".join(dict.fromkeys(check.target for check in met))
    on = f", on {targets}" if met else ""
    yield f"  {words.ratio(len(met), len(checks))} checks met{on}"
