"""A watched script is run as Python itself would run it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from detaudit.story import child

CHILD = Path(child.__file__).parent
ENTRY = CHILD / "__main__.py"

FACTS = """
import pickle, random, sys
class Own: pass
pickle.loads(pickle.dumps(Own()))
names = [name for name in sorted(globals()) if name not in ("Own",)]
spec = __spec__ and __spec__.name
print(__name__, __file__, __package__, spec, type(__loader__).__name__, __doc__, names)
print(sys.argv, sys.path, sys.flags.safe_path if sys.version_info >= (3, 11) else None)
print(sys.modules["__main__"].Own is Own, repr(__builtins__)[:20], sys.stdin.read())
"""
ENDINGS = {
    "error": "def f(): raise ValueError('bad')\nf()",
    "chained": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e",
    "during": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError('x')",
    "group": "raise SystemExit",
    "draw": "import random\nrandom.randint(3, 1)",
    "seed": "import numpy\ndef f(): numpy.random.seed(-1)\nf()",
    "generator": "import numpy\nnumpy.random.default_rng(-1)",
    "draw as a cause": (
        "import random\ntry:\n    random.randint(3, 1)\n"
        "except ValueError as e:\n    raise KeyError('x') from e"
    ),
    "draw in an exception": (
        "import random\ndef f():\n    try:\n        random.randint(3, 1)\n"
        "    finally:\n        1 / 0\nf()"
    ),
    "round": "a, b = ValueError(1), KeyError(2)\na.__context__ = b\nb.__cause__ = a\nraise a",
    "syntax": "x = = 1",
    "indent": "if True:\nx = 1",
    "import": "import not_there_at_all",
    "null": "import sys; sys.exit(0)",
    "number": "import sys; sys.exit(7)",
    "large": "import sys; sys.exit(300)",
    "text": "import sys; sys.exit('good bye')",
    "tuple": "import sys; sys.exit((1, 2))",
    "os": "import os; os._exit(5)",
    "abort": "import os; os.abort()",
    "interrupt": "raise KeyboardInterrupt",
    "hook": "import sys\nsys.excepthook = lambda *a: print(a[0].__name__, a[2].tb_lineno)\n1/0",
    "atexit": "import atexit\natexit.register(print, 'late')\nprint('now')\n1/0",
    "thread": (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(.2), print('thread'))).start()\nprint('end')"
    ),
    "thread error": "import threading\nthreading.Thread(target=lambda: 1/0).start()",
    "daemon": "import os\nos.closerange(3, 200)\nprint(os.dup(0))",
    "modules": "import random, sys\nsys.modules.clear()\nrandom.seed(3)",
    "closed": "import sys\nsys.stdout.close()\nsys.stderr.close()",
    "encoding": "# coding: latin-1\nprint(ascii('\\xe9'))",
    "future": "from __future__ import annotations\ndef f(x: y): ...\nprint(f.__annotations__)",
    "no future": "def f(x: int): ...\nprint(f.__annotations__)",
    "warning": "import warnings\nwarnings.warn('careful')",
}


def run(folder: Path, *command: str | Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        input="given",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return done.returncode, done.stdout, done.stderr


def assert_alike(folder: Path, *command: str, mode: str = "script") -> tuple[int, str, str]:
    plain = run(folder, *(["-m"] if mode == "module" else []), *command)
    log = folder / "log"
    log.touch()
    assert run(folder, ENTRY, log, mode, *command) == plain
    return plain


@pytest.mark.parametrize("place", ["x.py", "sub/x.py", "./sub/../x.py"])
def test_a_script_finds_what_it_always_finds(place: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / place).write_text(FACTS, "utf-8")
    code, output, _ = assert_alike(tmp_path, place, "--json", "-", "-m", "--", "x")
    assert code == 0
    assert "given" in output


def test_a_linked_script_searches_where_the_script_lies(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.py").write_text(FACTS, "utf-8")
    (tmp_path / "link.py").symlink_to(Path("sub") / "x.py")
    assert assert_alike(tmp_path, "link.py")[0] == 0


@pytest.mark.parametrize("name", ["alone", "package", "package.inner", "package.__main__"])
def test_a_module_finds_what_it_always_finds(name: str, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import sys; print(sys.argv)", "utf-8")
    for path in ("alone.py", "package/__main__.py", "package/inner.py"):
        (tmp_path / path).write_text(FACTS, "utf-8")
    assert assert_alike(tmp_path, name, "--json", mode="module")[0] == 0


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_script_ends_as_it_always_ends(ending: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(ENDINGS[ending], "latin-1")
    assert_alike(tmp_path, "x.py")


def test_a_package_that_fails_fails_as_always(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "__init__.py").touch()
    (tmp_path / "broken" / "__main__.py").write_text("def f():\n    1 / 0\nf()", "utf-8")
    log = tmp_path / "log"
    log.touch()
    _, _, plain = run(tmp_path, "-m", "broken")
    code, _, errors = run(tmp_path, ENTRY, log, "module", "broken")
    assert code == 1
    # Python shows the frames of its own module that ran it, too.
    first = plain.index(f'  File "{tmp_path}')
    assert errors == "Traceback (most recent call last):\n" + plain[first:]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no groups of exceptions")
def test_draws_in_a_group_of_exceptions_fail_as_always(tmp_path: Path) -> None:
    text = """
import random
found = []
for _ in range(2):
    try:
        random.randint(3, 1)
    except ValueError as error:
        found.append(error)
raise ExceptionGroup("draws", found)
"""
    (tmp_path / "x.py").write_text(text, "utf-8")
    assert assert_alike(tmp_path, "x.py")[0] == 1


def test_a_torch_that_cannot_be_imported_fails_as_always(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("def f():\n    1 / 0\nf()", "utf-8")
    (tmp_path / "x.py").write_text("import torch", "utf-8")
    assert assert_alike(tmp_path, "x.py")[0] == 1


def test_a_hook_that_was_deleted_hides_no_error(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("import sys\ndel sys.excepthook\nx", "utf-8")
    log = tmp_path / "log"
    log.touch()
    code, _, errors = run(tmp_path, ENTRY, log, "script", "x.py")
    assert code == 1
    assert errors.endswith("NameError: name 'x' is not defined\n")


@pytest.mark.parametrize("name", ["nothing", "package", "package.nothing", "x.py", "package."])
def test_there_is_no_such_module(name: str, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "x.py").touch()
    log = tmp_path / "log"
    log.touch()
    assert run(tmp_path, ENTRY, log, "module", name) == (2, "", "")
    assert "no module named" in log.read_text("ascii")


def test_a_script_may_use_detaudit_and_meets_the_one_that_watches(tmp_path: Path) -> None:
    text = "import detaudit.seeding; detaudit.set_seeds(3); print(detaudit.__file__)"
    (tmp_path / "x.py").write_text(text, "utf-8")
    log = tmp_path / "log"
    log.touch()
    code, output, errors = run(tmp_path, ENTRY, log, "script", "x.py")
    assert (code, errors) == (0, "")
    assert Path(output.strip()).parent == CHILD.parent.parent
    assert '"what":"set_seeds(3)"' in log.read_text("ascii")


def test_spawned_processes_find_the_script_and_not_the_watch(tmp_path: Path) -> None:
    text = """
import multiprocessing, random, sys
def work(n):
    return n, random.random.__module__, "detaudit" in sys.modules, __name__
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, range(2)))
"""
    (tmp_path / "x.py").write_text(text, "utf-8")
    assert_alike(tmp_path, "x.py")


def test_the_child_needs_numpy_and_the_seeding_core_only() -> None:
    found = set()
    for path in CHILD.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module or "")
    foreign = {name for name in found if name.split(".")[0] not in sys.stdlib_module_names}
    assert all(
        f"{name}.".startswith(("numpy.", "detaudit.seeding.", "detaudit.story.child."))
        for name in foreign
    )
