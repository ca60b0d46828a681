"""Running a script or a module as Python itself would."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

_HERE = os.path.dirname(__file__) + os.sep  # noqa: PTH120
_WATCH = os.path.join(_HERE, "..", "..", "seeding", "watching", "")  # noqa: PTH118
_OWN = (_HERE, os.path.normpath(_WATCH) + os.sep)
_IMPORT = "<frozen importlib"


class NoModule(Exception):
    """There is no module of that name that could be run."""


def run_script(path: str, arguments: Sequence[str]) -> None:
    """Do what ``python path arguments`` does.

    Args:
        path: the script
        arguments: what follows it

    Raises:
        BaseException: whatever the script raises, its traceback without frames of ours

    """
    sys.argv[:] = [path, *arguments]
    _search_first(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120
    file = os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118 - as Python
    module = _become_main()
    loader = importlib.machinery.SourceFileLoader("__main__", file)
    module.__dict__.update(__file__=file, __loader__=loader, __cached__=None)
    with _OwnFramesHidden():
        exec(compile(Path(file).read_bytes(), file, "exec", dont_inherit=True), module.__dict__)


def run_module(name: str, arguments: Sequence[str]) -> None:
    """Do what ``python -m name arguments`` does.

    Args:
        name: module, or package with a ``__main__``
        arguments: what follows it

    Raises:
        NoModule: if there is none
        BaseException: whatever the module raises, its traceback without frames of ours

    """
    sys.argv[:] = ["-m", *arguments]
    _search_first(os.getcwd())  # noqa: PTH109 - a text, as Python has it
    with _OwnFramesHidden():
        spec, code = _find(name)
        sys.argv[0] = spec.origin or name
        module = _become_main()
        module.__dict__.update(
            __file__=spec.origin,
            __loader__=spec.loader,
            __cached__=spec.cached,
            __package__=spec.parent,
            __spec__=spec,
        )
        exec(code, module.__dict__)


def _find(name: str) -> tuple[importlib.machinery.ModuleSpec, CodeType]:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # a package on the way lacks something of its own
        raise NoModule(f"no module named {error.name}") from None
    except ValueError as error:  # such as a name that ends with a dot
        raise NoModule(f"no module named {name}: {error}") from None
    get_code: Callable[[str], CodeType | None] | None = getattr(
        spec and spec.loader, "get_code", None
    )
    code = get_code(spec.name) if spec is not None and get_code is not None else None
    if spec is None or code is None:
        raise NoModule(f"no module named {name} that can be run")
    return spec, code


def _search_first(folder: str) -> None:
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, folder)


def _become_main() -> ModuleType:
    """A new and empty ``__main__``, where pickles and child processes look for it."""
    own, module = sys.modules["__main__"], ModuleType("__main__")
    module.__dict__["__builtins__"] = sys.modules["builtins"]
    if "__annotations__" in vars(own):  # until Python 3.13
        module.__annotations__ = {}
    sys.modules["__main__"] = module
    return module


class _OwnFramesHidden:
    """Lets an exception leave as if the script had been started by Python itself.

    The interpreter shows the frames through which an exception passes, these here among them, so
    they are cut off at the last moment: when the exception is shown.
    """

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wrap the hook that shows exceptions, which may be the script's own by now."""
        if error is None or isinstance(error, (SystemExit, NoModule)):
            return
        show = getattr(sys, "excepthook", sys.__excepthook__)

        def show_script(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            hide_own(error)
            show(kind, error, error.__traceback__)

        sys.excepthook = show_script


def hide_own(error: BaseException) -> None:
    """Leave out frames of this package from the traceback of an exception, and of its causes."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = skip_own(one.__traceback__)
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def skip_own(trace: TracebackType | None) -> TracebackType | None:
    """Traceback without frames of this package, and without those that import for it."""
    kept: list[TracebackType] = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(_OWN):
            while kept and kept[-1].tb_frame.f_code.co_filename.startswith(_IMPORT):
                kept.pop()
        elif kept or not file.startswith(_IMPORT):
            kept.append(trace)
        trace = trace.tb_next
    for one, after in zip(kept, [*kept[1:], None], strict=False):
        one.tb_next = after
    return kept[0] if kept else None


def is_own(file: str) -> bool:
    """Whether a file belongs to what runs a script, or to what imports modules for it."""
    return file.startswith((_HERE, _IMPORT))
