"""The comparison as JSON, and its schema."""

from __future__ import annotations

import dataclasses
import json
from importlib import resources
from typing import Any

from detaudit.comparison import Comparison
from detaudit.plain import to_plain
from detaudit.render.json_report import read_schema, to_json

FORMAT = "detaudit-comparison"
VERSION = 1


def comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    """Comparison in the types that strict JSON has, its report as :func:`to_json` has it.

    Args:
        comparison: what is written

    """
    plain = {
        field.name: to_plain(getattr(comparison, field.name))
        for field in dataclasses.fields(comparison)
        if field.name != "report"
    }
    report = to_json(comparison.report)
    return {"format": FORMAT, "version": VERSION, **plain, "report": report}


def render_json_comparison(comparison: Comparison) -> str:
    """Comparison as JSON text in ASCII, indented, its last line ended."""
    return json.dumps(comparison_to_json(comparison), indent=2, allow_nan=False) + "\n"


def read_comparison_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the comparison, that of the report within."""
    text = resources.files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return {**schema, "$defs": {**schema["$defs"], "report": read_schema()}}
