"""What in an exported program could run code while torch loads it."""

from __future__ import annotations

import ast
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from detaudit.worker.failures import Failed

_COMPILED = (".so", ".dll", ".dylib", ".o", ".cubin", ".cpp", ".pyd")
_EXPRESSIONS = ("expr_str", "guards_code")
"""Entries that torch evaluates as Python."""

_TARGET = re.compile(r"torch\.(?:ops\.|_?sym_)[\w.]*|(?:_operator|math)\.\w+")
_NODES = (
    *(ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Load),
    *(ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.Constant, ast.Name, ast.Call),
    *(ast.keyword, ast.Subscript, ast.Tuple, ast.List, ast.Attribute),
)
_METHODS = r"size|stride|dim|numel|storage_offset|trunc|ceil|floor|sqrt|log2?|exp|pow|_?sym_\w+"
_CALLS = re.compile(
    r"Symbol|Integer|Float|Rational|Eq|Ne|Lt|Le|Gt|Ge|And|Or|Not|Xor|Max|Min|Abs|Pow|Mul|Add"
    r"|floor|ceiling|Piecewise|ITE|(?:Python)?Mod|\w*Div|ModularIndexing|Where|Pow\w+|Float\w+"
    r"|Trunc\w+|Round\w+|ToFloat|FloorToInt|CeilToInt|Identity|LShift|RShift|Bitwise\w+|Opaque\w+"
    r"|(?:Strict)?(?:Greater|Less)Than|Equality|Unequality|ExprCondPair|Tuple|Infinity|oo"
    rf"|{_METHODS}|max|min|abs|int|float|bool|len|isinstance"
)
_ATTRIBUTES = re.compile(rf"{_METHODS}|shape|dtype|device")


def check_program(file: Path) -> None:
    """Raise Failed where a ``.pt2`` holds more than weights, a graph and plain expressions.

    Pickles are kept out when they are loaded; this finds compiled libraries, and entries of the
    graph that torch evaluates as Python or calls by their name.

    Args:
        file: a zip archive

    Raises:
        Failed: naming what could run code

    """
    with zipfile.ZipFile(file) as archive:
        # All entries, since of two with the same name torch may take the other one.
        for entry in archive.infolist():
            path = PurePosixPath(entry.filename)
            if path.suffix.lower() in _COMPILED:
                raise _unsafe(file, f"the compiled part {path.name}")
            if path.suffix.lower() == ".json":
                found = next(_find_code(_read_json(file, archive, entry)), None)
                if found:
                    raise _unsafe(file, found)


def _read_json(file: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    try:
        return json.loads(archive.read(entry))
    except Exception:
        name = PurePosixPath(entry.filename).name
        raise Failed(f"{file.name} is damaged: its part {name} is not what was written") from None


def _unsafe(file: Path, what: str) -> Failed:
    return Failed(
        f"{file.name} holds {what}, which could run any code;"
        " if you trust its source, allow it with --trust"
    )


def _find_code(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _find_code(item)
    elif isinstance(value, dict):
        target = value.get("target")
        if isinstance(target, str) and "inputs" in value and not _is_operator(target):
            yield f"a call of {target[:80]}"
        for key, item in value.items():
            if key in _EXPRESSIONS:
                texts = item if isinstance(item, list) else [item]
                yield from (f"the expression {t[:80]!r}" for t in texts if not _is_plain(t))
            else:
                yield from _find_code(item)


def _is_operator(target: str) -> bool:
    return bool(_TARGET.fullmatch(target)) and "__" not in target.replace("__and__", "")


def _is_plain(text: Any) -> bool:
    """Whether an expression computes sizes and nothing else."""
    if not isinstance(text, str):
        return False
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return all(map(_is_harmless, nodes))


def _is_harmless(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else None
        called = node.func.id if isinstance(node.func, ast.Name) else called
        return called is not None and bool(_CALLS.fullmatch(called))
    if isinstance(node, ast.Attribute):
        return bool(_ATTRIBUTES.fullmatch(node.attr))
    if isinstance(node, ast.Name):
        return "__" not in node.id
    return isinstance(node, _NODES)
