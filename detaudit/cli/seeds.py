"""``detaudit seeds SCRIPT``: was this run really seeded?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from detaudit.cli.messages import tell
from detaudit.cli.output import print_out, write_all
from detaudit.cli.parser import Parser, check_writable
from detaudit.errors import UsageError

if TYPE_CHECKING:
    from detaudit.story.launch import Command
    from detaudit.story.told import Story

_DESCRIPTION = """\
Was this run really seeded? Runs SCRIPT as Python would, in a fresh process, and tells the
story of its randomness: what was seeded where, what was drawn before, what was seeded again.
"""
_EPILOG = """\
Everything after SCRIPT belongs to the script. What it prints goes where it always goes, and the
story follows on stdout when it has ended; with --json - the script's stdout goes to stderr.

exit codes:
  0 told    1 the runs part, or with --strict: something had no seed    2 the command is wrong
  3 the script failed, was interrupted, or could not be run or followed
"""


def main(arguments: Sequence[str]) -> int:
    """Run a script under a watch, and tell what was seen.

    Args:
        arguments: what follows the command

    """
    options = _parser().parse_args(arguments)
    if options.repeat < 1:
        raise UsageError(f"--repeat {options.repeat} is less than 1")
    command = _read_command(options)
    check_writable([] if command.module else [command.name], json=options.json)

    from detaudit.story.launch import check_command
    from detaudit.story.seeds import is_unseeded

    check_command(command)
    story = _collect(command, options)
    written = _deliver(story, options)
    if not written or story.interrupted or any(one.end.code or one.end.cut for one in story.runs):
        return 3
    unseeded = options.strict and any(is_unseeded(run) for run in story.runs)
    return 1 if story.parted is not None or unseeded else 0


def _parser() -> Parser:
    parser = Parser(
        prog="detaudit seeds",
        usage="detaudit seeds [options] SCRIPT ...\n       detaudit seeds [options] -m MODULE ...",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "script", metavar="SCRIPT", nargs=argparse.REMAINDER, help="script and its arguments"
    )
    parser.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        nargs=argparse.REMAINDER,
        help="run a module, as python -m does, and its arguments",
    )
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=int,
        default=1,
        help="run it N times, and name the first draw at which two runs part",
    )
    parser.add_argument("--python", metavar="PATH", help="interpreter to run it with")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if anything had no seed")
    parser.add_argument("--json", metavar="F", help="write the story as JSON; - for stdout")
    parser.add_argument("--quiet", action="store_true", help="no story on stdout")
    return parser


def _read_command(options: Any) -> Command:
    from detaudit.story.launch import Command

    words = options.module if options.module is not None else options.script
    words = words[1:] if options.module is None and words[:1] == ["--"] else words
    if not words or not words[0]:
        raise UsageError("no script is named (see detaudit seeds --help)")
    name, *rest = words
    return Command(name, tuple(rest), options.module is not None, options.python)


def _collect(command: Command, options: Any) -> Story:
    from detaudit.story.launch import run_script
    from detaudit.story.parting import compare_runs
    from detaudit.story.told import Story

    runs, interrupted = [], False
    for number in range(1, options.repeat + 1):
        if options.repeat > 1 and not options.quiet:
            tell(f"run {number} of {options.repeat}")
        if sys.stdout is not None:
            sys.stdout.flush()
        run, interrupted = run_script(command, own_output=options.json != "-")
        runs.append(run)
        if interrupted:
            break
    told, folder = tuple(runs), str(Path.cwd())
    return Story(command.words, folder, told, compare_runs(told, folder), interrupted)


def _deliver(story: Story, options: Any) -> bool:
    """Write the story to where the options say; False where something could not be written."""
    from detaudit.render.files import write_file
    from detaudit.story.json_story import render_json

    writers: list[Callable[[], None]] = []
    if options.json and options.json != "-":
        writers.append(lambda: write_file(Path(options.json), render_json(story)))
    return write_all([*writers, partial(print_out, partial(_show, story, options))])


def _show(story: Story, options: Any, file: TextIO) -> None:
    from detaudit.story.json_story import render_json
    from detaudit.story.terminal import print_story

    if options.json == "-":
        file.write(render_json(story))
    elif not options.quiet:
        print_story(story, file)
