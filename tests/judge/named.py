"""Records made by hand under names, as a comparison takes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from detaudit.judge.merging import Named
from detaudit.record import Record


def name(record: Record, called: str) -> Named:
    return Named(called, f"{called}.audit", record)


def on(record: Record, **environment: Any) -> Record:
    """The record as another machine would have made it."""
    return replace(record, environment={**record.environment, **environment})
