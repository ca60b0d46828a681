"""``detaudit compare RECORD RECORD ...``: records of several machines or versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from detaudit.cli.judging import read_judging
from detaudit.cli.output import find_exit_code, print_out, write_all
from detaudit.cli.parser import Parser, add_judge_options, add_table_options, check_writable
from detaudit.errors import DetauditError, UsageError

if TYPE_CHECKING:
    from detaudit.comparison import Comparison
    from detaudit.judge.merging import Named

_DESCRIPTION = """\
Compare saved records of several machines, versions or dates; nothing is run. Every target of
every record is held against one reference, and those that agree are told apart from the rest.
"""
_EPILOG = """\
A record is called by its file without .audit, after its folders where that is not enough, and its
targets such as old:cpu: --reference takes RECORD:TARGET, or RECORD for its first target. What is
not given is judged as the record of the reference was. Model, inputs and plan have to be the same.

exit codes:
  0 compared    1 a requirement is not met
  2 the command is wrong, or the records differ in what has to be the same
  3 a target was not audited, or a record cannot be read
"""


def main(arguments: Sequence[str]) -> int:
    """Compare records.

    Args:
        arguments: what follows the command

    """
    options = _parser().parse_args(arguments)
    if len(options.records) < 2:
        raise UsageError("one record is compared with nothing: name two or more")
    allowed = _read_allowed(options.allow_other)
    names = _name_records(options.records)
    check_writable(options.records, csv=options.csv, json=options.json)

    from detaudit.archive import open_record
    from detaudit.judge.comparing import compare_records
    from detaudit.judge.merging import Named

    judging = read_judging(options)
    if options.require is not None:
        judging["requirement"] = options.require
    with ExitStack() as stack:
        records = [
            Named(name, path, stack.enter_context(open_record(path)))
            for name, path in zip(names, options.records, strict=True)
        ]
        with _telling_damage(records):
            comparison = compare_records(
                records, judging, reference=options.reference, allowed=allowed
            )
    return _deliver(comparison, options)


def _telling_damage(records: Sequence[Named]) -> AbstractContextManager[None]:
    from detaudit.archive import telling_damage

    return telling_damage(" or ".join(one.path for one in records), passing=DetauditError)


def _parser() -> Parser:
    parser = Parser(prog="detaudit compare", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument(
        "records", metavar="RECORD", nargs="+", help="files that --save wrote, two or more"
    )
    parser.add_argument(
        "--allow-other",
        metavar="LIST",
        action="append",
        help="compare although these differ: model, inputs, plan, several with commas",
    )
    add_judge_options(parser)
    add_table_options(parser)
    return parser


def _read_allowed(texts: Sequence[str] | None) -> tuple[str, ...]:
    from detaudit.judge.comparing import ALLOWED

    found = tuple(part.strip() for text in texts or () for part in text.split(","))
    for name in found:
        if name not in ALLOWED:
            raise UsageError(f"--allow-other {name} is none of: {', '.join(ALLOWED)}")
    return found


def _name_records(paths: Sequence[str]) -> list[str]:
    """Names of files without their ending, after as many folders as tell them apart."""
    resolved = [Path(path).resolve() for path in paths]
    for path in paths:
        if resolved.count(Path(path).resolve()) > 1:
            raise UsageError(f"{path} is named twice")
    bare = [p.with_suffix("") if p.suffix == ".audit" else p for p in resolved]
    depth = 1
    names = [path.name for path in bare]
    while len(set(names)) < len(names) and depth < max(len(path.parts) for path in bare):
        depth += 1
        names = ["/".join(path.parts[-depth:]) for path in bare]
    return names if len(set(names)) == len(names) else [str(path) for path in resolved]


def _deliver(comparison: Comparison, options: Any) -> int:
    """Write the comparison to where the options say, and return the exit code."""
    from detaudit.render.comparison.csv_comparison import write_csv_comparison
    from detaudit.render.comparison.json_comparison import render_json_comparison
    from detaudit.render.files import write_file

    writers: list[Callable[[], None]] = []
    if options.csv:
        folder = options.csv.endswith("/")
        writers.append(lambda: write_csv_comparison(comparison, Path(options.csv), folder))
    if options.json and options.json != "-":
        text = render_json_comparison(comparison)
        writers.append(lambda: write_file(Path(options.json), text))
    writers.append(partial(print_out, partial(_show, comparison, options)))
    return find_exit_code(comparison.report, complete=write_all(writers))


def _show(comparison: Comparison, options: Any, file: TextIO) -> None:
    if options.json == "-":
        from detaudit.render.comparison.json_comparison import render_json_comparison

        file.write(render_json_comparison(comparison))
    elif not options.quiet:
        from detaudit.render.comparison.terminal import print_comparison

        print_comparison(comparison, file)
