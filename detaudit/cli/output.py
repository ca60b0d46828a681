"""Where a report goes, and the progress on the way to it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from detaudit.cli.messages import describe_failure, tell

if TYPE_CHECKING:
    from detaudit.report import Report


def deliver(
    report: Report,
    options: Any,
    save: Callable[[], None] | None = None,
    show: Callable[[Report, TextIO], None] | None = None,
) -> int:
    """Write the report to where the options say.

    What cannot be written keeps nothing else from being written.

    Args:
        report: what to write
        options: parsed arguments with ``csv``, ``json``, ``junit`` and ``quiet``
        save: writes the record, None where it is not to be written
        show: writes to stdout what people read, None for the whole report

    Returns:
        exit code of the command

    """
    writers = [save] if save else []
    if options.csv:
        writers.append(partial(_write_tables, report, options.csv))
    if options.json and options.json != "-":
        writers.append(partial(_write_json, report, options.json))
    if options.junit:
        writers.append(partial(_write_junit, report, options.junit))
    writers.append(partial(print_out, partial(_show, report, options, show)))
    return find_exit_code(report, complete=write_all(writers))


def write_all(writers: Iterable[Callable[[], None]]) -> bool:
    """Write to every place; what cannot be written keeps nothing else from being written.

    Args:
        writers: each writes to one place

    Returns:
        whether all could be written; what could not is told on stderr

    """
    complete = True
    for write in writers:
        try:
            write()
        except OSError as error:
            complete = False
            tell(describe_failure(error))
    return complete


def print_out(write: Callable[[TextIO], None]) -> None:
    """Write to stdout, as far as there is one and somebody reads it.

    Args:
        write: takes the stream

    """
    if sys.stdout is None:
        return
    try:
        write(sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read it has gone; Python would complain again while it shuts down.
        sys.stdout = None


def find_exit_code(report: Report, *, complete: bool) -> int:
    """Exit code of a command that made a report.

    Args:
        report: what it made
        complete: whether all could be written

    """
    if not complete or any(row.status != "ok" for row in report.targets):
        return 3
    return 1 if report.verdict.met is False else 0


def _write_tables(report: Report, path: str) -> None:
    from detaudit.render.csv_tables import write_csv

    write_csv(report, Path(path), directory=path.endswith("/"))


def _write_json(report: Report, path: str) -> None:
    from detaudit.render.files import write_file
    from detaudit.render.json_report import render_json

    write_file(Path(path), render_json(report))


def _write_junit(report: Report, path: str) -> None:
    from detaudit.render.files import write_file
    from detaudit.render.junit import render_junit

    write_file(Path(path), render_junit(report))


def _show(
    report: Report,
    options: Any,
    show: Callable[[Report, TextIO], None] | None,
    file: TextIO,
) -> None:
    if options.json == "-":
        from detaudit.render.json_report import render_json

        file.write(render_json(report))
    elif not options.quiet:
        (show or _print_whole)(report, file)


def _print_whole(report: Report, file: TextIO) -> None:
    from detaudit.render.terminal import print_report

    print_report(report, file)


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
