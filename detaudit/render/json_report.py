"""The report as JSON, and its schema."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from detaudit.plain import to_plain
from detaudit.report import Report

from .audited import keep_audited

FORMAT = "detaudit-report"
VERSION = 1


def to_json(report: Report) -> dict[str, Any]:
    """Report in the types that strict JSON has, as the schema of :func:`read_schema` describes.

    NaN and the infinities are the texts ``"nan"``, ``"inf"`` and ``"-inf"``; NumPy's scalars are
    plain numbers. Targets that are not ``ok`` have no measurements.

    Args:
        report: what is written

    """
    plain: dict[str, Any] = to_plain(keep_audited(report))
    return {"format": FORMAT, "version": VERSION, **plain}


def render_json(report: Report) -> str:
    """Report as JSON text in ASCII, indented, its last line ended."""
    return json.dumps(to_json(report), indent=2, allow_nan=False) + "\n"


def read_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the report, with a description of every key and its unit."""
    text = resources.files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
