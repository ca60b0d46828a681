"""Models that the user's own code builds."""

from __future__ import annotations

import copy
import difflib
import functools
import importlib
import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from detaudit.worker.failures import Failed, Misuse
from detaudit.worker.torch.blame import blame

_MAKERS = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    functools.partial,
    type,
)
_PREFIX = "detaudit_model_"
_OFFERED = 8


class Factory:
    """What the user's code is asked for, imported once per process.

    Args:
        recipe: ``file`` or ``module``, and ``attribute``

    Attributes:
        module: the imported module
        code: its file, None where it has none
        maker: the attribute that was named

    Raises:
        Misuse: if the file, the module or the attribute does not exist
        Failed: if the code raises while it is imported, or what is named can build no model

    """

    def __init__(self, recipe: Mapping[str, Any]) -> None:
        self._attribute: str = recipe["attribute"]
        if recipe["file"]:
            self._name = Path(recipe["file"]).name
            self.module = _import_file(Path(recipe["file"]))
        else:
            self._name = recipe["module"]
            self.module = _import_module(recipe["module"])
        file = getattr(self.module, "__file__", None)
        self.code = Path(file) if file else None
        self.maker = self._follow()

    def build(self) -> Any:
        """Fresh model.

        Returns:
            what can be called: a module, a scripted one, a function

        Raises:
            Failed: if the factory raises, needs arguments or returns no model

        """
        if not isinstance(self.maker, _MAKERS):
            return _copy(self.maker)
        told = f"{self._name}:{self._attribute}"
        if missing := _needed(self.maker):
            raise Failed(
                f"{told} needs arguments ({', '.join(missing)}); a factory is called without any"
            )
        try:
            model = self.maker()
        except (Exception, SystemExit) as error:
            raise Failed(f"{told} raised {blame(error, self.code)}") from None
        if not callable(model) or isinstance(model, type):
            what = "None" if model is None else f"a {type(model).__name__}"
            raise Failed(f"{told} returned {what}, and no model that can be called")
        return model

    def _follow(self) -> Any:
        found: Any = self.module
        for step in self._attribute.split("."):
            if not hasattr(found, step):
                raise Misuse(
                    f"{self._name} has no '{self._attribute}'; {_offer(self.module, step)}"
                )
            found = getattr(found, step)
        if not callable(found):
            raise Misuse(
                f"{self._name}:{self._attribute} is a {type(found).__name__}, which builds no"
                f" model; {_offer(self.module, self._attribute)}"
            )
        return found


def _import_file(file: Path) -> types.ModuleType:
    if not file.is_file():
        raise Misuse(f"there is no file {file.name}")
    name = _name_module(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise Misuse(f"{file.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # As ``python file.py`` has it.
    sys.path.insert(0, str(file.parent))
    sys.argv[:] = [str(file)]
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        advice = ""
        if isinstance(error, ImportError) and "relative import" in str(error):
            advice = f"; name the file as part of its package, as in package.{file.stem}:make"
        raise Failed(f"importing the model's code failed: {blame(error, file)}{advice}") from None
    return module


def _name_module(file: Path) -> str:
    """Name by which processes that the code starts find it too, unless a package has that name."""
    name = file.stem
    taken = "." in name or name in sys.modules or importlib.util.find_spec(name) is not None
    return _PREFIX + name if taken else name


def _import_module(name: str) -> types.ModuleType:
    # As ``python -m`` has it.
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            raise Misuse(f"there is no module {error.name}") from None
        raise Failed(f"importing the model's code failed: {_blame_module(error, name)}") from None
    except (Exception, SystemExit) as error:
        raise Failed(f"importing the model's code failed: {_blame_module(error, name)}") from None


def _blame_module(error: BaseException, name: str) -> str:
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        spec = None
    return blame(error, Path(spec.origin) if spec and spec.origin else None)


def _needed(maker: Any) -> list[str]:
    """Parameters without a default; none where the signature cannot be told."""
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        one.name
        for one in parameters
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]


def _offer(module: types.ModuleType, wanted: str) -> str:
    """What a module defines that can be called: all of a few, of many what is spelt most alike."""
    inside = f"{module.__name__}."
    names = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and callable(value)
        and f"{getattr(value, '__module__', module.__name__)}.".startswith(inside)
    ]
    if not names:
        return "it has nothing that can be called"
    nearest = difflib.get_close_matches(wanted, names, _OFFERED, cutoff=0)
    return f"it has: {', '.join(sorted(nearest))}" + (", …" if len(names) > _OFFERED else "")


def _copy(model: Any) -> Any:
    """A copy per session, so that none begins with what another one has changed."""
    try:
        return copy.deepcopy(model)
    except Exception:
        return model
