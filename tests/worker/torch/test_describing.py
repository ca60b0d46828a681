"""Signatures of models of every kind, as the message ``described`` has them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detaudit.worker.failures import Failed
from detaudit.worker.torch.backend import describe
from tests.worker.torch.archives import export
from tests.worker.torch.jobs import make_job

pytestmark = pytest.mark.torch

Write = Callable[..., Path]


def tell(reference: Path | str, **changes: Any) -> dict[str, Any]:
    told = describe(make_job(reference, describe=True, **changes))
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told


def rows(told: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(i["name"], i["dtype"], i["shape"], i["required"]) for i in told["inputs"]]


def describe_forward(write: Write, forward: str, more: str = "") -> dict[str, Any]:
    code = f"class Net(nn.Module):\n    {forward}\n        return x\n"
    return tell(f"{write(code + more)}:Net")


def test_parameters_of_forward_are_inputs_by_keyword(write: Write) -> None:
    import torch

    file = write("class Net(nn.Module):\n    def forward(self, x, mask=None): return x")
    assert tell(f"{file}:Net") == {
        "inputs": [
            {
                "name": "x",
                "dtype": "",
                "shape": None,
                "required": True,
                "low": None,
                "high": None,
            },
            {
                "name": "mask",
                "dtype": "",
                "shape": None,
                "required": False,
                "low": None,
                "high": None,
            },
        ],
        "limits": [],
        "call": {"args": [], "kwargs": {"x": {"input": "x"}, "mask": {"input": "mask"}}},
        "outputs": [],
        "sources": [str(file)],
        "versions": {"torch": torch.__version__},
        "producer": f"torch {torch.__version__}",
    }


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        ("def forward(self, x, scale=2.0, flag=False, mode='a'):", [("x", "", None, True)]),
        ("def forward(self, x, *rest, k=None, **more):", [
            ("x", "", None, True),
            ("k", "", None, False),
        ]),
        ("def forward(self, ids: torch.LongTensor, x: 'torch.FloatTensor | None' = None):", [
            ("ids", "int64", None, True),
            ("x", "float32", None, False),
        ]),
        ("def forward(self, x, flag: 'bool | None' = None):", [("x", "", None, True)]),
        ("def forward(self, x=torch.ones(2)):", [("x", "", None, False)]),
        ("def forward(self):\n        x = 1", []),
    ],
)  # fmt: skip
def test_what_can_be_a_tensor_is_an_input(write: Write, forward: str, expected: Any) -> None:
    assert rows(describe_forward(write, forward)) == expected


def test_parameters_by_position_only_are_called_so(write: Write) -> None:
    told = describe_forward(write, "def forward(self, x, /, y):")
    assert told["call"] == {"args": [{"input": "x"}], "kwargs": {"y": {"input": "y"}}}


def test_a_function_has_parameters_too(write: Write) -> None:
    file = write("def make():\n    return lambda a, b=None: a")
    assert [row[0] for row in rows(tell(f"{file}:make"))] == ["a", "b"]


def test_any_number_of_inputs_needs_examples(write: Write) -> None:
    with pytest.raises(
        Failed, match=r"the model takes \*x, which does not tell how many inputs; let"
    ):
        describe_forward(write, "def forward(self, *x):")
    file = write("make = lambda: type('Odd', (), {'__call__': dict.get})()")
    assert "inputs" in tell(f"{file}:make")


EXAMPLES = "class Net(nn.Module):\n    def forward(self, {}): return {}\n    example_inputs = {}\n"


@pytest.mark.parametrize(
    ("parameters", "examples", "expected", "call"),
    [
        ("x", "torch.ones(2, 3)", [("x", "float32", [2, 3], True)], {"args": [{"input": "x"}]}),
        (
            "x, y",
            "(torch.ones(2), torch.ones(1).double())",
            [("x", "float32", [2], True), ("y", "float64", [1], True)],
            {"args": [{"input": "x"}, {"input": "y"}]},
        ),
        (
            "x, y=None",
            "{'y': torch.tensor(1.0), 'x': torch.ones(2)}",
            [("y", "float32", [], True), ("x", "float32", [2], True)],
            {"kwargs": {"y": {"input": "y"}, "x": {"input": "x"}}},
        ),
        (
            "batch",
            "{'ids': torch.ones(1, 4), 'rest': [torch.ones(2), 3, None]}",
            [('batch["ids"]', "float32", [1, 4], True), ('batch["rest"][0]', "float32", [2], True)],
            {
                "args": [
                    {
                        "dict": {
                            "ids": {"input": 'batch["ids"]'},
                            "rest": {
                                "list": [
                                    {"input": 'batch["rest"][0]'},
                                    {"constant": 3},
                                    {"constant": None},
                                ]
                            },
                        }
                    }
                ]
            },
        ),
        (
            "*xs",
            "[torch.ones(1), True]",
            [("xs[0]", "float32", [1], True)],
            {"args": [{"input": "xs[0]"}, {"constant": True}]},
        ),
        (
            "x, states",
            "(torch.ones(1), (torch.ones(2), torch.ones(3)))",
            [
                ("x", "float32", [1], True),
                ("states[0]", "float32", [2], True),
                ("states[1]", "float32", [3], True),
            ],
            {
                "args": [
                    {"input": "x"},
                    {"tuple": [{"input": "states[0]"}, {"input": "states[1]"}]},
                ]
            },
        ),
        (
            "x",
            "torch.ones(2).bfloat16()",
            [("x", "float32", [2], True)],
            {"args": [{"input": "x", "dtype": "bfloat16"}]},
        ),
        (
            "x",
            "__import__('numpy').ones((2, 2), 'int16')",
            [("x", "int16", [2, 2], True)],
            {"args": [{"input": "x"}]},
        ),
        ("x", "lambda self: torch.ones(3)", [("x", "float32", [3], True)], None),
        ("**named", "{'a': torch.ones(1)}", [("a", "float32", [1], True)], None),
    ],
)
def test_examples_tell_types_shapes_and_structure(
    write: Write, parameters: str, examples: str, expected: Any, call: Any
) -> None:
    file = write(EXAMPLES.format(parameters, "None", examples))
    told = tell(f"{file}:Net")
    assert rows(told) == expected
    if call:
        assert told["call"] == {"args": [], "kwargs": {}, **call}


def test_integers_stay_within_the_values_of_the_example(write: Write) -> None:
    file = write(
        EXAMPLES.format("ids, mask", "ids", "(torch.tensor([[3, 17]]), torch.ones(2) > 0)")
    )
    ids, mask = tell(f"{file}:Net")["inputs"]
    assert (ids["dtype"], ids["low"], ids["high"]) == ("int64", 3, 17)
    assert (mask["dtype"], mask["low"], mask["high"]) == ("bool", None, None)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("kind", ["int", "uint"])
def test_integers_of_every_type_have_limits(write: Write, kind: str, bits: int) -> None:
    code = EXAMPLES.format("x", "x", f"torch.tensor([3, 100]).to(torch.{kind}{bits})")
    (row,) = tell(f"{write(code)}:Net")["inputs"]
    assert (row["dtype"], row["low"], row["high"]) == (f"{kind}{bits}", 3, 100)


def test_a_tensor_without_values_has_no_limits(write: Write) -> None:
    code = EXAMPLES.format("x", "x", "torch.ones(3, dtype=torch.int64, device='meta')")
    (row,) = tell(f"{write(code)}:Net")["inputs"]
    assert (row["dtype"], row["shape"], row["low"], row["high"]) == ("int64", [3], None, None)


@pytest.mark.parametrize(
    "where",
    [
        "make.example_inputs = torch.ones(2)",
        "example_inputs = torch.ones(2)",
        "def example_inputs():\n    return torch.ones(2)",
        "example_input_array = torch.ones(2)",
    ],
)
def test_examples_may_be_at_the_factory_or_in_the_file(write: Write, where: str) -> None:
    file = write(f"def make():\n    return lambda x: x\n{where}")
    assert rows(tell(f"{file}:make")) == [("x", "float32", [2], True)]


def test_the_shape_is_left_to_the_user_who_gives_it(write: Write) -> None:
    file = write(EXAMPLES.format("x, y", "x", "(torch.ones(2), torch.ones(3))"))
    told = tell(f"{file}:Net", shapes=["y", "batch"])
    assert rows(told) == [("x", "float32", [2], True), ("y", "float32", None, True)]


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ("{1, 2}", "the example input x is of the type set; it may be a tensor"),
        ("(torch.ones(1), torch.ones(1))", "there are more example inputs than the 1 that the mod"),
        ("lambda self: 1 / 0", "example_inputs raised net.py:5: ZeroDivisionError"),
        ("property(lambda self: 1 / 0)", "example_inputs raised net.py:5: ZeroDivisionError"),
        ("torch.ones(2).to_sparse()", "the example input x is a tensor of the kind sparse_coo"),
        (
            "[torch.eye(2).to_sparse_csr()]",
            "the example input x is a tensor of the kind sparse_csr",
        ),
        (
            "torch.nested.nested_tensor([torch.ones(2), torch.ones(1)])",
            "the example input x is a tensor of the kind nested, and inputs are dense",
        ),
        (
            "{'x': torch.ones(2), 'z': 1, 'y': 2}",
            "the example inputs name z, y, which the model does not take; it takes x",
        ),
    ],
)
def test_examples_that_cannot_be_used_are_told(write: Write, examples: str, message: str) -> None:
    with pytest.raises(Failed, match=message):
        tell(f"{write(EXAMPLES.format('x', 'x', examples))}:Net")


def net() -> Any:
    import torch

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 3)

        def forward(self, x: Any, n: int = 2, *, d: Any = None) -> Any:
            y = self.layer(x)
            return {"logits": y, "aux": [y * n, (d["a"],)]}

    return Net()


def test_a_program_tells_symbols_limits_structure_and_outputs(tmp_path: Path) -> None:
    import torch

    batch = torch.export.Dim("batch", min=2, max=64)
    shapes = {"x": {0: batch}, "n": None, "d": {"a": None}}
    args, named = (torch.ones(3, 4), 3), {"d": {"a": torch.ones(2).bfloat16()}}
    told = tell(export(tmp_path, net(), args, kwargs=named, dynamic_shapes=shapes))
    symbol = told["limits"][0][0]
    assert rows(told) == [
        ("x", "float32", [symbol, 4], True),
        ('d["a"]', "float32", [2], True),
    ]
    assert told["limits"] == [[symbol, 64, 2]]
    assert told["call"] == {
        "args": [{"input": "x"}, {"constant": 3}],
        "kwargs": {"d": {"dict": {"a": {"input": 'd["a"]', "dtype": "bfloat16"}}}},
    }
    assert told["outputs"] == ["logits", "aux[0]", "aux[1][0]"]


def test_a_size_that_follows_from_another_is_open(tmp_path: Path) -> None:
    import torch

    class Both(torch.nn.Module):
        def forward(self, a: Any, b: Any) -> Any:
            return torch.cat([a, b])

    half = torch.export.Dim("half", min=2)
    shapes = {"a": {0: half}, "b": {0: 2 * half}}
    told = tell(export(tmp_path, Both(), (torch.ones(5), torch.ones(10)), dynamic_shapes=shapes))
    ((symbol, largest, smallest),) = told["limits"]
    assert (largest, smallest) == (None, 2)
    assert [shape for _, _, shape, _ in rows(told)] == [[symbol], [None]]
    assert told["outputs"] == ["output"]


SCRIPT = """
from typing import Optional
def call({}) -> torch.Tensor:
    return x * n
make = lambda: torch.jit.script(call)
"""


def test_a_scripted_model_tells_its_tensors(write: Write) -> None:
    file = write(SCRIPT.format("x: torch.Tensor, y: Optional[torch.Tensor] = None, n: int = 3"))
    told = tell(f"{file}:make")
    assert rows(told) == [("x", "", None, True), ("y", "", None, False)]
    assert told["call"]["kwargs"] == {"x": {"input": "x"}, "y": {"input": "y"}}


def test_a_traced_model_tells_its_tensors(tmp_path: Path) -> None:
    import torch

    file = tmp_path / "m.pt"
    torch.jit.save(torch.jit.trace(torch.nn.Linear(4, 3), torch.ones(2, 4)), file)
    assert rows(tell(file)) == [("input", "", None, True)]


def test_a_scripted_model_with_a_required_number_needs_examples(write: Write) -> None:
    code = SCRIPT.format("x: torch.Tensor, n: int")
    file = write(code)
    with pytest.raises(Failed, match="argument n is of the type int and has no default; let the"):
        tell(f"{file}:make")
    file = write(code + "example_inputs = (torch.ones(2), 3)")
    assert tell(f"{file}:make")["call"]["args"][1] == {"constant": 3}


def test_a_pickled_model_is_described_like_its_code(tmp_path: Path) -> None:
    import torch

    file = tmp_path / "m.pkl"
    torch.save(torch.nn.Linear(4, 3), file)
    assert rows(tell(file, trust=True)) == [("input", "", None, True)]


def test_sources_name_the_code_and_the_checkpoint(write: Write, tmp_path: Path) -> None:
    import torch

    file = write("make = lambda: nn.Linear(2, 1)")
    checkpoint = tmp_path / "w.pth"
    torch.save(torch.nn.Linear(2, 1).state_dict(), checkpoint)
    assert tell(f"{file}:make:{checkpoint}")["sources"] == [str(file), str(checkpoint)]
