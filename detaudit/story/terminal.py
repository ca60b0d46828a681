"""The story as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, TextIO

from detaudit.render.page import Page, print_page, render_page
from detaudit.render.sheet import Cells, Column, Line
from detaudit.render.words import count, plural
from detaudit.version import __version__

from .places import is_import, is_library, name_function, name_line, name_place
from .seeds import has_no_seed, is_unseeded
from .told import Story, Told
from .wording import explain, list_blind, name_kind, say_comparison, say_end, say_verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

_MOST_EVENTS = 40
_MOST_PLACES = 5


def render_story(
    story: Story, width: int | None = None, color: bool | None = None, *, ascii: bool = False
) -> str:
    """Story as text.

    Args:
        story: what is shown
        width: characters per line, at least 60; None for 80
        color: whether escape sequences for colour are written; the text is complete without
        ascii: whether only ASCII is written

    """
    return render_page(partial(_lay_out, story), width, color, ascii=ascii)


def print_story(story: Story, file: TextIO) -> None:
    """Write a story to a stream, as wide and as colourful as the stream is.

    Args:
        story: what is shown
        file: text stream, such as ``sys.stdout``

    """
    print_page(partial(_lay_out, story), file)


def _lay_out(story: Story, page: Page) -> Iterator[RenderableType]:
    yield from page.lines(Line(f"detaudit {__version__} · seeds", 0, "bold"))
    yield from page.facts(_list_facts(story))
    yield from _show_events(story, page)
    yield from _show_draws(story, page)
    if story.comparisons:
        yield from page.title("Run against run")
        for comparison in story.comparisons:
            head, *because = say_comparison(comparison, story.folder)
            style = "bold red" if comparison.kind else ""
            yield from page.lines(Line(head, 2, style), *map(Line, because))
    blind = dict.fromkeys(text for run in story.runs for text in list_blind(run))
    if blind:
        yield from page.title("Not watched")
        yield from page.lines(*(Line(text, 2) for text in blind))
    yield from page.verdict(((text, "bold") for text in say_verdict(story)), _choose_style(story))


def _choose_style(story: Story) -> str:
    if story.parted is not None:
        return "red"
    if any(is_unseeded(run) or run.end.code for run in story.runs):
        return "yellow"
    return "green"


def _list_facts(story: Story) -> Iterator[tuple[str, list[str]]]:
    import shlex

    yield "script", [shlex.join(story.command)]
    yield "software", [", ".join(f"{name} {version}" for name, version in story.runs[0].versions)]
    ends = {
        number: say_end(run.end) or "ended with exit code 0"
        for number, run in enumerate(story.runs, 1)
    }
    if len(set(ends.values())) == 1:
        yield "runs", [f"{len(ends)}, {'each ' if len(ends) > 1 else ''}{ends[1]}"]
    else:
        yield "runs", [f"run {number} {end}" for number, end in ends.items()]


def _show_events(story: Story, page: Page) -> Iterator[RenderableType]:
    run = story.runs[0]
    shown = [one for one in run.told if one.early or one.event.kind != "draw"]
    if not shown:
        return
    yield from page.title("Seeds and flags, in order" + _of_first(story))
    columns = (
        Column("", "left"),
        Column("generator", "left"),
        Column("call", "left", flexible=True),
        Column("place", "left", flexible=True),
    )
    items: list[Cells | Line] = []
    for told in shown[:_MOST_EVENTS]:
        items.append(_make_row(told, story.folder))
        notes = explain(run, told, story.folder)
        items += [Line("; ".join(notes), 4, "dim")] if notes else []
    if shown[_MOST_EVENTS:]:
        items.append(Line(f"… {count(len(shown) - _MOST_EVENTS)} more, all of them in --json", 2))
    yield from page.table(columns, items)


def _make_row(told: Told, folder: str) -> Cells:
    event = told.event
    inside = "" if is_library(event.file) else name_function(event.function)
    warns = told.early or (has_no_seed(event) and not is_import(event))
    return Cells(
        (
            name_kind(told),
            "" if event.kind == "flag" else event.generator,
            event.what,
            name_line(event.file, event.line, folder) + inside,
        ),
        style="yellow" if warns else "",
    )


def _show_draws(story: Story, page: Page) -> Iterator[RenderableType]:
    draws = [one for one in story.runs[0].told if one.event.kind == "draw"]
    if not draws:
        return
    yield from page.title("Draws" + _of_first(story))
    columns = (
        Column("call", "left", flexible=True),
        Column("place", "left", flexible=True),
        Column("draws"),
    )
    items: list[Cells | Line] = []
    for name in dict.fromkeys(one.event.generator for one in draws):
        places: dict[tuple[str, str], int] = {}
        for one in draws:
            if one.event.generator == name:
                key = (one.event.what, name_place(one.event, story.folder))
                places[key] = places.get(key, 0) + one.event.count
        ranked = sorted(places.items(), key=lambda item: -item[1])
        total = plural(sum(places.values()), "draw")
        items.append(Line(f"{name}: {total} at {plural(len(places), 'place')}", 2, "bold"))
        items += [Cells((*key, count(number)), 4) for key, number in ranked[:_MOST_PLACES]]
        if ranked[_MOST_PLACES:]:
            items.append(Line(f"… {count(len(ranked) - _MOST_PLACES)} more places"))
    yield from page.table(columns, items)


def _of_first(story: Story) -> str:
    return " (run 1)" if len(story.runs) > 1 else ""
