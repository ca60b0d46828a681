"""The exact inputs of an audit in a file, for another machine."""

from __future__ import annotations

import dataclasses
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from detaudit.capture.inputs import Inputs, make_inputs, write_inputs
from detaudit.capture.signal import RATE
from detaudit.errors import RecordError, UsageError
from detaudit.models.model import Model
from detaudit.placing import placed
from detaudit.record import InputFacts, Record
from detaudit.spec import InputSpec

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Time of every member, so that the same inputs make the same file."""


@dataclass(frozen=True, slots=True)
class Carried:
    """Inputs that were written and read back.

    Attributes:
        facts: every input of the sample
        sha256: digest over the inputs, as a record holds it
        options: what an audit of the file has to be told beside ``--input``
        notes: remarks on the inputs, one line each

    """

    facts: tuple[InputFacts, ...]
    sha256: str
    options: tuple[str, ...]
    notes: tuple[str, ...]


def carry_inputs(model: Model, spec: InputSpec, path: Path) -> Carried:
    """Write the inputs that an audit makes.

    Args:
        model: what is fed
        spec: where the inputs come from
        path: ``.npz`` file to write; one that was there stays where anything goes wrong

    Returns:
        what an audit with ``--input`` and this file reports too

    Raises:
        UsageError: if what is asked for does not fit the model, or no one file can hold it
        ModelError: if an input is of a type that no array can hold
        OSError: if it cannot be written

    """
    inputs = make_inputs(model, spec)
    return _write(model, spec, inputs, _summarise(inputs), path)


def carry_recorded(record: Record, path: Path) -> Carried:
    """Write the inputs of a record, made again and held to its digest.

    Args:
        record: what happened; neither its model nor its arrays are needed
        path: as for :func:`carry_inputs`

    Raises:
        UsageError: if a file that the inputs came from is missing, or no one file can hold them
        RecordError: if other inputs come out
        OSError: if it cannot be written

    """
    spec = record.spec.inputs
    # Sizes that the audit chose only after the model had objected to others.
    first = [fact for fact in record.inputs if fact.sample == 0 and all(fact.shape) and fact.shape]
    shapes = tuple((fact.name, "x".join(map(str, fact.shape))) for fact in first)
    for asked in (spec, dataclasses.replace(spec, shapes=shapes)):
        inputs = make_inputs(record.model, asked)
        told = _summarise(inputs)
        if told[1] == record.inputs_sha256:
            return _write(record.model, spec, inputs, told, path)
    raise RecordError(
        f"the inputs made again have the digest {told[1][:12]}… and those of the record"
        f" {record.inputs_sha256[:12]}…: a file that they came from was changed, or other versions"
        " made them; write them where the record was made"
    )


def _write(
    model: Model,
    spec: InputSpec,
    inputs: Inputs,
    told: tuple[tuple[InputFacts, ...], str],
    path: Path,
) -> Carried:
    if not inputs.entries:
        raise UsageError("the model has no inputs to write")
    if inputs.count > 1 and not all(inputs.fills[e.name].constant for e in inputs.entries):
        raise UsageError(
            f"a file holds one sample, and these are {inputs.count} that are made from the seed:"
            " give --seed and --samples there too, and compare the digests"
        )
    facts, sha256 = told
    options = []
    if inputs.sampling_rate not in (None, RATE):
        options += ["--sampling-rate", str(inputs.sampling_rate)]
    if inputs.count > 1:
        options += ["--samples", str(inputs.count)]
    with placed(path) as temporary:
        _save(inputs.sample(0), temporary)
        back = InputSpec(
            seed=spec.seed,
            samples=inputs.count,
            source=str(temporary),
            sampling_rate=inputs.sampling_rate,
        )
        if _summarise(make_inputs(model, back))[1] != sha256:
            raise UsageError("these inputs come back from a file as others, and are not written")
    return Carried(facts[: len(inputs.entries)], sha256, tuple(options), inputs.notes)


def _summarise(inputs: Inputs) -> tuple[tuple[InputFacts, ...], str]:
    with tempfile.TemporaryDirectory(prefix="detaudit-") as folder:
        facts, sha256, _ = write_inputs(inputs, Path(folder))
    return facts, sha256


def _save(arrays: Mapping[str, np.ndarray[Any, Any]], path: Path) -> None:
    # numpy.savez takes no array that is called file.
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy", _LONG_AGO)
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
