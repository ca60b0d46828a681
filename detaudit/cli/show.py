"""``detaudit show RECORD``: a saved record, judged and rendered again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from detaudit.cli.parser import (
    Parser,
    add_judge_options,
    add_report_options,
    check_writable,
    read_classes,
    read_decimals,
    read_labels,
)
from detaudit.errors import DetauditError


def main(arguments: Sequence[str]) -> int:
    """Render a record.

    Args:
        arguments: what follows the command

    """
    parser = Parser(
        prog="detaudit show",
        description="Judge a saved record again and render it; nothing is run.",
    )
    parser.add_argument("record", metavar="RECORD", help="file that --save wrote")
    add_judge_options(parser)
    add_report_options(parser)
    # An option that is not given keeps what the record was judged by.
    parser.set_defaults(decimals=None, confidence=None)
    options = parser.parse_args(arguments)
    check_writable([options.record], csv=options.csv, json=options.json)

    from detaudit.archive import open_record, telling_damage
    from detaudit.cli.output import deliver
    from detaudit.judge.judge import judge
    from detaudit.target import parse_target

    changes = {
        "decimals": options.decimals and read_decimals(options.decimals),
        "confidence": options.confidence,
        "labels": options.labels and tuple((read_labels(options.labels) or {}).items()),
        "classes": options.classes and tuple((read_classes(options.classes) or {}).items()),
        "requirement": options.require,
    }
    with open_record(options.record) as record:
        given = {name: value for name, value in changes.items() if value is not None}
        if options.reference is not None:
            given["reference"] = parse_target(options.reference, record.model.backend).name
        judging = dataclasses.replace(record.spec.judging, **given)
        with telling_damage(options.record, passing=DetauditError):
            report = judge(record, judging)
    return deliver(report, options)
