"""The options of a target and what every one of them may hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from detaudit.errors import UsageError

_BOOLEANS = {"0": "0", "1": "1", "false": "0", "true": "1", "off": "0", "on": "1"}
_COUNT = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class Option:
    """What the value of an option may be, and the value it has when it is not given."""

    values: tuple[str, ...] = ()
    kind: str = "text"
    default: str | None = None
    least: int = 0

    def canonical(self, key: str, value: str) -> str:
        """Value in the form that names are built from; a UsageError when it is not allowed."""
        if self.kind == "switch":
            known = _BOOLEANS.get(value.lower())
            if known is None:
                raise UsageError(f"option {key}={value} is neither 0 nor 1")
            return known
        if self.kind == "count":
            if not _COUNT.fullmatch(value) or int(value) < self.least:
                least = f" of at least {self.least}" if self.least else ""
                raise UsageError(f"option {key}={value} is not a whole number{least}")
            return str(int(value))
        if self.values:
            wanted = value.lower()
            for known in self.values:
                if wanted == known.lower() or _BOOLEANS.get(wanted) == known:
                    return known
            raise UsageError(f"option {key}={value} is not one of: {', '.join(self.values)}")
        if not value:
            raise UsageError(f"option {key}= has no value")
        return value


_SWITCH_OFF = Option(kind="switch", default="0")
_SWITCH_ON = Option(kind="switch", default="1")
_NUMBER = Option(kind="count")
_POSITIVE = Option(kind="count", least=1)
TEXT = Option()

ANY_BACKEND: Mapping[str, Option] = {
    "batch": _POSITIVE,
    "model": TEXT,
    "python": TEXT,
}
SESSION: Mapping[str, Option] = {
    "threads": _NUMBER,
    "inter_threads": _NUMBER,
    "opt": Option(("off", "basic", "extended", "all"), default="all"),
    "execution": Option(("sequential", "parallel"), default="sequential"),
    "deterministic": _SWITCH_OFF,
    "mem_pattern": _SWITCH_ON,
}
_CUDA: Mapping[str, Option] = {
    "arena_extend_strategy": Option(("kNextPowerOfTwo", "kSameAsRequested")),
    "cudnn_conv1d_pad_to_nc1d": _SWITCH_OFF,
    "cudnn_conv_algo_search": Option(("EXHAUSTIVE", "HEURISTIC", "DEFAULT"), default="EXHAUSTIVE"),
    "cudnn_conv_use_max_workspace": _SWITCH_ON,
    "do_copy_in_default_stream": _SWITCH_ON,
    "enable_cuda_graph": _SWITCH_OFF,
    "enable_skip_layer_norm_strict_mode": _SWITCH_OFF,
    "fuse_conv_bias": _SWITCH_OFF,
    "gpu_mem_limit": _NUMBER,
    "prefer_nhwc": _SWITCH_OFF,
    "sdpa_kernel": _NUMBER,
    "tunable_op_enable": _SWITCH_OFF,
    "tunable_op_max_tuning_duration_ms": _NUMBER,
    "tunable_op_tuning_enable": _SWITCH_OFF,
    "use_ep_level_unified_stream": _SWITCH_OFF,
    "use_tf32": _SWITCH_ON,
}
_OPENVINO: Mapping[str, Option] = {
    "cache_dir": TEXT,
    "device_type": Option(default="CPU"),
    "disable_dynamic_shapes": _SWITCH_OFF,
    "enable_qdq_optimizer": _SWITCH_OFF,
    "load_config": TEXT,
    "num_of_threads": _NUMBER,
    "num_streams": _NUMBER,
    "precision": Option(("f32", "f16", "bf16")),
}
TORCH: Mapping[str, Option] = {
    "threads": _POSITIVE,
    "inter_threads": _POSITIVE,
    "deterministic": Option(("0", "1", "warn_only"), default="0"),
    "matmul": Option(("highest", "high", "medium"), default="highest"),
    "tf32": Option(kind="switch"),
    "compile": _SWITCH_OFF,
    "dtype": Option(("float32", "float64", "float16", "bfloat16")),
    "autocast": Option(("float16", "bfloat16")),
}
PROVIDER: Mapping[str, Mapping[str, Option]] = {
    "cpu": {},
    "cuda": _CUDA,
    "openvino": _OPENVINO,
}
