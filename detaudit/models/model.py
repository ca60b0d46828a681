"""What is known of a model before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from detaudit.models.backend import Backend

Format = Literal["onnx", "audonnx", "torch", "torch.export", "torchscript", "torch pickle"]
"""Kind of a model; plain ``torch`` is code that builds one."""

Dimension = int | str | None
"""An axis: its size, its name when the size is open, None when it has no name."""


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One input or output as the file declares it.

    Attributes:
        name: name in the graph
        dtype: ``float32``, ``int64``, ``bool``, ``string``, ``bfloat16``, …;
            for other types ONNX's own text, such as ``seq(map(string,tensor(float)))``
        shape: declared axes, ``()`` for a scalar, None when the rank is not declared

    """

    name: str
    dtype: str
    shape: tuple[Dimension, ...] | None


@dataclass(frozen=True, slots=True)
class RandomOp:
    """A node that draws random numbers.

    Attributes:
        op: operator type
        node: node name, or the name of its first output when it has none
        subgraph: where it lies, such as ``If_0/then_branch``; empty in the main graph
        seeded: whether the node has a ``seed`` attribute

    """

    op: str
    node: str
    subgraph: str
    seeded: bool


@dataclass(frozen=True, slots=True)
class IdRange:
    """Which integers an input may hold, as traced to the tables that it indexes.

    Attributes:
        input: name of the input
        low: smallest allowed value
        high: largest allowed value
        reason: what bounds it, such as ``indexes 'word_embeddings' [30522, 768]``

    """

    input: str
    low: int
    high: int
    reason: str


@dataclass(frozen=True, slots=True)
class Labels:
    """Names of the values along one axis of an output.

    Attributes:
        output: name of the output
        names: one name per value
        axis: axis of the output that they name, counted from the end (``-1`` is the last)

    """

    output: str
    names: tuple[str, ...]
    axis: int = -1


@dataclass(frozen=True, slots=True)
class Model:
    """A model that can be audited.

    Attributes:
        path: what the user named
        format: kind of the file
        sha256: digest of the model file (of the archive when it is one), hexadecimal; for
            several parts (external data, descriptions) the digest of what ``sha256sum`` prints
            for them in sorted order
        size: bytes of the archive, or of all parts
        graph: the ONNX file to run (inside the unpacked folder for an archive)
        root: the audonnx folder, None for a plain ONNX file
        inputs: what has to be fed, without weights that old files list among the inputs
        outputs: what comes back
        random_ops: nodes that draw random numbers, subgraphs and local functions included
        id_ranges: bounds of integer inputs
        length_limits: largest sizes of named axes that a position table allows
        score_outputs: outputs that hold class scores by their operator or name
            (the graph ends in a Softmax, or the name ends in scores, logits, probs, …)
        squashed_outputs: outputs whose values a Sigmoid brings into 0 to 1 one by one, so that
            they do not compete for being the class
        labels: names of output values
        threads: threads that the format's own loader uses, None for the runtime's default
        transform: whether Python code of the model turns the signal into the input
        ir_version: version of the ONNX format
        opsets: operator set version per domain, such as ``(("", 17),)``
        producer: tool that wrote the file
        low_precision: whether nodes compute in float16 or bfloat16
        quantised: whether nodes compute in integers (QLinear, QDQ, dynamic quantisation)
        nodes: number of nodes in the main graph
        widened: inputs and outputs of types that NumPy lacks, such as bfloat16; a Cast was
            put before or after each in ``graph``, so that they travel as float32, while
            ``inputs`` and ``outputs`` keep the declared type
        parts: files that a session reads where the user keeps them, none for an archive
        recipe: how a worker builds a torch model and calls it, as strict JSON

    """

    path: Path
    format: Format
    sha256: str
    size: int
    graph: Path
    root: Path | None
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    random_ops: tuple[RandomOp, ...] = ()
    id_ranges: tuple[IdRange, ...] = ()
    length_limits: tuple[tuple[str, int], ...] = ()
    score_outputs: tuple[str, ...] = ()
    squashed_outputs: tuple[str, ...] = ()
    labels: tuple[Labels, ...] = ()
    threads: int | None = None
    transform: bool = False
    ir_version: int = 0
    opsets: tuple[tuple[str, int], ...] = ()
    producer: str = ""
    low_precision: bool = False
    quantised: bool = False
    nodes: int = 0
    widened: tuple[str, ...] = ()
    parts: tuple[Path, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @property
    def backend(self) -> Backend:
        """Library that runs it."""
        return "torch" if self.format.startswith("torch") else "ort"
