"""Whether the options that were asked for are in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from detaudit.judge.causes import name_some
from detaudit.record import TargetRecord
from detaudit.report import Finding

_TORCH = ("threads", "inter_threads", "deterministic", "matmul", "compile", "autocast")
_TF32 = ("cuda_matmul", "cudnn_conv", "cudnn_rnn")


def observe_options(target: TargetRecord) -> Iterator[Finding]:
    """Findings on the options of a target that ran to its end.

    Args:
        target: what happened on it

    """
    if target.status != "ok":
        return
    own = _observe_torch if target.target.backend == "torch" else _observe_ort
    yield from own(target)


def _observe_ort(target: TargetRecord) -> Iterator[Finding]:
    name = target.target.name
    given = dict(target.target.options)
    if "inter_threads" in given and given.get("execution") != "parallel":
        message = "inter_threads has no effect while execution is sequential."
        yield Finding("info", "moot-option", name, None, message)
    asked = [key for key in given if key.startswith("config.")]
    in_force = target.effective.get("provider_options", {}).get(target.target.provider, {})
    for key, value in target.target.provider_options.items():
        if key == "precision":
            continue  # Told by the bits, below.
        if key not in in_force:
            asked.append(key)
        elif str(in_force[key]).lower() != value.lower():
            message = f"{key}={value} was asked for, but the session has {key}={in_force[key]}."
            yield Finding("warning", "not-in-force", name, None, message)
    if asked:
        message = (
            f"{name_some(asked)}: handed to ONNX Runtime, which does not tell whether it knows the"
            " key; only a difference in the results proves that it acts."
        )
        yield Finding("info", "unconfirmed-option", name, None, message)
    if "precision" in target.effective:
        message = f"Computed in {target.effective['precision']}."
        yield Finding("info", "precision", name, None, message)
    if len(target.placement) > 1:
        parts = ", ".join(f"{nodes} on {provider}" for provider, nodes in target.placement.items())
        yield Finding("info", "mixed-placement", name, None, f"Nodes ran on: {parts}.")


def _observe_torch(target: TargetRecord) -> Iterator[Finding]:
    name, effective = target.target.name, target.effective
    for key in _TORCH:
        asked = target.target.option(key)
        # Torch does not tell some of them once others were set.
        known = effective.get(key) is not None or (key == "autocast" and key in effective)
        if asked is not None and known and _write(effective[key]) != asked:
            message = f"{key}={asked} was asked for, but torch has {key}={_write(effective[key])}."
            yield Finding("warning", "not-in-force", name, None, message)
    dtype, types = target.target.option("dtype"), effective.get("dtypes")
    if dtype and types and dtype not in types:
        message = f"dtype={dtype} was asked for, but the weights are {', '.join(types)}."
        yield Finding("warning", "not-in-force", name, None, message)
    yield from _observe_tf32(target)
    if target.target.family == "cuda":
        yield from _observe_cublas(name, effective.get("cublas_workspace") or {})
    if len(target.placement) > 1:
        parts = ", ".join(f"{count} on {device}" for device, count in target.placement.items())
        yield Finding("info", "mixed-placement", name, None, f"Weights lie on: {parts}.")


def _observe_tf32(target: TargetRecord) -> Iterator[Finding]:
    name, asked = target.target.name, target.target.option("tf32")
    if asked is None:
        return
    if target.target.family != "cuda":
        message = f"tf32 has no effect on {target.target.device}."
        yield Finding("info", "moot-option", name, None, message)
        return
    flags = target.effective.get("flags", {})
    told = [key for key in _TF32 if key in flags]
    others = [f"{key} {flags[key]}" for key in told if (flags[key] == "tf32") != (asked == "1")]
    if others:
        message = f"tf32={asked} was asked for, but torch has: {', '.join(others)}."
        yield Finding("warning", "not-in-force", name, None, message)


def _observe_cublas(name: str, workspace: Mapping[str, Any]) -> Iterator[Finding]:
    if workspace.get("usual") is False:
        message = (
            f"CUBLAS_WORKSPACE_CONFIG={workspace['value']} is set: cuBLAS is known to repeat itself"
            " with :4096:8 and :16:8 only."
        )
        yield Finding("warning", "cublas-workspace", name, None, message)
    if workspace.get("too_late"):
        message = (
            "CUBLAS_WORKSPACE_CONFIG was set when CUDA had already started, and cuBLAS may not have"
            " read it: set it in the environment, or with env.CUBLAS_WORKSPACE_CONFIG=:4096:8."
        )
        yield Finding("warning", "cublas-workspace", name, None, message)


def _write(value: Any) -> str:
    """Value in the form that options are given in."""
    return "none" if value is None else str(int(value) if isinstance(value, bool) else value)
