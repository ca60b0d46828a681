"""Judging a saved record again, as several commands do."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from detaudit.cli.parser import (
    Parser,
    add_judge_options,
    check_required,
    read_classes,
    read_decimals,
    read_labels,
)
from detaudit.errors import DetauditError

if TYPE_CHECKING:
    from detaudit.project import Project
    from detaudit.report import Report


def add_record_options(parser: Parser) -> None:
    """The record, and options that say how it is judged."""
    parser.add_argument("record", metavar="RECORD", help="file that --save wrote")
    add_judge_options(parser)


def read_judging(options: Any) -> dict[str, Any]:
    """What the options say of judging, without the reference and the requirement.

    Args:
        options: parsed arguments

    """
    said = {
        "decimals": options.decimals and read_decimals(options.decimals),
        "confidence": options.confidence,
        "labels": options.labels and tuple((read_labels(options.labels) or {}).items()),
        "classes": options.classes and tuple((read_classes(options.classes) or {}).items()),
    }
    return {name: value for name, value in said.items() if value is not None}


def judge_again(
    options: Any, project: Project | None = None, needed_by: str | None = None
) -> Report:
    """Report of a saved record.

    What is not said keeps what the record was judged by.

    Args:
        options: parsed arguments
        project: project whose requirement comes before that of the record
        needed_by: what makes no sense without a requirement, None where it may be missing

    """
    from detaudit.archive import open_record, telling_damage
    from detaudit.judge.judge import judge
    from detaudit.target import parse_target

    given = read_judging(options)
    if options.require is not None:
        given |= {"requirement": options.require, "origin": None}
    elif project is not None and "require" in project.options:
        given |= {"requirement": project.options["require"], "origin": project.file}
    with open_record(options.record) as record:
        if options.reference is not None:
            given["reference"] = parse_target(options.reference, record.model.backend).name
        judging = dataclasses.replace(record.spec.judging, **given)
        check_required(judging.requirement, needed_by)
        with telling_damage(options.record, passing=DetauditError):
            return judge(record, judging)
