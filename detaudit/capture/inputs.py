"""The inputs of an audit: the same bytes for every target, made on demand."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detaudit.capture.batch import batch_axes, batch_outputs, find_batch
from detaudit.capture.fill import Fill, Surroundings, fill_usual
from detaudit.capture.given import Given, read_given
from detaudit.capture.placing import Placed, make_pins, place_arrays, settle_rate
from detaudit.capture.remarks import find_remarks
from detaudit.capture.shapes import parse_shapes
from detaudit.capture.signal import guess_signal
from detaudit.capture.signature import SIGNAL, Entry, fed_inputs, name_axes
from detaudit.capture.sizes import choose_sizes
from detaudit.capture.values import fill_asked
from detaudit.errors import UsageError
from detaudit.models.model import Model
from detaudit.record import InputFacts
from detaudit.seeding import stream
from detaudit.spec import InputSpec
from detaudit.worker.feeds import hash_bytes

Array = NDArray[Any]

_LARGEST = 2**40


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of every sample.

    Attributes:
        seed: seed of the streams that values are drawn from
        count: number of samples
        source: where the values come from, in words, such as ``normal(0, 1)``
        sampling_rate: samples per second of what is taken as a signal, None when nothing is
        sizes: size of every open axis; one without a name is called such as ``x[1]``
        notes: remarks for the user, one line each
        batch_axes: input name to the open axis that counts the items of a batch, empty when
            the batch size is fixed
        batch_outputs: the same for outputs
        entries: inputs in feeding order
        shapes: shape of each input
        fills: how each input is filled

    """

    seed: int
    count: int
    source: str
    sampling_rate: int | None
    sizes: Mapping[str, int]
    notes: tuple[str, ...]
    batch_axes: Mapping[str, int]
    batch_outputs: Mapping[str, int]
    entries: tuple[Entry, ...]
    shapes: Mapping[str, tuple[int, ...]]
    fills: Mapping[str, Fill]

    def sample(self, index: int) -> Mapping[str, Array]:
        """Inputs of one sample, the same at every call.

        Args:
            index: number of the sample, from 0

        Returns:
            read-only arrays in feeding order, text as ``numpy.str_``

        Raises:
            IndexError: if there is no such sample

        """
        if not 0 <= index < self.count:
            raise IndexError(f"sample {index} of {self.count}")
        return MappingProxyType({e.name: self.sample_input(index, e) for e in self.entries})

    def sample_input(self, index: int, entry: Entry) -> Array:
        """One input of one sample, read-only."""
        # A stream of its own: another input or sample changes nothing here.
        array = self.fills[entry.name].make(stream(self.seed, f"inputs/{index}/{entry.name}"))
        array.flags.writeable = False
        return array


def make_inputs(model: Model, spec: InputSpec, *, equal_sizes: int | None = None) -> Inputs:
    """Choose sizes and contents of all inputs.

    Args:
        model: what is to be fed
        spec: where the inputs come from
        equal_sizes: size of all open axes that neither the user nor a file settles, for models
            that object to sizes chosen one by one

    Returns:
        the inputs

    Raises:
        UsageError: if what is asked for does not fit the model, or a file cannot be used
        ModelError: if an input is of a type that no array can hold

    Examples:
        >>> from detaudit.models.model import TensorInfo
        >>> model = Model(Path("m.onnx"), "onnx", "", 0, Path("m.onnx"), None,
        ...     inputs=(TensorInfo("mels", "float32", ("batch", 40, "frames")),), outputs=())
        >>> inputs = make_inputs(model, InputSpec(shapes=(("frames", "160"),)))
        >>> inputs.sample(0)["mels"].shape, inputs.source
        ((1, 40, 160), 'normal(0, 1)')

    """
    given = read_given(model, spec)
    asked = parse_shapes(spec.shapes)
    entries = _list_entries(model, given, asked)
    batch = frozenset() if model.transform else find_batch(entries)
    rate = settle_rate(spec, given)
    arrays = place_arrays(model, entries, batch, given)
    pins = make_pins(entries, asked, arrays)
    signal = guess_signal(entries, batch)
    sizes = choose_sizes(
        entries,
        pins,
        batch=batch,
        limits=dict(model.length_limits),
        signal=signal,
        samples=signal.samples(spec.duration, rate) if signal else 0,
        duration=spec.duration,
        equal=equal_sizes,
    )
    shapes = {
        entry.name: tuple(sizes[axis] if isinstance(axis, str) else axis for axis in entry.axes)
        for entry in entries
    }
    for entry in entries:
        _check_memory(entry, shapes[entry.name])
    ranges = {bounds.input: bounds for bounds in model.id_ranges if not model.transform}
    around = Surroundings(entries, shapes, batch, ranges, rate)
    fills = {entry.name: _choose_fill(entry, around, arrays, given) for entry in entries}
    axes = batch_axes(entries, batch)
    return Inputs(
        seed=spec.seed,
        count=spec.samples,
        source=", ".join(dict.fromkeys(fill.source for fill in fills.values())) or "no inputs",
        sampling_rate=rate if model.transform or signal or given.sound else None,
        sizes=sizes,
        notes=find_remarks(model, spec, entries, batch, sizes, pins, fills, given.sound),
        batch_axes=MappingProxyType(dict(axes)),
        batch_outputs=MappingProxyType(dict(batch_outputs(model.outputs, batch, axes))),
        entries=entries,
        shapes=MappingProxyType(shapes),
        fills=MappingProxyType(fills),
    )


def write_inputs(
    inputs: Inputs, folder: Path
) -> tuple[tuple[InputFacts, ...], str, list[dict[str, dict[str, str]]]]:
    """Write all samples as ``.npy`` files, what is the same in all samples once.

    Args:
        inputs: the inputs
        folder: existing, empty folder

    Returns:
        facts of every input of every sample; SHA-256 over their numbers, names, types, shapes
        and digests in order; per sample ``{"files": {name: path}, "digests": {name: sha256}}``

    Raises:
        OSError: if there is no room

    """
    facts: list[InputFacts] = []
    samples: list[dict[str, dict[str, str]]] = []
    shared: dict[str, tuple[str, InputFacts]] = {}
    for index in range(inputs.count):
        files: dict[str, str] = {}
        digests: dict[str, str] = {}
        for position, entry in enumerate(inputs.entries):
            if entry.name in shared:
                path, fact = shared[entry.name]
            else:
                array = inputs.sample_input(index, entry)
                path = str(folder / f"{index}-{position}.npy")
                np.save(path, array, allow_pickle=False)
                fill = inputs.fills[entry.name]
                dtype = "string" if array.dtype.kind == "U" else array.dtype.name
                fact = InputFacts(
                    index, entry.name, dtype, array.shape, hash_bytes(array), fill.source
                )
                if fill.constant:
                    shared[entry.name] = path, fact
            facts.append(replace(fact, sample=index))
            files[entry.name], digests[entry.name] = path, fact.sha256
        samples.append({"files": files, "digests": digests})
    total = hashlib.sha256()
    for fact in facts:
        line = [fact.sample, fact.name, fact.dtype, fact.shape, fact.sha256]
        total.update(json.dumps(line).encode() + b"\n")
    return tuple(facts), total.hexdigest(), samples


def _list_entries(
    model: Model, given: Given, asked: Mapping[str, tuple[int, ...]]
) -> tuple[Entry, ...]:
    # Whoever gives an optional input a shape wants it fed.
    infos = fed_inputs(model, {*given.arrays, *given.words, *asked})
    ranks = {name: array.ndim for name, (array, _) in given.arrays.items()}
    ranks = {**{name: len(shape) for name, shape in asked.items()}, **ranks}
    if model.transform and given.sound:
        ranks[SIGNAL] = 1 if len(given.sound.signal) == 1 else 2
    if model.transform and ranks.get(SIGNAL) == 2:
        infos = (replace(infos[0], shape=("channels", "samples")),)
    return name_axes(infos, ranks)


def _choose_fill(
    entry: Entry, around: Surroundings, arrays: Mapping[str, Placed], given: Given
) -> Fill:
    name = entry.name
    bounds = around.ranges.get(name)
    if name in arrays:
        return arrays[name].fill(bounds)
    if name in given.words:
        return fill_asked(entry, given.words[name], around.shapes[name], bounds)
    return fill_usual(entry, around)


def _check_memory(entry: Entry, shape: tuple[int, ...]) -> None:
    size = math.prod(shape) * (32 if entry.dtype == "string" else np.dtype(entry.dtype).itemsize)
    if size > _LARGEST:
        raise UsageError(
            f"input {entry.text} of shape {'x'.join(map(str, shape))} would take"
            f" {size / 2**30:.0f} GiB"
        )
