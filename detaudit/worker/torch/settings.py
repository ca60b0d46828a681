"""Options of a target in force, and what torch says of them afterwards."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from detaudit.seeding import set_seeds
from detaudit.seeding.determinism import describe_cublas, switch_on
from detaudit.seeding.flags import read_flags
from detaudit.worker.torch.parts import find_weights

_MKLDNN = {"highest": "ieee", "high": "tf32", "medium": "bf16"}
_TWICE = ("flags", "float32_matmul_precision", "deterministic_algorithms", "warn_only")
"""Entries that others say as well."""

Options = Mapping[str, str]


def limit_threads(torch: Any, options: Options) -> None:
    """Set the numbers of threads; that between operations can be set once per process."""
    if "inter_threads" in options:
        torch.set_num_interop_threads(int(options["inter_threads"]))
    if "threads" in options:
        torch.set_num_threads(int(options["threads"]))


def set_precision(torch: Any, options: Options) -> None:
    """Set the arithmetic of float32, never by older and newer switches at once."""
    matmul, tf32 = options.get("matmul"), options.get("tf32")
    newer = hasattr(torch.backends.cuda.matmul, "fp32_precision")  # since torch 2.9
    if tf32 is None:
        if matmul is not None:
            torch.set_float32_matmul_precision(matmul)
    elif newer:
        kind = "tf32" if tf32 == "1" else "ieee"
        torch.backends.cuda.matmul.fp32_precision = kind
        torch.backends.cudnn.conv.fp32_precision = kind
        torch.backends.cudnn.rnn.fp32_precision = kind
        if matmul is not None:
            torch.backends.mkldnn.matmul.fp32_precision = _MKLDNN[matmul]
    else:
        if matmul is not None:
            torch.set_float32_matmul_precision(matmul)
        torch.backends.cuda.matmul.allow_tf32 = tf32 == "1"
        torch.backends.cudnn.allow_tf32 = tf32 == "1"


def put_back(torch: Any, dtype: Any, device: Any) -> None:
    """Put back the default type and device, so that no session begins with another one's."""
    torch.set_default_dtype(dtype)
    if torch.get_default_device() != device:
        # To name the CPU would have every function of torch looked at.
        torch.set_default_device(None if device.type == "cpu" else device)


def seed(torch: Any, job: Mapping[str, Any]) -> dict[str, Any]:
    """Seed all generators and set the deterministic mode, as the job says.

    Args:
        torch: the module
        job: what the parent sent

    Returns:
        record in the form of :func:`detaudit.seeding.set_seeds`, with None as the seed where
        nothing was seeded

    """
    mode = job["target"]["options"].get("deterministic", "0")
    if job["seeded"]:
        record = set_seeds(
            job["seed"], mode != "0", runtimes=job.get("seed_runtime", False), torch=True
        )
    else:
        if mode != "0":
            switch_on(torch)
        record = {
            "seed": None,
            "deterministic": mode != "0",
            "seeded": {},
            "not_seeded": [{"what": "every generator", "why": "no seed was wanted"}],
            "cublas_workspace": describe_cublas(),
            "versions": {"torch": str(torch.__version__)},
            "notes": [],
        }
    if mode == "warn_only":
        torch.use_deterministic_algorithms(True, warn_only=True)
    return {**record, "flags": read_flags(torch)}


def autocast(torch: Any, device: Any, options: Options) -> contextlib.AbstractContextManager[Any]:
    """Context of a call."""
    if "autocast" not in options:
        return contextlib.nullcontext()
    context: contextlib.AbstractContextManager[Any] = torch.autocast(
        device.type, getattr(torch, options["autocast"])
    )
    return context


def read_effective(torch: Any, model: Any, device: Any, options: Options) -> dict[str, Any]:
    """What is in force, as torch itself tells it.

    Args:
        torch: the module
        model: the model as it is called, before it is compiled
        device: ``torch.device`` of the target
        options: what was asked

    Returns:
        strict JSON

    """
    flags = read_flags(torch)
    with autocast(torch, device, options):
        on = torch.is_autocast_enabled(device.type)
        cast = str(torch.get_autocast_dtype(device.type)).removeprefix("torch.") if on else None
    types = Counter(str(t.dtype).removeprefix("torch.") for t in find_weights(model).values())
    effective: dict[str, Any] = {
        "threads": torch.get_num_threads(),
        "inter_threads": torch.get_num_interop_threads(),
        "deterministic": _name_mode(flags),
        "matmul": flags["float32_matmul_precision"],
        "compile": options.get("compile") == "1",
        "autocast": cast,
        "dtypes": dict(types),
        "training": getattr(model, "training", None),
        "grad": False,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "mkldnn": torch.backends.mkldnn.is_available(),
        "mkl": torch.backends.mkl.is_available(),
        "flags": flags,
        "cublas_workspace": describe_cublas(),
    }
    if hasattr(torch.backends.mkldnn, "matmul"):  # since torch 2.9
        effective["mkldnn_matmul"] = torch.backends.mkldnn.matmul.fp32_precision
    if device.type == "cuda":
        effective["cuda"] = _describe_cuda(torch, device)
    return effective


def compare_effective(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What the code of a model has changed since, one line each.

    Args:
        before: what :func:`read_effective` returned
        after: what it returned later

    """
    first, now = ({**told, **told["flags"]} for told in (before, after))
    return [
        f"{key} was {first[key]} when the model was loaded and is {now[key]} after the runs"
        for key in first
        if key not in _TWICE and first[key] != now[key]
    ]


def _name_mode(flags: Mapping[str, Any]) -> str:
    if not flags["deterministic_algorithms"]:
        return "0"
    return "warn_only" if flags["warn_only"] else "1"


def _describe_cuda(torch: Any, device: Any) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(device)
    return {
        "name": properties.name,
        "capability": f"{properties.major}.{properties.minor}",
        "multiprocessors": properties.multi_processor_count,
        "memory": properties.total_memory,
        "cudnn": torch.backends.cudnn.version(),
    }
