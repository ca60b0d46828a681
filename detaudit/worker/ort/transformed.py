"""An audonnx model whose own Python code turns a signal into the model's input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from detaudit.worker.failures import Unavailable
from detaudit.worker.ort.session import Runtime


class TransformedModel:
    """Model as ``audonnx.load`` makes it; loading it runs the code of its transform.

    Args:
        job: what the parent sent
        runtime: the set-up runtime of the target

    Raises:
        Unavailable: if audonnx is missing or cannot use the target's provider

    """

    def __init__(self, job: Mapping[str, Any], runtime: Runtime) -> None:
        try:
            import audonnx
        except ImportError as error:
            raise Unavailable(
                f"the model has a transform, and its loader is missing: {error};"
                " install detaudit[cpu]"
            ) from None
        providers = runtime.providers()
        if not providers:
            raise Unavailable("audonnx cannot hand a model to a provider plugin")
        try:
            self._model = audonnx.load(
                job["root"],
                device=providers,
                session_options=runtime.options(),
                auto_install=False,
            )
        except ModuleNotFoundError as error:
            raise Unavailable(
                f"the transform of the model needs the package '{error.name}',"
                " which is not installed for this target"
            ) from None
        self.session = self._model.sess
        self._names = list(job["outputs"])
        self._sampling_rate = job["sampling_rate"]

    def run(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        """Outputs for a signal.

        Args:
            feeds: ``{"signal": array [channels, samples] or [samples]}``

        """
        values = self._model(feeds["signal"], self._sampling_rate, outputs=self._names)
        return dict(values)
