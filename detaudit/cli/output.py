"""Where a report goes, and the progress on the way to it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detaudit.report import Report


def deliver(report: Report, options: Any) -> int:
    """Write the report to where the options say.

    Args:
        report: what to write
        options: parsed arguments with ``csv``, ``json`` and ``quiet``

    Returns:
        exit code of the command

    """
    from detaudit.render.csv_tables import write_csv
    from detaudit.render.files import write_file
    from detaudit.render.json_report import render_json
    from detaudit.render.terminal import print_report

    if options.csv:
        write_csv(report, Path(options.csv), directory=options.csv.endswith("/"))
    if options.json and options.json != "-":
        write_file(Path(options.json), render_json(report))
    try:
        if options.json == "-":
            sys.stdout.write(render_json(report))
        elif not options.quiet:
            print_report(report, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the report has gone; Python would complain again while it shuts down.
        sys.stdout = None
    if any(row.status != "ok" for row in report.targets):
        return 3
    return 1 if report.verdict.met is False else 0


@contextmanager
def show_progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Progress bar on stderr, one per target, only where a person watches.

    Args:
        quiet: whether to show nothing

    Yields:
        function to call with the target's name, finished calls and planned calls

    """
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def advance(target: str, done: int, planned: int) -> None:
            if target not in tasks:
                tasks[target] = bars.add_task(escape(target), total=planned)
            bars.update(tasks[target], completed=done)

        yield advance
