"""The command line that asks for an audit."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from detaudit.spec import AuditSpec
from detaudit.target import Target, with_variants


def write_command(spec: AuditSpec, explicit: Collection[str] = ()) -> str:
    """Command line that asks for the same audit, quoted for a POSIX shell.

    What is the default of a command is left out. Labels that hold a comma or an equals sign cannot
    be given on a command line and are left out too.

    Args:
        spec: what is asked
        explicit: options that are given even where they are the default, since a project has a
            default of its own

    Examples:
        >>> from detaudit.audit import plan_audit
        >>> write_command(plan_audit("m.onnx", "cpu,cpu[opt=off]", runs=3, require="decimals=3"))
        "detaudit m.onnx --device 'cpu,cpu[opt=off]' --runs 3 --require decimals=3"

    """
    words = ["detaudit", spec.model, *_choose_targets(spec.targets)]
    default = AuditSpec(spec.model, spec.targets)
    for name, value, usual in _numbers(spec, default):
        if value is not None and (value != usual or name in explicit):
            words += [f"--{name.replace('_', '-')}", str(value)]
    for option, text in _texts(spec):
        words += [option, text]
    flags = {
        "--no-seed": not spec.seeded,
        "--seed-runtime": spec.seed_runtime,
        "--eval": spec.evaluate,
        "--trust": spec.trust,
    }
    return shlex.join([*words, *(flag for flag, is_set in flags.items() if is_set)])


def _choose_targets(targets: Sequence[Target]) -> list[str]:
    """Targets, those left out that come with another one."""
    brought = {t for target in targets for t in with_variants([target]) if t != target}
    asked = [target for target in targets if target not in brought]
    if with_variants(asked) == tuple(targets):
        return ["--device", ",".join(target.name for target in asked)]
    return ["--device", ",".join(target.name for target in targets), "--variants", "none"]


def _numbers(spec: AuditSpec, default: AuditSpec) -> Iterator[tuple[str, Any, Any]]:
    """Name of an option, its value and its default."""
    for name in ("runs", "sessions", "processes", "timeout"):
        yield name, getattr(spec, name), getattr(default, name)
    for name in ("seed", "samples", "duration", "sampling_rate"):
        yield name, getattr(spec.inputs, name), getattr(default.inputs, name)
    for name in ("reference", "confidence"):
        yield name, getattr(spec.judging, name), getattr(default.judging, name)
    low, high = spec.judging.decimals
    usual_low, usual_high = default.judging.decimals
    yield "decimals", f"{low}-{high}", f"{usual_low}-{usual_high}"
    yield "require", spec.judging.requirement, None


def _texts(spec: AuditSpec) -> Iterator[tuple[str, str]]:
    """Options that may be given several times, in their order."""
    if spec.inputs.source is not None:
        yield "--input", spec.inputs.source
    yield from (("--input", f"{name}={value}") for name, value in spec.inputs.values)
    yield from (("--shape", f"{name}={size}") for name, size in spec.inputs.shapes)
    yield from (("--output", name) for name in spec.outputs)
    for name, labels in spec.judging.labels:
        if not any({",", "="} & set(label) for label in labels):
            yield "--labels", f"{name}={','.join(labels)}" if name else ",".join(labels)
    if spec.judging.classes is not None:
        chosen = [f"{name}:{axis}" for name, axis in spec.judging.classes]
        yield from (("--classes", text) for text in chosen or ["none"])
