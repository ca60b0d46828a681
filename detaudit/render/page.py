"""Text for a terminal, as wide and as colourful as it is, and safe to show."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO

from . import words
from .sheet import PROSE, Cells, Column, Line, lay_out

if TYPE_CHECKING:
    from rich.console import RenderableType

_NARROWEST = 60


@dataclass(frozen=True, slots=True)
class Page:
    """What a page is made for.

    Attributes:
        width: characters per line
        ascii: whether only ASCII is written

    """

    width: int
    ascii: bool

    def safe(self, text: str) -> str:
        """Text in which every character can be seen, in ASCII if need be."""
        shown = words.visible(text)
        return words.plain(shown) if self.ascii else shown

    def lines(self, *lines: Line) -> Iterator[RenderableType]:
        """Text that wraps."""
        return self.table((), lines)

    def table(
        self, columns: Iterable[Column], items: Iterable[Cells | Line]
    ) -> Iterator[RenderableType]:
        """Rows that share their columns, with lines of text between them."""
        safe = [replace(column, title=self.safe(column.title)) for column in columns]
        return lay_out(safe, [self._clean(item) for item in items], self.width)

    def title(self, title: str) -> Iterator[RenderableType]:
        """Heading of a section."""
        from rich.rule import Rule
        from rich.text import Text

        yield Text("")
        yield Rule(Text(title, style="bold"), align="left", characters=self.safe("─"), style="dim")

    def facts(self, facts: Iterable[tuple[str, Iterable[str]]]) -> Iterator[RenderableType]:
        """Names, each with its lines beside it."""
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim")
        grid.add_column(overflow="fold")
        for name, lines in facts:
            for number, line in enumerate(filter(None, lines)):
                grid.add_row(Text("" if number else name), Text(self.safe(line)))
        yield grid

    def verdict(self, lines: Iterable[tuple[str, str]], style: str) -> Iterator[RenderableType]:
        """Frame that holds the answer.

        Args:
            lines: sentences with the style of each
            style: of the frame

        """
        from rich import box
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        clean = [Text(self.safe(words.prose(t)), style=s, overflow="fold") for t, s in lines]
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

    def _clean(self, item: Cells | Line) -> Cells | Line:
        if isinstance(item, Line):
            return replace(item, text=self.safe(item.text))
        return replace(item, texts=tuple(map(self.safe, item.texts)))


LayOut = Callable[[Page], "Iterable[RenderableType]"]


def render_page(
    lay_out: LayOut, width: int | None = None, color: bool | None = None, *, ascii: bool = False
) -> str:
    """Page as text.

    Args:
        lay_out: makes what stands on the page
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
    for renderable in lay_out(Page(console.width, ascii)):
        console.print(renderable)
    file = console.file
    assert isinstance(file, io.StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def print_page(lay_out: LayOut, file: TextIO) -> None:
    """Write a page to a stream, as wide and as colourful as the stream is.

    Colour follows the terminal and the variables ``NO_COLOR`` and ``FORCE_COLOR``; a stream
    whose encoding cannot hold the text gets ASCII.

    Args:
        lay_out: makes what stands on the page
        file: text stream, such as ``sys.stdout``

    """
    from rich.console import Console

    console = Console(file=file)
    color = console.color_system is not None and not console.no_color
    text = render_page(lay_out, console.width, color)
    try:
        text.encode(getattr(file, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = render_page(lay_out, console.width, color, ascii=True)
    file.write(text)
