"""A model of torch in one session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from detaudit.worker.failures import Failed, Unavailable
from detaudit.worker.feeds import Batch, Feeds
from detaudit.worker.leaves import Leaf
from detaudit.worker.torch import settings
from detaudit.worker.torch.alerts import collect_alerts, explain_alert, read_alert
from detaudit.worker.torch.blame import blame
from detaudit.worker.torch.building import Built
from detaudit.worker.torch.calling import Call
from detaudit.worker.torch.compiling import compile_model, has_compiled, is_compiler_error
from detaudit.worker.torch.outputs import list_tensors, walk_outputs
from detaudit.worker.torch.parts import find_modules, find_weights
from detaudit.worker.torch.weights import digest_weights, has_open_weights, join_digests


class TorchLive:
    """A model of torch, placed where the target asks for it.

    Calls are made under ``torch.no_grad()``, as one would for a result: unlike inference mode
    it leaves the kernels as they are, and a model that needs gradients inside may still ask for
    them.

    Args:
        job: what the parent sent
        built: the model
        device: ``torch.device`` to run on
        code: file of the user's code, None where there is none

    Raises:
        Failed: if the model cannot be brought to the device or type

    """

    def __init__(
        self, job: Mapping[str, Any], built: Built, device: Any, code: Path | None
    ) -> None:
        import torch

        self._torch = torch
        self._job = job
        self._device = device
        self._code = code
        self.asked: list[str] = job["outputs"]
        self._options: Mapping[str, str] = job["target"]["options"]
        self.notes = list(built.notes)
        self.model = built.model
        self.digests = digest_weights(self.model)
        self.weights = join_digests(self.digests)
        dtype = getattr(torch, self._options["dtype"]) if "dtype" in self._options else None
        self._place(dtype)
        if dtype is not None:
            self.digests = digest_weights(self.model)
        self._call = Call(job["call"], device, dtype)
        if has_open_weights(self.model):
            self._settle()
        self._called = self.model
        if self._options.get("compile") == "1":
            self._called = compile_model(self.model)
        self.effective = settings.read_effective(torch, self.model, device, self._options)
        self.placement = dict(Counter(str(t.device) for t in find_weights(self.model).values()))

    def _settle(self) -> None:
        """Let lazy modules draw their weights, which their first call does, and record these."""
        entry = self._job["inputs"][0]
        self.run_plain(Feeds(entry["files"], entry["digests"]).values)
        self.digests = digest_weights(self.model)
        self.weights = join_digests(self.digests)
        self.notes.append("one call before the first gave lazy modules their weights")

    def run(self, values: Mapping[str, Any]) -> Any:
        """What the model returns; the device is done with it."""
        return self._try(self._called, values)

    def run_plain(self, values: Mapping[str, Any]) -> Any:
        """What the model returns when it is not compiled."""
        return self._try(self.model, values)

    def find_changes(self, first: Mapping[str, Any]) -> list[str]:
        """What is not in force as it was, one line each.

        Args:
            first: what was in force in the first session

        """
        now = settings.read_effective(self._torch, self.model, self._device, self._options)
        notes = settings.compare_effective(first, now)
        if self._called is not self.model and not has_compiled():
            notes.append("torch.compile found nothing to compile: the model ran as it is")
        return notes

    def leaves(self, outputs: Any, feeds: Feeds | Batch) -> Iterator[Leaf]:
        """Arrays of the audited sample.

        Raises:
            Unavailable: if neither the model nor what it returned is on the device
            Failed: if it returned what cannot be compared
            Misuse: if it did not return an output that was asked for

        """
        self._check_placed(outputs)
        for leaf in walk_outputs(outputs, self.asked):
            if isinstance(feeds, Batch):
                axis = self._job["batch"]["outputs"].get(leaf.path, 0)
                array = feeds.own_rows(leaf.array, axis)
                yield Leaf(leaf.path, array, declared=leaf.declared)
            else:
                yield leaf

    def _try(self, model: Any, values: Mapping[str, Any]) -> Any:
        try:
            return self._run(model, values)
        except Failed:
            raise
        except (Exception, SystemExit) as error:
            if op := read_alert(str(error)):
                others = collect_alerts(lambda: self._run(self.model, values))
                raise Failed(explain_alert(op, others)) from None
            if is_compiler_error(error) and model is not self.model:
                # The compiler also tells what is wrong with the model, less plainly.
                self.run_plain(values)
                raise Failed(f"torch.compile failed: {blame(error, self._code)}") from None
            raise Failed(blame(error, self._code)) from None

    def _run(self, model: Any, values: Mapping[str, Any]) -> Any:
        args, named = self._call.build(values)
        context = settings.autocast(self._torch, self._device, self._options)
        with self._torch.no_grad(), context:
            outputs = model(*args, **named)
        if self._device.type == "cuda":
            self._torch.cuda.synchronize(self._device)
        elif self._device.type == "mps":
            self._torch.mps.synchronize()
        return outputs

    def _place(self, dtype: Any) -> None:
        for module in find_modules(self.model).values():
            try:
                module.to(self._device, dtype)
            except Exception as error:
                where = str(self._device) if dtype is None else f"{self._device}, {dtype}"
                raise Failed(
                    f"the model cannot be brought to {where}: {blame(error, self._code)}"
                ) from None

    def _check_placed(self, outputs: Any) -> None:
        if self._device.type == "cpu":
            return
        found = {t.device for t in find_weights(self.model).values()}
        found |= {t.device for t in list_tensors(outputs)}
        if not found:
            raise Unavailable(
                f"nothing tells that the model ran on {self._device}: it holds no weights and"
                " returned no tensors"
            )
        if self._device not in found:
            where = ", ".join(sorted(map(str, found)))
            raise Unavailable(f"the model ran on {where} and not on {self._device}")
