"""What a torch model takes, told to the parent before any target runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from detaudit.worker.torch.building import Builder, Built
from detaudit.worker.torch.examples import find_examples, read_examples
from detaudit.worker.torch.exported import read_program
from detaudit.worker.torch.scripted import is_scripted, read_schema
from detaudit.worker.torch.signature import Signature, read_parameters


def describe_model(job: Mapping[str, Any], built: Built, builder: Builder) -> dict[str, Any]:
    """Entries of the message ``described``.

    Args:
        job: what the parent sent; of the inputs under ``shapes`` the user gives the shape
        built: the model
        builder: what built it

    Raises:
        Failed: if nothing tells how the model is called

    """
    import torch

    signature = _read(built, builder)
    given = job.get("shapes", ())
    inputs = [
        {**entry, "shape": None} if entry["name"] in given else entry for entry in signature.inputs
    ]
    return {
        "inputs": inputs,
        "limits": signature.limits,
        "call": signature.call,
        "outputs": signature.outputs,
        "sources": builder.sources,
        "versions": {"torch": str(torch.__version__)},
        "producer": f"torch {torch.__version__}",
    }


def _read(built: Built, builder: Builder) -> Signature:
    if built.program is not None:
        return read_program(built.program, built.model)
    examples = find_examples(built.owners, builder.code)
    if examples is not None:
        return read_examples(examples, built.model)
    if is_scripted(built.model):
        return read_schema(built.model)
    return read_parameters(built.model)
