"""The model of a job, built anew for every session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from detaudit.worker.failures import Failed
from detaudit.worker.torch.blame import blame
from detaudit.worker.torch.checkpoint import load_checkpoint
from detaudit.worker.torch.factory import Factory
from detaudit.worker.torch.files import load_pickle, load_program, load_script
from detaudit.worker.torch.parts import find_modules

_PROGRAM_MODE = (
    "--eval has no effect: an exported program keeps the mode that it was exported in, since"
    " torch.export refuses eval()"
)
_NO_MODE = "--eval has no effect: the model is a {} without modules, which has no mode to switch"


@dataclass(frozen=True, slots=True)
class Built:
    """A model as the user's code or file gives it.

    Attributes:
        model: what is called
        owners: where example inputs may be found: the model, its factory, its file
        program: the exported program that the model was made from, None for any other model
        notes: what could not be done as asked, one line each

    """

    model: Any
    owners: tuple[Any, ...]
    program: Any = None
    notes: tuple[str, ...] = ()


class Builder:
    """Builds the model of a job; code is imported once per process.

    Args:
        job: what the parent sent
        device: ``torch.device`` of the target

    Attributes:
        code: file of the user's code, None where there is none or it was not imported yet
        sources: files that the model is made of

    """

    def __init__(self, job: Mapping[str, Any], device: Any) -> None:
        self._recipe = job["model"]
        self._evaluate = job["evaluate"]
        self._trust = job["trust"]
        self._device = device
        self._factory: Factory | None = None

    @property
    def code(self) -> Path | None:
        """File of the user's code, None where there is none or it was not imported yet."""
        return self._factory.code if self._factory else None

    @property
    def sources(self) -> list[str]:
        """Files that the model is made of."""
        found = [self._recipe["file"] or self.code, self._recipe["checkpoint"]]
        return [str(file) for file in found if file]

    def prepare(self) -> None:
        """Import the code of the model, unless that was done before.

        Raises:
            Misuse: if the command names what does not exist
            Failed: if the code raises

        """
        if self._recipe["kind"] == "factory":
            self._factory = self._factory or Factory(self._recipe)

    def build(self) -> Built:
        """Fresh model on the CPU, in the mode that its code leaves it in unless asked otherwise.

        Raises:
            Misuse: if the command names what does not exist
            Failed: if it cannot be built

        """
        built = self._make()
        _check_forward(built.model)
        if self._recipe["checkpoint"]:
            load_checkpoint(built.model, Path(self._recipe["checkpoint"]))
        return self._switch(built) if self._evaluate else built

    def _make(self) -> Built:
        self.prepare()
        kind = self._recipe["kind"]
        if self._factory is not None:
            model = self._factory.build()
            return Built(model, (model, self._factory.maker, self._factory.module))
        file = Path(self._recipe["file"])
        if kind == "export":
            program = load_program(file, trust=self._trust)
            if self._device.type != "cpu":
                program = _move(program, self._device)
            return Built(program.module(), (), program)
        if kind == "script":
            return Built(load_script(file, self._device), ())
        model = load_pickle(file, trust=self._trust)
        return Built(model, (model,))

    def _switch(self, built: Built) -> Built:
        """The model in evaluation mode."""
        if built.program is not None:
            note = _PROGRAM_MODE
        else:
            modules = find_modules(built.model)
            for module in modules.values():
                try:
                    module.eval()
                except Exception as error:
                    told = blame(error, self.code)
                    raise Failed(f"switching to evaluation mode raised {told}") from None
            if modules:
                return built
            note = _NO_MODE.format(type(built.model).__name__)
        return Built(built.model, built.owners, built.program, (*built.notes, note))


def _check_forward(model: Any) -> None:
    import torch

    if not isinstance(model, torch.nn.Module) or isinstance(model, torch.jit.ScriptModule):
        return
    # torch.compile puts the forward of its module on the object.
    if type(model).forward is torch.nn.Module.forward and "forward" not in vars(model):
        raise Failed(f"the model is a {type(model).__name__}, which has no forward to call")


def _move(program: Any, device: Any) -> Any:
    """Program whose constants are on a device too, which moving its module would leave behind."""
    from torch.export.passes import move_to_device_pass

    return move_to_device_pass(program, str(device))
