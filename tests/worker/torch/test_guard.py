from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detaudit.worker.failures import Failed
from detaudit.worker.torch.guard import check_program
from tests.worker.torch.archives import change_graph, export

pytestmark = pytest.mark.torch


def conv() -> Any:
    import torch

    class Conv(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv1d(1, 2, 5, 3)

        def forward(self, x: Any) -> Any:
            y = torch.nn.functional.interpolate(self.conv(x), scale_factor=1.5)
            y = y[..., : y.shape[-1] // 2 * 2].reshape(y.shape[0], 2, -1, 2).mean(-1)
            return y, x.shape[-1] * 2

    return Conv()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    import torch

    shapes = {"x": dict.fromkeys((0, 2), torch.export.Dim.AUTO)}
    folder = tmp_path_factory.mktemp("m")
    return export(folder, conv(), (torch.ones(2, 1, 400),), dynamic_shapes=shapes).read_bytes()


@pytest.fixture
def program(tmp_path: Path, exported: bytes) -> Path:
    file = tmp_path / "m.pt2"
    file.write_bytes(exported)
    return file


def with_expression(program: Path, text: str) -> None:
    def change(graph: dict[str, Any]) -> None:
        graph["tensor_values"]["x"]["sizes"][0] = {"as_expr": {"expr_str": text}}

    change_graph(program, change)


def test_what_torch_exports_passes(program: Path) -> None:
    check_program(program)


@pytest.mark.parametrize(
    "text",
    [
        "Symbol('s77', positive=True, integer=True)",
        "Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(-1))",
        "FloorDiv(Symbol('s0'), Integer(2))",
        "StrictGreaterThan(Symbol('u0', integer=True), Integer(0))",
        "math.trunc(1.5*torch.sym_float(L['x'].size()[2] // 3)) != 1",
        "-s0 + 2 if s0 > 3 else max(1, s0)",
    ],
)
def test_expressions_of_sizes_pass(program: Path, text: str) -> None:
    with_expression(program, text)
    check_program(program)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('x')",
        "eval('1')",
        "S('1')",
        "sympify('1')",
        "Symbol.__class__",
        "(lambda: 1)()",
        "[i for i in (1,)]",
        "open('x')",
        "torch.load('x')",
        "torch.os.system('x')",
        "Symbol('x').subs(1, 2)",
        "x := 3",
        "f'{1}'",
        "__builtins__",
        "import os",
        "(1).__class__",
        "getattr(x, 'y')",
    ],
)
def test_any_other_code_does_not(program: Path, text: str) -> None:
    with_expression(program, text)
    with pytest.raises(Failed, match="holds the expression"):
        check_program(program)


@pytest.mark.parametrize(
    ("target", "known"),
    [
        ("torch.ops.aten.linear.default", True),
        ("torch.ops.higher_order.cond", True),
        ("torch.sym_float", True),
        ("_operator.mul", True),
        ("math.floor", True),
        ("torch.load", False),
        ("torch.hub.load", False),
        ("torch.os.system", False),
        ("torch.ops.os.system.__class__", False),
        ("_operator.attrgetter.x", False),
        ("os.system", False),
    ],
)
def test_only_operators_may_be_called(program: Path, target: str, known: bool) -> None:
    def change(graph: dict[str, Any]) -> None:
        graph["nodes"][0]["target"] = target

    change_graph(program, change)
    if known:
        check_program(program)
    else:
        with pytest.raises(Failed, match=f"holds a call of {target}, which could run any code"):
            check_program(program)
