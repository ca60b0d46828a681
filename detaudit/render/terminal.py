"""The report as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from detaudit.report import Report

from . import phrases, words
from .audited import keep_audited
from .page import Page, print_page, render_page
from .sections.classes import show_classes
from .sections.deviation import show_deviation
from .sections.latency import show_latency
from .sections.parts import group
from .sections.repeatability import show_repeatability
from .sections.rounding import show_rounding
from .sections.targets import show_targets
from .sheet import Cells, Line

if TYPE_CHECKING:
    from rich.console import RenderableType

_SECTIONS = (
    show_targets,
    show_repeatability,
    show_deviation,
    show_rounding,
    show_classes,
    show_latency,
)
_LEVELS = {"error": "bold red", "warning": "bold yellow", "info": "bold"}


def render_terminal(
    report: Report, width: int | None = None, color: bool | None = None, *, ascii: bool = False
) -> str:
    """Report as text.

    Args:
        report: what is shown
        width: characters per line, at least 60; None for 80
        color: whether escape sequences for colour are written; the text is complete without
        ascii: whether only ASCII is written; names lose their other characters to escapes

    Returns:
        lines without trailing spaces, the last ended

    """
    return render_page(partial(lay_out_report, keep_audited(report)), width, color, ascii=ascii)


def print_report(report: Report, file: TextIO) -> None:
    """Write the report to a stream, as wide and as colourful as the stream is.

    Colour follows the terminal and the variables ``NO_COLOR`` and ``FORCE_COLOR``; a stream
    whose encoding cannot hold the text gets ASCII.

    Args:
        report: what is shown
        file: text stream, such as ``sys.stdout``

    """
    print_page(partial(lay_out_report, keep_audited(report)), file)


def lay_out_report(report: Report, page: Page) -> Iterator[RenderableType]:
    """Header, sections, findings, verdict, in the order in which they are read.

    Args:
        report: report without rows of targets that did not run
        page: what it is laid out for

    """
    yield from page.lines(Line(f"detaudit {report.detaudit} · {report.created}", 0, "bold"))
    if report.interrupted:
        told = "INTERRUPTED before its end: what was not reached is not in this report."
        yield from page.lines(Line(told, 0, "bold red"))
    yield from page.facts(_facts(report))
    for show in _SECTIONS:
        section = show(report)
        for number, block in enumerate(section.blocks):
            if number == 0:
                yield from page.title(section.title)
                if any(isinstance(item, Cells) for item in block.items):
                    yield from page.lines(Line(section.hint, 0, "dim"))
            yield from page.table(block.columns, block.items)
    yield from _findings(report, page)
    yield from _verdict(report, page)


def _findings(report: Report, page: Page) -> Iterator[RenderableType]:
    if report.findings:
        yield from page.title("Findings")
    alike = group(report.findings, lambda f: (f.level, f.kind, f.message))
    for (level, kind, message), findings in alike.items():
        concerned = "; ".join(filter(None, map(phrases.concerns, findings)))
        head = f"{level.upper()}  {kind}" + (f": {concerned}" if concerned else "")
        yield from page.lines(Line(head, 2, _LEVELS[level]), Line(words.prose(message)))


def _verdict(report: Report, page: Page) -> Iterator[RenderableType]:
    verdict = report.verdict
    lines = [(verdict.sentence, "bold")]
    required = phrases.requirement(report)
    if required:
        lines.append((required, "bold"))
    lines += [(f"- {failure}", "") for failure in verdict.failures]
    style = {True: "green", False: "red", None: "bold"}[verdict.met]
    yield from page.verdict(lines, style)


def _facts(report: Report) -> Iterator[tuple[str, list[str]]]:
    """Name of a part of the header and its lines."""
    model, inputs = report.model, report.inputs
    facts = [str(model.get("format") or "")]
    if model.get("size") is not None:
        facts.append(words.size(model["size"]))
    facts.append(f"sha256 {words.digest(model.get('sha256'))}")
    facts += ["switched to evaluation mode (--eval)"] if model.get("evaluate") else []
    yield "model", [str(model.get("path") or words.NOTHING), ", ".join(filter(None, facts))]
    facts = [words.plural(inputs["samples"], "sample")] if "samples" in inputs else []
    facts += [str(inputs["source"])] if inputs.get("source") else []
    facts += [f"seed {inputs['seed']}"] if inputs.get("seed") is not None else []
    facts.append(f"sha256 {words.digest(inputs.get('sha256'))}")
    shapes = dict.fromkeys(map(_tensor, inputs.get("arrays") or ()))
    yield "inputs", [", ".join(facts), *_few(list(shapes))]
    yield "outputs", _few([_tensor(output) for output in model.get("outputs") or ()])
    ops = [f"{op['op']} {_place(op)}" for op in model.get("random_ops") or ()]
    ops += dict.fromkeys(
        f"{op.op} {op.module}" for t in report.targets for op in t.traits.random_ops
    )
    yield "random operators", _few(ops)
    unseeded = "not seeded (--no-seed): what a model draws is another in every session"
    yield "seeding", [] if report.seeding.get("seeded", True) else [unseeded]
    shared = phrases.shared_versions(report.targets)
    yield "software", [", ".join(f"{name} {version}" for name, version in shared.items())]


def _tensor(given: Any) -> str:
    return f"{given['name']}  {given['dtype']} {words.shape(given.get('shape'))}"


def _place(op: Any) -> str:
    return f"{op['subgraph']}/{op['node']}" if op.get("subgraph") else str(op["node"])


def _few(texts: list[str], most: int = 5) -> list[str]:
    left = len(texts) - most
    return texts if left <= 0 else [*texts[:most], f"… {left:,} more"]
