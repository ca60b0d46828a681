"""What a requirement makes of every target, as JUnit XML, which CI services read."""

from __future__ import annotations

from detaudit.report import Check, Report

from . import words

_TAGS = {"missed": "failure", "untested": "error"}


def render_junit(report: Report) -> str:
    """Report as JUnit XML: a test case per condition, target and output.

    A condition that is missed is a failure, one that nothing tells of an error; neither is ever
    left out or passed.

    Args:
        report: report of an audit with a requirement

    Returns:
        XML 1.0, its last line ended; characters that XML cannot hold, or nobody can see, are
        written as escapes

    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    counts = dict.fromkeys(_TAGS.values(), 0)
    suite = Element("testsuite", name="detaudit", timestamp=report.created[:19])
    properties = SubElement(suite, "properties")
    for name, value in _describe(report).items():
        SubElement(properties, "property", name=name, value=words.visible(value))
    for check in report.verdict.checks:
        case = SubElement(
            suite, "testcase", classname=words.visible(check.target), name=_name(check)
        )
        if check.status != "met":
            tag = _TAGS[check.status]
            counts[tag] += 1
            told = [words.visible(failure) for failure in check.failures]
            problem = SubElement(case, tag, type=check.status, message="; ".join(told))
            problem.text = "\n".join(told)
    totals = {
        "tests": str(len(report.verdict.checks)),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "skipped": "0",
    }
    suite.attrib.update(totals)
    SubElement(suite, "system-out").text = words.visible(report.verdict.sentence)
    root = Element("testsuites", {"name": "detaudit", **totals})
    root.append(suite)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _describe(report: Report) -> dict[str, object]:
    verdict = report.verdict
    facts = {
        "model": report.model.get("path"),
        "sha256": report.model.get("sha256"),
        "requirement": verdict.requirement,
        "origin": verdict.origin,
        "detaudit": report.detaudit,
    }
    kinds = {f"kind of {words.visible(row.name)}": row.kind for row in report.targets}
    return {name: value for name, value in {**facts, **kinds}.items() if value is not None}


def _name(check: Check) -> str:
    where = "" if check.output is None else f" in {check.output}"
    return words.visible(f"{check.requirement}{where}")
