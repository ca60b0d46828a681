from __future__ import annotations

import pytest

from detaudit.story.places import find_caller, is_import, is_library, name_place, shorten
from tests.story.runs import FOLDER, unseeded

ENV = "/env/lib/python3.12/site-packages"
OWN = f"{FOLDER}/train.py"


@pytest.mark.parametrize(
    ("file", "name", "library"),
    [
        (OWN, "train.py", False),
        (f"{FOLDER}/package/a.py", "package/a.py", False),
        ("/home/mean/train.py", "/home/mean/train.py", False),
        (f"{ENV}/tgmm/gmm.py", "tgmm/gmm.py", True),
        (f"{FOLDER}/.venv/lib/python3.12/site-packages/tgmm/gmm.py", "tgmm/gmm.py", True),
        (f"{ENV}/a/site-packages/b.py", "b.py", True),
        ("/usr/lib/python3/dist-packages/x.py", "x.py", True),
        ("/usr/lib/python3.12/concurrent/futures/thread.py", "concurrent/futures/thread.py", True),
        (f"{FOLDER}/site-packages.py", "site-packages.py", False),
        (f"{FOLDER}/lib/python_code/x.py", "lib/python_code/x.py", False),
        ("<string>", "<string>", True),
        ("", "", True),
    ],
)
def test_files(file: str, name: str, library: bool) -> None:
    assert shorten(file, FOLDER) == name
    assert is_library(file) is library


def test_places() -> None:
    assert name_place(unseeded(3), FOLDER) == "train.py:3"
    assert name_place(unseeded(3, function="fit"), FOLDER) == "train.py:3 in fit"
    assert name_place(unseeded(0, file="", function=""), FOLDER) == ""


def test_the_line_that_led_to_a_library() -> None:
    outer, inner = (OWN, 30, "main"), (f"{ENV}/tgmm/base.py", 9, "fit")
    assert find_caller(unseeded(3, stack=(outer,))) is None
    assert find_caller(unseeded(3, file=f"{ENV}/x.py", stack=(inner, outer))) == outer
    assert find_caller(unseeded(3, file=f"{ENV}/x.py", stack=(inner,))) is None


def test_what_happens_while_a_library_is_imported() -> None:
    outer, module = (OWN, 1, "<module>"), (f"{ENV}/sympy/a.py", 9, "<module>")
    library = f"{ENV}/sympy/b.py"
    assert is_import(unseeded(3, file=library))
    assert is_import(unseeded(3, file=library, function="f", stack=(module, outer)))
    assert not is_import(unseeded(3, file=library, function="f", stack=(outer, module)))
    assert not is_import(unseeded(3, file=library, function="f"))
    assert not is_import(unseeded(3))
