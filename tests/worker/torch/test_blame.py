from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from detaudit.worker.torch.blame import blame, first_line

pytestmark = pytest.mark.torch


def raised(file: Path) -> BaseException:
    try:
        runpy.run_path(str(file))
    except Exception as error:
        return error
    raise AssertionError("the code did not raise")


def test_the_innermost_place_in_the_users_code_is_told(write: Callable[..., Path]) -> None:
    file = write("def f():\n    return 1 / 0\nf()\n")
    assert blame(raised(file), file) == "net.py:4: ZeroDivisionError: division by zero"


def test_code_beside_the_file_is_the_users_too(write: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    write("def f():\n    raise ValueError('bad')\n", "parts/layer.py")
    file = write("import runpy\nrunpy.run_path(__file__[:-6] + 'parts/layer.py')['f']()\n")
    assert blame(raised(file), file) == "parts/layer.py:4: ValueError: bad"


def test_an_installed_package_below_the_file_is_not(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "site-packages").mkdir()
    write("def f():\n    raise ValueError('bad')\n", "site-packages/layer.py")
    file = write("import runpy\nrunpy.run_path(__file__[:-6] + 'site-packages/layer.py')['f']()\n")
    assert blame(raised(file), file) == "net.py:4: ValueError: bad"


def test_a_syntax_error_has_no_frame_of_its_own(write: Callable[..., Path]) -> None:
    file = write("def f(:\n    pass\n")
    told = blame(raised(file), file)
    assert told.startswith("net.py:3: SyntaxError: ")
    assert "\n" not in told


def test_an_error_from_elsewhere_keeps_its_text(tmp_path: Path) -> None:
    error = RuntimeError("first\nsecond")
    assert blame(error, None) == "first"
    assert blame(error, tmp_path / "net.py") == "RuntimeError: first"
    assert blame(KeyError(), None) == "KeyError"


def test_memory_that_is_short_is_named() -> None:
    assert first_line(MemoryError()) == "out of memory"


def test_torchscript_puts_the_reason_last() -> None:
    import torch

    scripted = torch.jit.script(torch.nn.Linear(3, 2))
    with pytest.raises(RuntimeError) as caught:
        scripted(torch.ones(1, 4))
    assert first_line(caught.value).startswith("mat1 and mat2 shapes cannot be multiplied")


def test_a_line_that_announces_another_is_joined_with_it() -> None:
    error = RuntimeError("backend='inductor' raised:\nInvalidCxxCompiler: none\nmore")
    assert first_line(error) == "backend='inductor' raised: InvalidCxxCompiler: none"
