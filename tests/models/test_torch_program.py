"""Programs may compute with sizes and tensors, and nothing else."""

from __future__ import annotations

import pytest

from detaudit.models.torch_program import find_code


@pytest.mark.parametrize(
    "target",
    [
        "torch.ops.aten.relu.default",
        "torch.ops.aten._softmax.default",
        "torch.ops.aten.__rshift__.Scalar",
        "torch.ops.aten.__iand__.Tensor",
        "torch.ops.higher_order.cond",
        "torch.sym_max",
        "torch._sym_sqrt",
        "_operator.floordiv",
        "_operator.getitem",
        "math.floor",
        "#vendor:op",
        "l.weight",
        "",
    ],
)
def test_operators(target: str) -> None:
    assert find_code({"graph": {"nodes": [{"target": target, "inputs": []}]}}) == ""


@pytest.mark.parametrize(
    "target",
    [
        "torch.os.system",
        "torch.load",
        "torch.ops.load_library",
        "torch.ops.aten.__class__",
        "torch.ops.aten.relu.__globals__",
        "torch.ops.__class__.mro",
        "torch",
        "_operator.attrgetter",
        "_operator.methodcaller",
        "_operator.__name__",
        "_operator.call",
        "math.floor.__self__",
        "torch.ops.aten.relu.default\n",
    ],
)
def test_other_functions(target: str) -> None:
    assert find_code([{"nodes": [{"target": "l"}, {"target": target}]}]) == target


@pytest.mark.parametrize(
    "expression",
    [
        "s0",
        "Symbol('s77', positive=True, integer=True)",
        "Mul(Symbol('s0', integer=True), FloorDiv(Symbol('s0', integer=True), Integer(2)))",
        "-s0 + 2*s1 - 3",
        "s0/2 + 0.5",
        "L['x'].size()[0] <= 64",
        "(L['batch']['ids'].size()[0] // 2) != max(1, L['args'][0].stride()[1] % 3)",
        "Eq(s0, 3) & (s1 > 1)",
        "not (1 < L['x'].size()[0] and math.floor(2.5) == 2)",
        "L['mode'] == 'a b'",
    ],
)
def test_sizes(expression: str) -> None:
    for key in ("expr_str", "guards_code"):
        assert find_code({key: expression}) == ""
        assert find_code({key: ["s0", expression]}) == ""
    assert find_code({"range_constraints": {expression: {"min_val": 2}}}) == ""


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "exec(s0)",
        "chr(115)",
        "Max('__import__(1)')",
        "(lambda: 1)()",
        "[x for x in (1, 2)]",
        "().__class__",
        "L['x'].size.__globals__",
        "L['x'].data.tofile(s0)",
        "f'{s0}'",
        "s0 if s1 else s2",
        "(s0 := 1)",
        "s0\ns1",
        "x[",
        "L['\"); f(\"']",
        "1" + "+1" * 100_000,
    ],
)
def test_other_expressions(expression: str) -> None:
    assert find_code({"expr_str": "s0", "nodes": [{"expr_str": expression}]}) == expression
    assert find_code({"range_constraints": {expression: {}}}) == expression


@pytest.mark.parametrize("key", ["default_factory_module", "__enum__"])
def test_descriptions_that_import(key: str) -> None:
    text = f'[1, {{"context": "{{\\"{key}\\": \\"this\\"}}"}}]'
    assert find_code({"in_spec": text}) == text


@pytest.mark.parametrize("program", [None, 1, [], {}, {"target": None, "expr_str": 3}, [[["x"]]]])
def test_anything_else(program: object) -> None:
    assert find_code(program) == ""
