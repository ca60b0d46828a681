"""``detaudit check RECORD``: does what was recorded meet a requirement?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from detaudit.cli.judging import add_record_options, judge_again
from detaudit.cli.parser import Parser, add_report_options, check_writable

_EPILOG = """\
Without --require the requirement is that of [tool.detaudit] in the project's pyproject.toml, else
the one that the record was made with.

exit codes:
  0 met    1 not met    2 the command is wrong, or nothing is required
  3 a target could not be audited, or the record cannot be read
"""


def main(arguments: Sequence[str]) -> int:
    """Judge a record under a requirement, and say whether it is met.

    Args:
        arguments: what follows the command

    """
    parser = Parser(
        prog="detaudit check",
        description="Judge a saved record under a requirement; nothing is run.",
        epilog=_EPILOG,
    )
    add_record_options(parser)
    add_report_options(parser)
    options = parser.parse_args(arguments)
    check_writable([options.record], csv=options.csv, json=options.json, junit=options.junit)

    from detaudit.cli.output import deliver
    from detaudit.project import read_project
    from detaudit.render.answer import print_answer

    project = None if options.require is not None else read_project(Path.cwd())
    report = judge_again(options, project, needed_by="detaudit check")
    return deliver(report, options, show=print_answer)
