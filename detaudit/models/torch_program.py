"""Python hidden in the program of an exported model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

_OPERATORS = re.compile(
    r"torch\.ops\.[A-Za-z]\w*\.(?!__(?!i?(and|or|xor|lshift|rshift)__))\w+(\.[A-Za-z]\w*)?"
    r"|torch\.(_sym_|sym_)\w+"
    r"|_operator\.(?!attrgetter|itemgetter|methodcaller|call)[a-z]\w*"
    r"|math\.[a-z]\w*"
    r"|#.*"
)
_RESOLVED = ("torch", "_operator", "math")
"""What the names begin with that torch looks up; all others stay texts."""

_IMPORTING = ("default_factory_module", "__enum__")
"""Keys in the description of nested inputs and outputs whose values torch imports."""

_FUNCTIONS = ("abs", "ceiling", "floor", "max", "min", "pow", "round", "sqrt")
_METHODS = ("size", "stride", "storage_offset", "dim", "numel", "item")
_NODES = (
    ast.Expression,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.boolop,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
    ast.expr_context,
    ast.Subscript,
    ast.keyword,
)


def find_code(program: Any) -> str:
    """First piece of a program that does more than compute with sizes and tensors.

    Torch looks functions up by their name, and evaluates expressions for sizes as Python.

    Args:
        program: exported program as its JSON holds it

    Returns:
        the name or expression, empty where there is none

    Examples:
        >>> find_code({"nodes": [{"target": "torch.ops.aten.relu.default"}]})
        ''
        >>> find_code({"nodes": [{"target": "torch.os.system"}]})
        'torch.os.system'
        >>> find_code({"expr_str": "Mul(Symbol('s0', integer=True), Integer(2))"})
        ''
        >>> find_code({"guards_code": ["print(L['x'].size()[0])"]})
        "print(L['x'].size()[0])"

    """
    for key, text in _texts(program):
        if key == "target":
            code = text.startswith(_RESOLVED) and not _OPERATORS.fullmatch(text)
        elif key in ("expr_str", "guards_code"):
            code = not _computes(text)
        else:
            code = any(word in text for word in _IMPORTING)
        if code:
            return text
    return ""


def _texts(program: Any) -> Iterator[tuple[str, str]]:
    """All texts with the key that each stands under; keys of ranges are expressions."""
    waiting: list[tuple[str, Any]] = [("", program)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, list):
            waiting.extend((key, entry) for entry in value)
        elif isinstance(value, dict):
            if key == "range_constraints":
                yield from (("expr_str", symbol) for symbol in value)
            waiting.extend(value.items())


def _computes(text: str) -> bool:
    """Whether an expression does arithmetic on sizes and no more."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_is_plain(node) for node in ast.walk(tree))


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        # A text may be evaluated in its turn.
        return not isinstance(node.value, str) or bool(re.fullmatch(r"[\w.\- ]*", node.value))
    if isinstance(node, ast.Name):
        return "__" not in node.id
    if isinstance(node, ast.Attribute):
        return "__" not in node.attr
    if isinstance(node, ast.Call):
        return _is_known(node.func)
    return isinstance(node, _NODES)


def _is_known(called: ast.expr) -> bool:
    """Whether it is one of SymPy's classes, a function of numbers or a property of a tensor."""
    if isinstance(called, ast.Name):
        return called.id[0].isupper() or called.id in _FUNCTIONS
    if not isinstance(called, ast.Attribute):
        return False
    of_math = isinstance(called.value, ast.Name) and called.value.id == "math"
    return of_math or called.attr in _METHODS
