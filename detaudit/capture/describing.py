"""A torch model described by a worker process, since telling its inputs runs its code."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from detaudit.capture.given import Given, read_given
from detaudit.capture.launch import launch
from detaudit.capture.shapes import parse_shapes
from detaudit.capture.signature import UNKNOWN
from detaudit.errors import ModelError, UsageError
from detaudit.models.model import Format, IdRange, Model, TensorInfo
from detaudit.models.scores import named_like_scores
from detaudit.models.torch_files import measure_parts, read_torch_file
from detaudit.models.torch_reference import parse_reference
from detaudit.record import TargetRecord
from detaudit.spec import AuditSpec, InputSpec
from detaudit.target import Target

_FORMATS: Mapping[str, Format] = {
    "export": "torch.export",
    "script": "torchscript",
    "pickle": "torch pickle",
    "factory": "torch",
}


def describe_torch(text: str, spec: AuditSpec, targets: Sequence[Target]) -> Model:
    """Describe a torch model in the interpreter of the first target that can.

    Args:
        text: what the user names
        spec: the audit
        targets: whose interpreters and environments may be used, at least one

    Returns:
        what is known of the model; names of its outputs only where it is an exported program

    Raises:
        UsageError: if the model's code lacks what is named
        ModelError: if it cannot be built

    """
    recipe = _find_recipe(text, trust=spec.trust)
    for target in targets:
        told = _ask(recipe, spec, target)
        if told["event"] != "unavailable":
            break
    _check(text, told)
    sources = [Path(source) for source in told["sources"]]
    size, sha256 = measure_parts(sources)
    inputs = told["inputs"]
    return Model(
        path=Path(text),
        format=_FORMATS[recipe["kind"]],
        sha256=sha256,
        size=size,
        graph=Path(text),
        root=None,
        inputs=tuple(_declare(entry) for entry in inputs),
        outputs=tuple(TensorInfo(name, "", None) for name in told["outputs"]),
        id_ranges=tuple(
            IdRange(entry["name"], entry["low"], entry["high"], "values of the example inputs")
            for entry in inputs
            if entry["low"] is not None
        ),
        length_limits=tuple((axis, most) for axis, most, _ in told["limits"] if most is not None),
        producer=told["producer"],
        parts=tuple(sources),
        recipe={"model": recipe, "call": told["call"]},
    )


def learn_outputs(model: Model, record: TargetRecord) -> Model:
    """Model with the outputs that a target returned.

    Args:
        model: torch model, whose code alone does not tell them
        record: what happened on the target

    """
    outputs = tuple(
        TensorInfo(facts.path, facts.declared or facts.dtype, facts.shape)
        for facts in record.outputs
    )
    scores = tuple(info.name for info in outputs if named_like_scores(info.name))
    return dataclasses.replace(model, outputs=outputs, score_outputs=scores)


def _find_recipe(text: str, *, trust: bool) -> dict[str, Any]:
    """How a worker builds the model."""
    reference = parse_reference(text)
    if reference is not None:
        return {"kind": "factory", **dataclasses.asdict(reference)}
    file = {"file": text, "module": None, "attribute": None, "checkpoint": None}
    return {"kind": read_torch_file(Path(text), trust=trust), **file}


def _ask(recipe: Mapping[str, Any], spec: AuditSpec, target: Target) -> Mapping[str, Any]:
    job = {
        "describe": True,
        "model": recipe,
        "shapes": [name for name, _ in spec.inputs.shapes],
        "evaluate": spec.evaluate,
        "trust": spec.trust,
        "seeded": spec.seeded,
        "seed": spec.inputs.seed,
        "seed_runtime": spec.seed_runtime,
        "target": {"name": target.name, "device": "cpu", "options": {}},
    }
    with launch(target, spec.timeout) as worker:
        *_, (told, _) = worker.messages(job)
    return told


def _check(text: str, told: Mapping[str, Any]) -> None:
    if told["event"] == "described":
        return
    if told.get("misuse"):
        raise UsageError(told["reason"])
    # What the worker itself says names the model; what is said of a dead one does not.
    raise ModelError(told["reason"] if "misuse" in told else f"{text}: {told['reason']}")


def _declare(entry: Mapping[str, Any]) -> TensorInfo:
    shape, dtype = entry["shape"], entry["dtype"]
    return TensorInfo(
        entry["name"],
        dtype if entry["required"] else f"optional(tensor({dtype}))",
        None if shape is None else tuple(shape),
    )


def settle_inputs(model: Model, spec: InputSpec) -> Model:
    """Model whose inputs have the types and ranks that its code leaves to the user.

    Args:
        model: torch model
        spec: where the inputs come from

    Raises:
        UsageError: if nothing tells the shape of an input

    """
    given = read_given(model, spec)
    shaped = {*parse_shapes(spec.shapes), *given.arrays}
    lost = [
        info.name
        for info in model.inputs
        if info.shape is None
        and info.name not in shaped
        and (not info.dtype.startswith("optional(") or info.name in given.words)
    ]
    if lost and not given.sound:
        name = lost[0]
        own = ", or let the model have an attribute example_inputs" * (model.format == "torch")
        raise UsageError(
            f"{model.path}: nothing tells the shape of its input{'s' if len(lost) > 1 else ''}"
            f" {', '.join(lost)}; give --shape {name}=1x16000 or --input {name}=@FILE.npy{own}"
        )
    return dataclasses.replace(model, inputs=tuple(_settle(info, given) for info in model.inputs))


def _settle(info: TensorInfo, given: Given) -> TensorInfo:
    if info.dtype not in UNKNOWN:
        return info
    dtype = _guess_dtype(info.name, given)
    return dataclasses.replace(info, dtype=f"optional(tensor({dtype}))" if info.dtype else dtype)


def _guess_dtype(name: str, given: Given) -> str:
    """Type of an input that its code does not tell, by what the user gives for it."""
    if name in given.arrays:
        return given.arrays[name][0].dtype.name
    return "int64" if given.words.get(name, "").startswith("int:") else "float32"
