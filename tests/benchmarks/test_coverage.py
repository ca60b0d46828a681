"""The tables of docs/method.rst are what the script prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURE = re.compile(r"\d+\.\d+")


def test_tables_of_the_docs_are_current() -> None:
    command = [sys.executable, ROOT / "benchmarks" / "coverage.py"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    written = (ROOT / "docs" / "coverage.inc").read_text(encoding="utf-8")
    assert FIGURE.sub("", printed) == FIGURE.sub("", written)
    figures = [[float(text) for text in FIGURE.findall(z)] for z in (printed, written)]
    # Another release of NumPy may draw other numbers from the same seed.
    assert figures[0] == pytest.approx(figures[1], abs=5.0)
