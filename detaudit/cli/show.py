"""``detaudit show RECORD``: a saved record, judged and rendered again."""

from __future__ import annotations

from collections.abc import Sequence

from detaudit.cli.judging import add_record_options, judge_again
from detaudit.cli.parser import Parser, add_report_options, check_writable


def main(arguments: Sequence[str]) -> int:
    """Render a record.

    Args:
        arguments: what follows the command

    """
    parser = Parser(
        prog="detaudit show",
        description="Judge a saved record again and render it; nothing is run.",
    )
    add_record_options(parser)
    add_report_options(parser)
    options = parser.parse_args(arguments)
    check_writable([options.record], csv=options.csv, json=options.json, junit=options.junit)

    from detaudit.cli.output import deliver

    report = judge_again(options, needed_by="--junit" if options.junit else None)
    return deliver(report, options)
