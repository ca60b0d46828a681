"""Torch models named as code: ``net.py:make`` or ``package.module:make``."""

from __future__ import annotations

import ast
import difflib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from detaudit.errors import UsageError
from detaudit.models.content import one_line

_NAME = r"[^\W\d]\w*"
_DOTTED = re.compile(rf"{_NAME}(\.{_NAME})*")
_PYTHON_FILE = re.compile(r"\.py(?=:|$)", re.IGNORECASE)
_MODULE = re.compile(rf"(?P<module>{_NAME}(?:\.{_NAME})*):(?P<rest>[^:/\\]+(?::.+)?)")
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Reference:
    """Code that builds a torch model.

    Attributes:
        file: absolute path of the Python file, None where a module is named
        module: name of the module, looked up by the process that runs it; None for a file
        attribute: what is called to get the model, with dots such as ``Net.build``
        checkpoint: absolute path of the weights that are loaded into it, None without

    """

    file: str | None
    module: str | None
    attribute: str
    checkpoint: str | None


def looks_like_reference(text: str) -> bool:
    """Tell whether a text is meant to name code, without looking whether there is any.

    Examples:
        >>> [looks_like_reference(text) for text in ("net.py", "nets:Tiny", "C:/model.onnx")]
        [True, True, False]

    """
    return bool(_PYTHON_FILE.search(text) or _MODULE.fullmatch(text))


def parse_reference(text: str) -> Reference | None:
    r"""Read what a user names as code, without running it.

    Args:
        text: ``path/to/file.py:make``, ``package.module:make``, either with ``:checkpoint.pth``

    Returns:
        the reference, None for what is no code: a file or folder whose whole name it is, or a
        text of another form

    Raises:
        UsageError: if the file or the checkpoint does not exist, or no factory is named

    Examples:
        >>> parse_reference("nets.small:Net.build")
        Reference(file=None, module='nets.small', attribute='Net.build', checkpoint=None)

    """
    path = Path(text)
    if _exists(path):
        if path.suffix.lower() == ".py" and path.is_file():
            raise UsageError(f"{path}: {_ask_for_factory(path)}")
        return None
    if splits := list(_split_file(text)):
        # Only where there is no such file can the first of several be meant.
        file, rest = next((split for split in splits if _exists(split[0])), splits[0])
        return _read_file_reference(file, rest)
    if found := _MODULE.fullmatch(text):
        return _read_module_reference(found["module"], found["rest"])
    return None


def _read_file_reference(file: Path, rest: str) -> Reference:
    shown = one_line(file)
    if not _exists(file):
        raise UsageError(f"{shown}: no such file{_suggest(file, '*.py')}")
    if file.is_dir():
        raise UsageError(f"{shown}: is a folder, not a Python file")
    if not rest.partition(":")[0]:
        raise UsageError(f"{shown}: {_ask_for_factory(file)}")
    attribute, checkpoint = _split_rest(rest, shown)
    return Reference(_absolute(file), None, attribute, checkpoint)


def _read_module_reference(module: str, rest: str) -> Reference:
    if Path(module).is_file():
        raise UsageError(f"{module}: is no Python file, and only code has '{one_line(rest)}'")
    attribute, checkpoint = _split_rest(rest, module)
    return Reference(None, module, attribute, checkpoint)


def _split_rest(rest: str, shown: str) -> tuple[str, str | None]:
    """Attribute, and absolute path of the checkpoint; both are checked."""
    attribute, colon, checkpoint = rest.partition(":")
    if not _DOTTED.fullmatch(attribute):
        raise UsageError(
            f"{shown}: '{one_line(attribute)}' is no name of a function or class; write it as "
            "net.py:make or net.py:Net.build"
        )
    if not colon:
        return attribute, None
    if not checkpoint:
        raise UsageError(f"{shown}:{attribute}: names no checkpoint after the last colon")
    path = Path(checkpoint)
    if not _exists(path):
        raise UsageError(f"{one_line(path)}: no such checkpoint{_suggest(path, '*')}")
    if path.is_dir():
        raise UsageError(f"{one_line(path)}: is a folder, not a checkpoint")
    return attribute, _absolute(path)


def _split_file(text: str) -> Iterator[tuple[Path, str]]:
    """Every way to take a beginning of the text for a Python file; a drive has a colon too."""
    for found in _PYTHON_FILE.finditer(text):
        yield Path(text[: found.end()]), text[found.end() + 1 :]


def _ask_for_factory(file: Path) -> str:
    """What to say where a file is named without what is to be called."""
    try:
        body = ast.parse(file.read_bytes()).body
    except SyntaxError as error:
        return f"is no valid Python, line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):
        return "is no valid Python"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    names = [node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    public = [name for name in names if not name.startswith("_")]
    if not public:
        return f"name what builds the model, as in {file.name}:make"
    shown = ", ".join(public[:_SHOWN]) + (", …" if len(public) > _SHOWN else "")
    return f"name what builds the model, as in {file.name}:{public[0]}; it defines: {shown}"


def _suggest(path: Path, pattern: str) -> str:
    """A file of nearly the same name beside it."""
    try:
        names = [other.name for other in path.parent.glob(pattern) if other.is_file()]
    except (OSError, ValueError):
        return ""
    close = difflib.get_close_matches(path.name, names, n=1)
    return f" (did you mean {one_line(path.with_name(close[0]))}?)" if close else ""


def _exists(path: Path) -> bool:
    try:
        return bool(str(path)) and path.exists()
    except (OSError, ValueError):
        return False


def _absolute(path: Path) -> str:
    """Path that another process can use, links kept as the user wrote them."""
    return os.path.abspath(path)  # noqa: PTH100
