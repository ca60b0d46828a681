"""Where a report goes, and the progress on the way to it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detaudit.cli.messages import describe_failure, tell

if TYPE_CHECKING:
    from detaudit.report import Report


def deliver(report: Report, options: Any, save: Callable[[], None] | None = None) -> int:
    """Write the report to where the options say.

    What cannot be written keeps nothing else from being written.

    Args:
        report: what to write
        options: parsed arguments with ``csv``, ``json`` and ``quiet``
        save: writes the record, None where it is not to be written

    Returns:
        exit code of the command

    """
    from detaudit.render.csv_tables import write_csv
    from detaudit.render.files import write_file
    from detaudit.render.json_report import render_json

    writers = [save] if save else []
    if options.csv:
        folder = options.csv.endswith("/")
        writers.append(lambda: write_csv(report, Path(options.csv), directory=folder))
    if options.json and options.json != "-":
        writers.append(lambda: write_file(Path(options.json), render_json(report)))
    if sys.stdout is not None:
        writers.append(lambda: _show(report, options))
    complete = True
    for write in writers:
        try:
            write()
        except OSError as error:
            complete = False
            tell(describe_failure(error))
    if not complete or any(row.status != "ok" for row in report.targets):
        return 3
    return 1 if report.verdict.met is False else 0


def _show(report: Report, options: Any) -> None:
    from detaudit.render.json_report import render_json
    from detaudit.render.terminal import print_report

    try:
        if options.json == "-":
            sys.stdout.write(render_json(report))
        elif not options.quiet:
            print_report(report, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the report has gone; Python would complain again while it shuts down.
        sys.stdout = None


@contextmanager
def show_progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Progress bar on stderr, one per target, only where a person watches.

    Args:
        quiet: whether to show nothing

    Yields:
        function to call with the target's name, finished calls and planned calls

    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
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
