from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detaudit.worker.failures import Failed, Misuse
from detaudit.worker.torch.factory import Factory

pytestmark = pytest.mark.torch

Write = Callable[..., Path]


def make(file: Path, attribute: str) -> Factory:
    return Factory({"file": str(file), "module": None, "attribute": attribute})


def from_module(module: str, attribute: str = "make") -> Factory:
    return Factory({"file": None, "module": module, "attribute": attribute})


NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
    def forward(self, x):
        return self.layer(x)
    @classmethod
    def build(cls):
        return cls()
"""


@pytest.mark.parametrize(
    ("attribute", "code"),
    [
        ("make", "def make():\n    return Net()"),
        ("Net", ""),
        ("Net.build", ""),
        ("make", "make = lambda size=3: Net()"),
        ("make", "import functools\nmake = functools.partial(Net)"),
        ("net", "net = Net()"),
        ("make", "def make():\n    return torch.jit.script(Net())"),
        ("make", "def make():\n    return torch.compile(Net())"),
    ],
)
def test_a_factory_a_class_or_a_model_gives_a_model(
    write: Write, attribute: str, code: str
) -> None:
    import torch

    model = make(write(f"{NET}\n{code}"), attribute).build()
    assert isinstance(model, torch.nn.Module)


def test_a_factory_may_return_a_function(write: Write) -> None:
    model = make(write("def make():\n    return lambda x: x + 1"), "make").build()
    assert model(1) == 2


def test_a_model_at_hand_is_copied_for_every_session(write: Write) -> None:
    factory = make(write(f"{NET}\nnet = Net()"), "net")
    first, second = factory.build(), factory.build()
    first.layer.weight.data.zero_()
    assert second.layer.weight.abs().sum() > 0


def test_the_code_is_imported_once(write: Write) -> None:
    code = "count = []\ncount.append(1)\ndef make():\n    count.append(2)\n    return count.copy"
    factory = make(write(code), "make")
    factory.build()
    assert factory.build()() == [1, 2, 2]


def test_the_code_runs_as_a_script_would(write: Write) -> None:
    write("size = 3", "parts.py")
    write("late = 4", "later.py")
    code = """
    import sys
    import parts
    from dataclasses import dataclass
    @dataclass
    class Settings:
        size: int = parts.size
    assert __name__ != "__main__" and sys.argv == [__file__]
    def make():
        import later
        return lambda: Settings().size + later.late
    """
    assert make(write(code), "make").build()() == 7


@pytest.mark.parametrize("name", ["numpy.py", "json.py", "colorsys.py", "detaudit.py"])
def test_a_file_hides_no_package_of_its_name(write: Write, name: str) -> None:
    loaded = sys.modules.get(name.removesuffix(".py"))
    assert make(write("def make():\n    return len", name), "make").build() is len
    assert sys.modules.get(name.removesuffix(".py")) is loaded


@pytest.mark.parametrize("name", ["net.py", "a net-2.py", "net.v2.py"])
def test_a_file_may_have_any_name(write: Write, name: str) -> None:
    assert make(write("def make():\n    return len", name), "make").build() is len


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_code_may_start_processes(write: Write, method: str) -> None:
    code = f"""
    import multiprocessing
    def double(x):
        return 2 * x
    def make():
        with multiprocessing.get_context("{method}").Pool(1) as pool:
            doubled = pool.map_async(double, [1, 2]).get(60)
        return lambda: doubled
    """
    assert make(write(code), "make").build()() == [2, 4]


def test_a_module_is_imported_from_where_the_command_runs(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("def make():\n    return len", "own_module_of_a_test.py")
    factory = from_module("own_module_of_a_test")
    assert factory.build() is len
    assert factory.code == tmp_path / "own_module_of_a_test.py"


def test_an_attribute_that_is_missing_is_told_with_what_there_is(write: Write) -> None:
    file = write(f"{NET}\nsize = 3\ndef make(): pass\ndef _own(): pass")
    told = "net.py has no 'mak'; it has: Net, make"
    with pytest.raises(Misuse, match=f"^{re.escape(told)}$"):
        make(file, "mak")
    with pytest.raises(Misuse, match=r"net.py has no 'Net.of'; it has"):
        make(file, "Net.of")
    with pytest.raises(Misuse, match=r"net.py:size is a int, which builds no model; it has: Net"):
        make(file, "size")
    with pytest.raises(Misuse, match="it has nothing that can be called"):
        make(write("", "empty.py"), "make")


def test_of_many_attributes_those_of_similar_names_are_told(write: Write) -> None:
    many = "".join(f"def part_{i}(): pass\n" for i in range(40))
    file = write(f"{many}def make_net(): pass\nmaker = make_net\n_make = make_net")
    with pytest.raises(Misuse, match=r"^net.py has no 'make'; it has: (\w+, ){8}…$") as caught:
        make(file, "make")
    assert "make_net, maker, part_" in str(caught.value)
    with pytest.raises(Misuse, match=r"it has: .*Linear, .*, …$"):
        from_module("torch.nn", "linear")


def test_a_file_or_module_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"^there is no file net.py$"):
        make(tmp_path / "net.py", "make")
    with pytest.raises(Misuse, match=r"^there is no module no_such_module$"):
        from_module("no_such_module.inner")
    with pytest.raises(Misuse, match=r"^there is no module json.no_such$"):
        from_module("json.no_such")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def make(): return 1 / 0", "net.py:make raised net.py:3: ZeroDivisionError: division by"),
        ("def make(): raise SystemExit(2)", "net.py:make raised net.py:3: SystemExit: 2"),
        ("def make(size, *, width): pass", "net.py:make needs arguments (size, width); a factory"),
        ("def make(): pass", "net.py:make returned None, and no model that can be called"),
        ("def make(): return {}", "net.py:make returned a dict, and no model that can be called"),
        ("def make(): return nn.Linear", "net.py:make returned a type, and no model that can be"),
        ("class make:\n    def of(self): pass", "net.py:make returned a make, and no model that"),
    ],
)
def test_a_factory_that_gives_no_model_is_told(write: Write, code: str, message: str) -> None:
    with pytest.raises(Failed, match=re.escape(message)):
        make(write(code), "make").build()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1 / 0", "net.py:3: ZeroDivisionError: division by zero"),
        ("import no_such_package", "net.py:3: ModuleNotFoundError: No module named 'no_such_pack"),
        ("def f(:", "net.py:3: SyntaxError: "),
        ("import sys; sys.exit('stop')", "net.py:3: SystemExit: stop"),
        (
            "from .parts import size",
            (
                "net.py:3: ImportError: attempted relative import with no known parent package;"
                " name the file as part of its package, as in package.net:make"
            ),
        ),
    ],
)
def test_code_that_cannot_be_imported_is_told(write: Write, code: str, message: str) -> None:
    expected = re.escape(f"importing the model's code failed: {message}")
    with pytest.raises(Failed, match=expected):
        make(write(code), "make")


def test_a_module_that_cannot_be_imported_is_told(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("import no_such_package", "broken_module_of_a_test.py")
    with pytest.raises(Failed, match=r"broken_module_of_a_test.py:3: ModuleNotFoundError"):
        from_module("broken_module_of_a_test")


def test_what_cannot_be_copied_is_taken_as_it_is(write: Write) -> None:
    code = """
    class Model:
        def __deepcopy__(self, memo):
            raise TypeError("no")
        def __call__(self, x):
            return x
    model = Model()
    """
    factory: Any = make(write(code), "model")
    assert factory.build() is factory.maker
