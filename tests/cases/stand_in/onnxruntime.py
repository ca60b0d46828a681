"""What a worker sees of ONNX Runtime, for machines and mishaps that are not at hand.

A target gets it by ``env.PYTHONPATH`` and steers it by further variables. Every session gives
``x + step * draws``, where a draw is counted per session, per process or per call.
"""

import os
import signal
import time
from collections import Counter

import numpy as np

__version__ = "1.99.0"
_CALLS = Counter()


def _ask(name, default=""):
    return os.environ.get(f"STAND_IN_{name}", default)


def _list(name, default):
    return [item for item in _ask(name, default).split("+") if item]


class GraphOptimizationLevel:
    ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_ALL = range(4)


class ExecutionMode:
    ORT_SEQUENTIAL, ORT_PARALLEL = "ORT_SEQUENTIAL", "ORT_PARALLEL"


class SessionOptions:
    def __init__(self):
        self.intra_op_num_threads = self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.enable_mem_pattern, self.use_deterministic_compute = True, False
        self.enable_profiling = False

    def add_session_config_entry(self, key, value):
        pass


class _Part:
    def __init__(self, name, nodes):
        self.ep_name, self._nodes = name, nodes

    def get_nodes(self):
        return [None] * self._nodes


class InferenceSession:
    def __init__(self, graph, options, providers):
        _CALLS["sessions"] += 1
        if "refuse" in _ask("MISHAP"):
            raise RuntimeError(f"[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : {_ask('WORDS')}")
        self._options = options
        asked = [p if isinstance(p, tuple) else (p, {}) for p in providers]
        created = _list("CREATED", "+".join(name for name, _ in asked))
        self._given = {name: {k: str(v) for k, v in given.items()} for name, given in asked}
        self._given = {name: self._given.get(name, {}) for name in created}

    def get_providers(self):
        return list(self._given)

    def get_provider_options(self):
        return self._given

    def get_session_options(self):
        return self._options

    def get_provider_graph_assignment_info(self):
        placed = _list("PLACED", f"{next(iter(self._given))}:3")
        return [_Part(name, int(nodes)) for name, _, nodes in (p.partition(":") for p in placed)]

    def run(self, names, feeds):
        _CALLS["runs"] += 1
        mishap, _, call = _ask("MISHAP").partition(":")
        if _CALLS["runs"] == int(call or 1):
            if mishap == "raise":
                raise RuntimeError(f"[ONNXRuntimeError] : 1 : FAIL : {_ask('WORDS')}\nand more")
            if mishap in ("SIGKILL", "SIGSEGV", "SIGABRT"):
                os.kill(os.getpid(), getattr(signal, mishap))
            if mishap == "exit":
                print("the library gave up", flush=True)
                os._exit(7)
            if mishap == "hang":
                time.sleep(600)
        print("a library that writes to stdout")
        drawn = {"run": _CALLS["runs"], "session": _CALLS["sessions"], "": 0}[_ask("VARIES")]
        noise = np.float32(float(_ask("STEP", "1e-6")) * drawn)
        return [next(iter(feeds.values())) + noise for _ in names]


def get_available_providers():
    return _list("PROVIDERS", "CUDAExecutionProvider+CPUExecutionProvider")


def set_seed(seed):
    pass
