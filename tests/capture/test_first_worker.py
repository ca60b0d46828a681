"""The first worker starts before this process loads what takes long, so that both load at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

WATCH = """
import sys
from detaudit.capture import launch

heavy = {"numpy", "pandas", "rich", "onnx", "onnxruntime", "torch", "scipy", "yaml"}

def started(*_, **__):
    print(sorted(heavy & set(sys.modules)))
    sys.exit()

launch.Worker.__init__ = started
"""
COMMAND = """
from detaudit.cli import main
main(["m.onnx", "--device", "cpu", "--input", "x=ones", "--shape", "n=3", "--classes", "y"])
"""
CALL = """
import detaudit
detaudit.audit("m.onnx", "cpu", inputs={"x": "ones"}, shapes={"n": 3}, classes={"y": -1})
"""


@pytest.mark.parametrize("start", [COMMAND, CALL], ids=["command", "call"])
def test_nothing_heavy_is_loaded_before_it(start: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCH + start], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[]\n"
