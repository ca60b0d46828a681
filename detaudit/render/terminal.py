"""The report as text for a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from detaudit.report import Report

from . import phrases, words
from .audited import keep_audited
from .sections.classes import show_classes
from .sections.deviation import show_deviation
from .sections.latency import show_latency
from .sections.parts import group
from .sections.repeatability import show_repeatability
from .sections.rounding import show_rounding
from .sections.targets import show_targets
from .sheet import PROSE, Cells, Line, lay_out

if TYPE_CHECKING:
    from rich.console import RenderableType

_NARROWEST = 60
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
    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        width=max(width or 80, _NARROWEST),
        color_system="standard" if color else None,
        force_terminal=bool(color),
        no_color=not color,
        legacy_windows=False,
    )
    page = _Page(keep_audited(report), console.width, ascii)
    for renderable in page.lay_out():
        console.print(renderable)
    file = console.file
    assert isinstance(file, io.StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def print_report(report: Report, file: TextIO) -> None:
    """Write the report to a stream, as wide and as colourful as the stream is.

    Colour follows the terminal and the variables ``NO_COLOR`` and ``FORCE_COLOR``; a stream
    whose encoding cannot hold the text gets ASCII.

    Args:
        report: what is shown
        file: text stream, such as ``sys.stdout``

    """
    from rich.console import Console

    console = Console(file=file)
    color = console.color_system is not None and not console.no_color
    text = render_terminal(report, console.width, color)
    try:
        text.encode(getattr(file, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = render_terminal(report, console.width, color, ascii=True)
    file.write(text)


class _Page:
    """Report in the order in which it is read, every text made safe to show."""

    def __init__(self, report: Report, width: int, ascii: bool) -> None:
        self.report = report
        self.width = width
        self.ascii = ascii

    def lay_out(self) -> Iterator[RenderableType]:
        """Header, sections, findings, verdict."""
        yield from self._header()
        for show in _SECTIONS:
            section = show(self.report)
            for number, block in enumerate(section.blocks):
                if number == 0:
                    yield from self._title(section.title)
                    if any(isinstance(item, Cells) for item in block.items):
                        yield from self._lines(Line(section.hint, 0, "dim"))
                columns = [replace(c, title=self._safe(c.title)) for c in block.columns]
                yield from lay_out(columns, [self._clean(item) for item in block.items], self.width)
        yield from self._findings()
        yield from self._verdict()

    def _safe(self, text: str) -> str:
        shown = words.visible(text)
        return words.plain(shown) if self.ascii else shown

    def _clean(self, item: Cells | Line) -> Cells | Line:
        if isinstance(item, Line):
            return replace(item, text=self._safe(item.text))
        return replace(item, texts=tuple(map(self._safe, item.texts)))

    def _lines(self, *lines: Line) -> Iterator[RenderableType]:
        return lay_out((), [self._clean(line) for line in lines], self.width)

    def _title(self, title: str) -> Iterator[RenderableType]:
        from rich.rule import Rule
        from rich.text import Text

        yield Text("")
        yield Rule(
            Text(title, style="bold"),
            align="left",
            characters=self._safe("─"),
            style="dim",
        )

    def _header(self) -> Iterator[RenderableType]:
        from rich.table import Table
        from rich.text import Text

        report = self.report
        yield from self._lines(Line(f"detaudit {report.detaudit} · {report.created}", 0, "bold"))
        if report.interrupted:
            told = "INTERRUPTED before its end: what was not reached is not in this report."
            yield from self._lines(Line(told, 0, "bold red"))
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim")
        grid.add_column(overflow="fold")
        for name, facts in _facts(report):
            for number, fact in enumerate(filter(None, facts)):
                grid.add_row(Text("" if number else name), Text(self._safe(fact)))
        yield grid

    def _findings(self) -> Iterator[RenderableType]:
        if self.report.findings:
            yield from self._title("Findings")
        alike = group(self.report.findings, lambda f: (f.level, f.kind, f.message))
        for (level, kind, message), findings in alike.items():
            concerned = "; ".join(filter(None, map(phrases.concerns, findings)))
            head = f"{level.upper()}  {kind}" + (f": {concerned}" if concerned else "")
            yield from self._lines(Line(head, 2, _LEVELS[level]), Line(words.prose(message)))

    def _verdict(self) -> Iterator[RenderableType]:
        from rich import box
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        verdict = self.report.verdict
        lines = [(verdict.sentence, "bold")]
        required = phrases.requirement(self.report)
        if required:
            lines.append((required, "bold"))
        lines += [(f"- {failure}", "") for failure in verdict.failures]
        style = {True: "green", False: "red", None: "bold"}[verdict.met]
        clean = [Text(self._safe(words.prose(t)), style=s, overflow="fold") for t, s in lines]
        yield Text("")
        yield Panel(
            Group(*clean),
            title=Text("Verdict", style="bold"),
            title_align="left",
            box=box.ASCII if self.ascii else box.HEAVY,
            border_style=style,
            padding=(0, 1),
            width=min(self.width, PROSE),
        )


def _facts(report: Report) -> Iterator[tuple[str, list[str]]]:
    """Name of a part of the header and its lines."""
    model, inputs = report.model, report.inputs
    facts = [str(model.get("format") or "")]
    if model.get("size") is not None:
        facts.append(words.size(model["size"]))
    facts.append(f"sha256 {words.digest(model.get('sha256'))}")
    yield "model", [str(model.get("path") or words.NOTHING), ", ".join(filter(None, facts))]
    facts = [words.plural(inputs["samples"], "sample")] if "samples" in inputs else []
    facts += [str(inputs["source"])] if inputs.get("source") else []
    facts += [f"seed {inputs['seed']}"] if inputs.get("seed") is not None else []
    facts.append(f"sha256 {words.digest(inputs.get('sha256'))}")
    shapes = dict.fromkeys(map(_tensor, inputs.get("arrays") or ()))
    yield "inputs", [", ".join(facts), *_few(list(shapes))]
    yield "outputs", _few([_tensor(output) for output in model.get("outputs") or ()])
    ops = [f"{op['op']} {_place(op)}" for op in model.get("random_ops") or ()]
    yield "random operators", _few(ops)
    shared = phrases.shared_versions(report.targets)
    yield "software", [", ".join(f"{name} {version}" for name, version in shared.items())]


def _tensor(given: Any) -> str:
    return f"{given['name']}  {given['dtype']} {words.shape(given.get('shape'))}"


def _place(op: Any) -> str:
    return f"{op['subgraph']}/{op['node']}" if op.get("subgraph") else str(op["node"])


def _few(texts: list[str], most: int = 5) -> list[str]:
    left = len(texts) - most
    return texts if left <= 0 else [*texts[:most], f"… {left:,} more"]
