"""Settings of this process and code of a model, which tests leave as they were."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from detaudit.seeding import determinism, isolated


@pytest.fixture(autouse=True)
def contained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Put back settings of torch, generators and what importing code changes."""
    import torch

    monkeypatch.delenv(determinism.CUBLAS, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    modules, threads = set(sys.modules), torch.get_num_threads()
    mode = torch.get_deterministic_debug_mode()
    with isolated():
        yield
    torch.set_num_threads(threads)
    torch.set_deterministic_debug_mode(mode)
    torch.set_float32_matmul_precision("highest")
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None)
        if file and tmp_path in Path(file).parents:
            del sys.modules[name]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write code of a model; returns its file."""

    def write_code(code: str, name: str = "net.py") -> Path:
        path = tmp_path / name
        path.write_text("import torch\nfrom torch import nn\n" + textwrap.dedent(code))
        return path

    return write_code
