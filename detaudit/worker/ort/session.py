"""A session of ONNX Runtime as a target asks for it, and the proof of what it became."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from detaudit.worker.failures import Unavailable, logged_errors
from detaudit.worker.nvidia import describe_driver
from detaudit.worker.ort.install import describe_runtime, why_no_provider

_CPU = "CPUExecutionProvider"
_CUDA = "CUDAExecutionProvider"
_OPENVINO = "OpenVINOExecutionProvider"
_ASSIGNMENT = "session.record_ep_graph_assignment_info"
_LEVELS = {
    "off": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}


class Runtime:
    """ONNX Runtime in this process, set up for one target.

    Args:
        job: what the parent sent
        log: file behind stderr
        described: what ``describe_runtime`` says, where it was asked before

    Raises:
        Unavailable: if the device or provider cannot be had here

    """

    def __init__(
        self, job: Mapping[str, Any], log: Path, described: dict[str, Any] | None = None
    ) -> None:
        import onnxruntime

        self.module = onnxruntime
        self.target = job["target"]
        self.threads = job["threads"]
        self.provider: str = self.target["provider"]
        self.log = log
        self.described = described or describe_runtime(onnxruntime)
        self.hardware = ""
        self._plugin_devices: list[Any] = []
        if self.provider == _CUDA:
            self._prepare_cuda()
        elif self.provider == _OPENVINO:
            self._prepare_openvino()
        elif self.provider not in self.described["providers"]:
            raise Unavailable(why_no_provider(self.provider, self.described))

    def options(self, **extra: str) -> Any:
        """Session options of the target.

        Args:
            extra: further entries for the provider, over those of the target

        """
        ort = self.module
        asked = self.target["session_options"]
        options = ort.SessionOptions()
        threads = asked.get("threads", self.threads)
        if threads is not None:
            options.intra_op_num_threads = int(threads)
            options.inter_op_num_threads = int(asked.get("inter_threads", threads))
        elif "inter_threads" in asked:
            options.inter_op_num_threads = int(asked["inter_threads"])
        if "opt" in asked:
            level = getattr(ort.GraphOptimizationLevel, _LEVELS[asked["opt"]])
            options.graph_optimization_level = level
        if asked.get("execution") == "parallel":
            options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
        if asked.get("mem_pattern") == "0":
            options.enable_mem_pattern = False
        if asked.get("deterministic") == "1":
            options.use_deterministic_compute = True
        for key, value in asked.items():
            if key.startswith("config."):
                options.add_session_config_entry(key.removeprefix("config."), value)
        if self.reads_assignment:
            options.add_session_config_entry(_ASSIGNMENT, "1")
        if self._plugin_devices:
            options.add_provider_for_devices(self._plugin_devices, self._provider_options(extra))
        return options

    def providers(self, **extra: str) -> list[Any]:
        """Providers in the form that ``InferenceSession`` takes; empty for a plugin."""
        if self._plugin_devices:
            return []
        if self.provider == _CPU:
            return [_CPU]
        return [(self.provider, self._provider_options(extra)), _CPU]

    def open(self, graph: str, **extra: str) -> Any:
        """Fresh session of an ONNX file."""
        providers = self.providers(**extra)
        options = self.options(**extra)
        if providers:
            return self.module.InferenceSession(graph, options, providers=providers)
        return self.module.InferenceSession(graph, options)

    @property
    def reads_assignment(self) -> bool:
        """Whether the runtime tells which provider got which node."""
        return hasattr(self.module.InferenceSession, "get_provider_graph_assignment_info")

    def placement(self, session: Any) -> dict[str, int] | None:
        """Nodes per provider after optimisation, None when the runtime is too old to tell."""
        if not self.reads_assignment:
            return None
        count: Counter[str] = Counter()
        for part in session.get_provider_graph_assignment_info():
            count[part.ep_name] += len(part.get_nodes())
        return dict(count)

    def profile(self, graph: str, feeds: Mapping[str, Any], folder: Path) -> dict[str, int]:
        """Nodes per provider as the profile of one more session tells, for old runtimes."""
        options = self.options()
        options.enable_profiling = True
        options.profile_file_prefix = str(folder / "profile")
        session = self.module.InferenceSession(graph, options, providers=self.providers())
        session.run(None, dict(feeds))
        path = Path(session.end_profiling())
        placed = {
            (event["name"], event["args"]["provider"])
            for event in json.loads(path.read_text(encoding="utf-8"))
            if event.get("cat") == "Node" and event.get("args", {}).get("provider")
        }
        path.unlink()
        return dict(Counter(provider for _, provider in placed))

    def effective(self, session: Any) -> dict[str, Any]:
        """Options as the session reports them."""
        options = session.get_session_options()
        levels = {str(level).rpartition(".")[2]: name for name, level in _LEVELS.items()}
        level = str(options.graph_optimization_level).rpartition(".")[2]
        return {
            "threads": options.intra_op_num_threads or f"{_cores()} (runtime's choice)",
            "inter_threads": options.inter_op_num_threads,
            "opt": levels.get(level, level),
            "execution": str(options.execution_mode).rpartition("_")[2].lower(),
            "mem_pattern": options.enable_mem_pattern,
            "deterministic": options.use_deterministic_compute,
            "providers": list(session.get_providers()),
            "provider_options": session.get_provider_options(),
        }

    def check_ran(self, session: Any, placement: Mapping[str, int] | None) -> None:
        """Raise Unavailable when the session is not the one that was asked for."""
        created = session.get_providers()
        if self.provider not in created:
            errors = logged_errors(self.log)
            detail = f": {errors[-1]}" if errors else ""
            if self.provider == _CUDA and "error" in describe_driver():
                detail = f": {describe_driver()['error']}{detail.replace(': ', '; ', 1)}"
            raise Unavailable(
                f"{self.provider} could not be loaded, the session ran on"
                f" {', '.join(created)}{detail}"
            )
        if placement is not None:
            self.check_placed(placement)

    def check_known(self, placement: Mapping[str, int] | None) -> None:
        """Raise Unavailable when nothing tells where the nodes ran, unless the CPU was asked."""
        if placement is None and self.provider != _CPU:
            raise Unavailable(
                f"onnxruntime {self.module.__version__} does not tell which nodes ran on"
                f" {self.provider}; use 1.24 or newer for a model with a transform"
            )

    def check_placed(self, placement: Mapping[str, int]) -> None:
        """Raise Unavailable when the provider took no node, which the CPU need not."""
        if self.provider != _CPU and not placement.get(self.provider):
            total = sum(placement.values())
            raise Unavailable(
                f"{self.provider} was created but took none of the {total} nodes of the model"
            )

    def precision(self, graph: str, feeds: Mapping[str, Any]) -> str:
        """Precision that OpenVINO computes in, told by the bits of its results.

        What is asked for is not always what is done: on a processor without float16 arithmetic
        ``f16`` has the bits of ``bf16``.
        """

        def outcome(**extra: str) -> list[bytes]:
            values = self.open(graph, **extra).run(None, dict(feeds))
            return [value.tobytes() for value in values if hasattr(value, "tobytes")]

        asked = self.target["provider_options"].get("precision")
        mine = outcome()
        same = [name for name in ("f32", "bf16", "f16") if outcome(precision=name) == mine]
        if not same:
            return "a precision whose bits are none of those of f32, bf16 and f16"
        how = f"asked for {asked}" if asked else "the default"
        return f"{' or '.join(same)} ({how}; told by its bits)"

    def _provider_options(self, extra: Mapping[str, str]) -> dict[str, str]:
        options = {**self.target["provider_options"], **extra}
        if self.provider == _CUDA:
            options["device_id"] = str(self.target["index"])
        if self.provider == _OPENVINO:
            options.setdefault("device_type", "CPU")
            precision = options.pop("precision", None)
            if precision:
                config = json.loads(options.get("load_config", "{}"))
                hint = {"INFERENCE_PRECISION_HINT": precision}
                config.setdefault(options["device_type"], {}).update(hint)
                options["load_config"] = json.dumps(config)
            if self._plugin_devices:
                # The plugin is given its device, not the name of one.
                del options["device_type"]
        return options

    def _prepare_cuda(self) -> None:
        if _CUDA not in self.described["providers"]:
            raise Unavailable(why_no_provider(_CUDA, self.described))
        driver = describe_driver()
        devices = driver.get("devices", [])
        index = self.target["index"]
        if devices and index >= len(devices):
            known = ", ".join(f"cuda:{i}" for i in range(len(devices)))
            raise Unavailable(f"there is no cuda:{index}; this machine has {known}")
        self.described["nvidia"] = driver
        if devices:
            self.hardware = devices[index]["name"]
        if hasattr(self.module, "preload_dlls"):
            self.module.preload_dlls()

    def _prepare_openvino(self) -> None:
        if _OPENVINO in self.described["providers"]:
            return
        try:
            import onnxruntime_ep_openvino as plugin
        except ImportError:
            raise Unavailable(
                "neither the plugin onnxruntime-ep-openvino nor a build with"
                " OpenVINOExecutionProvider is installed; install detaudit[openvino]"
            ) from None
        if not hasattr(self.module, "register_execution_provider_library"):
            version = self.module.__version__
            raise Unavailable(f"onnxruntime {version} is too old for the OpenVINO plugin")
        self.module.register_execution_provider_library("detaudit", plugin.get_library_path())
        kind = self.target["provider_options"].get("device_type", "CPU")
        devices = [d for d in self.module.get_ep_devices() if d.ep_name == plugin.get_ep_name()]
        self._plugin_devices = [d for d in devices if d.device.type.name == kind]
        if not self._plugin_devices:
            offered = ", ".join(sorted({d.device.type.name for d in devices})) or "none"
            raise Unavailable(
                f"the OpenVINO plugin offers no {kind} device on this machine (offered: {offered});"
                " it accepts Intel processors only"
            )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
