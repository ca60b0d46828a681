"""Opening a model: from what the user names to what is known before it runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from detaudit.errors import ModelError, UsageError
from detaudit.models import describe, external
from detaudit.models.archive import list_names, unpack
from detaudit.models.audonnx import THREADS, Package, read_package
from detaudit.models.content import find_existing, one_line, recognise
from detaudit.models.folder import Place, find_model
from detaudit.models.graph_file import read_graph
from detaudit.models.labels import Given, assign_labels, read_labels
from detaudit.models.model import Labels, Model, TensorInfo
from detaudit.models.random_ops import find_random_ops
from detaudit.models.ranges import find_ranges
from detaudit.models.scores import find_score_outputs, find_squashed_outputs
from detaudit.models.torch_files import is_torch_archive
from detaudit.models.widen import save_beside, widen

if TYPE_CHECKING:
    import onnx


def open_model(
    path: str | os.PathLike[str],
    *,
    work: Path,
    trust: bool = False,
    labels: Given | None = None,
) -> Model:
    """Open a model without running it, nor any code that it brings.

    Args:
        path: ONNX file, audonnx folder (or the ``model.yaml`` in it), folder with one ONNX
            file, or zip archive of any of these; recognised by content, not by name
        work: existing temporary folder of the caller's, for unpacked and rewritten files; the
            model can be run as long as it exists
        trust: whether a model may bring Python code that turns the signal into its input
        labels: names of output values, for the only output or per output, in the place of the
            model's own; as text: names divided by commas, or a file

    Returns:
        what is known of the model

    Raises:
        UsageError: if the path does not exist or the labels do not fit
        ModelError: if there is no model or more than one, if it is damaged, unsafe, needs
            trust that it is not given, or could not run in any installed runtime

    """
    path = find_existing(path)
    place = _locate(path, work)
    shown = str(path) if place.graph == path else f"{path}: {place.graph.name}"
    package = read_package(place.root, str(path)) if place.root else None
    graph = package.graph if package else place.graph
    if package and package.transforms and not trust:
        code = ", ".join(package.transforms)
        raise ModelError(
            f"{path}: turns the signal into its input by Python code ({code}), which loading it "
            "would run; if you trust where it comes from, add --trust"
        )
    proto, graph_digest = read_graph(graph, shown)
    parts = external.find_parts(proto, graph, shown)
    model = _describe(proto, path, place, graph)
    if place.unpacked:
        size, sha256 = path.stat().st_size, external.digest_file(path)
    else:
        beside = {**parts, **(package.parts if package else {})}
        model = replace(model, parts=(graph, *map(Path, beside.values())))
        size, sha256 = _measured(graph, graph_digest, beside)
    model = replace(
        model,
        sha256=sha256,
        size=size,
        labels=_labels(proto, model.outputs, package, labels, path),
        threads=THREADS if package else None,
        transform=bool(package and package.transforms),
    )
    return _runnable(model, proto, parts, work)


def _locate(path: Path, work: Path) -> Place:
    """Find where the model lies, unpacking it if need be."""
    if path.is_dir():
        return find_model(path, path)
    kind = recognise(path)
    if kind == "yaml":
        if path.name != "model.yaml":
            raise ModelError(f"{path}: audonnx loads a description only as model.yaml")
        return Place(path.parent, path.parent / "model.onnx")
    if kind == "onnx":
        return Place(None, path)
    if kind != "zip" or is_torch_archive(list_names(path)):
        raise ModelError(f"{path}: is a file of torch and no ONNX or audonnx model")
    return replace(find_model(unpack(path, work), path), unpacked=True)


def _describe(proto: onnx.ModelProto, path: Path, place: Place, graph: Path) -> Model:
    """Collect what the graph says of itself."""
    inputs, outputs = describe.signature(proto)
    ranges, lengths = find_ranges(proto, tuple(value.name for value in inputs))
    producer = f"{proto.producer_name} {proto.producer_version}".strip()
    return Model(
        path=path,
        format="audonnx" if place.root else "onnx",
        sha256="",
        size=0,
        graph=graph,
        root=place.root,
        inputs=inputs,
        outputs=outputs,
        random_ops=find_random_ops(proto),
        id_ranges=ranges,
        length_limits=lengths,
        score_outputs=find_score_outputs(proto),
        squashed_outputs=find_squashed_outputs(proto),
        ir_version=proto.ir_version,
        opsets=tuple((entry.domain, entry.version) for entry in proto.opset_import),
        producer=producer,
        low_precision=describe.computes_low(proto),
        quantised=describe.computes_in_integers(proto),
        nodes=len(proto.graph.node),
    )


def _labels(
    proto: onnx.ModelProto,
    outputs: tuple[TensorInfo, ...],
    package: Package | None,
    given: Given | None,
    path: Path,
) -> tuple[Labels, ...]:
    """Name output values by what the user gives, else by what the model says."""

    def inferred() -> dict[str, TensorInfo]:
        return {value.name: value for value in describe.inferred_outputs(proto)}

    wanted = read_labels(given) if given is not None else None
    if isinstance(wanted, Mapping):
        for name in wanted:
            if name not in {output.name for output in outputs}:
                known = ", ".join(one_line(output.name) for output in outputs)
                raise UsageError(f"labels: {path} has no output '{name}'; it has: {known}")
    own = package.labels if package else None
    try:
        return assign_labels(
            outputs, own if wanted is None else wanted, inferred, defaults=package is not None
        )
    except ValueError as error:
        if wanted is None:
            raise ModelError(f"{path}: {error}") from None
        raise UsageError(f"labels: {error}") from None


def _measured(graph: Path, graph_digest: str, beside: Mapping[str, Path]) -> tuple[int, str]:
    """Give size and digest of an ONNX file and the files that belong to it."""
    size = sum(part.stat().st_size for part in (graph, *beside.values()))
    return size, external.digest({graph.name: graph_digest, **beside}) if beside else graph_digest


def _runnable(model: Model, proto: onnx.ModelProto, parts: Mapping[str, Path], work: Path) -> Model:
    """Make sure that ONNX Runtime can load the file and that NumPy can hold its results."""
    widened = widen(proto)
    if widened:
        folder = Path(tempfile.mkdtemp(prefix="widened-", dir=work))
        return replace(model, graph=save_beside(proto, parts, folder), widened=widened)
    for graph in (model.graph, model.graph.resolve()):
        if external.loadable(graph, parts):
            return replace(model, graph=graph)
    folder = Path(tempfile.mkdtemp(prefix="staged-", dir=work))
    external.stage({model.graph.name: model.graph, **parts}, folder)
    return replace(model, graph=folder / model.graph.name)
