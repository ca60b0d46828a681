"""``detaudit inputs MODEL``: the exact inputs of an audit, for another machine."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detaudit.cli.feeding import add_input_options, read_inputs, read_shapes
from detaudit.cli.parser import Parser, check_writable
from detaudit.errors import UsageError
from detaudit.project import read_project

if TYPE_CHECKING:
    from detaudit.capture.carrying import Carried

_DESCRIPTION = """\
Write the exact inputs that an audit feeds to MODEL, or those that RECORD was made with, to a
file that --input takes on another machine. Its digest is the one that the audit reports there.
"""
_EPILOG = """\
The inputs of a record are made again from what it tells, and held to its digest. A file holds one
sample; several are made from the seed on every machine.

exit codes:
  0 written    2 the command is wrong, or no one file can hold the inputs
  3 no valid or safe model, or the inputs of the record cannot be made again
"""
_INPUT_OPTIONS = ("input", "shape", "seed", "samples", "duration", "sampling_rate")


def main(arguments: Sequence[str]) -> int:
    """Write inputs, and say how another machine takes them.

    Args:
        arguments: what follows the command

    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if Path(options.save).suffix.lower() != ".npz":
        raise UsageError(f"--save {options.save} does not end in .npz")
    given, values = read_inputs(options.input)
    needed = [options.model, *([given] if given else []), *(t.lstrip("@") for _, t in values)]
    check_writable(needed, save=options.save)
    from detaudit.archive import is_record

    if is_record(options.model):
        for name in (*_INPUT_OPTIONS, "trust"):
            if getattr(options, name) != parser.get_default(name):
                option = name.replace("_", "-")
                raise UsageError(f"--{option}: a record tells its inputs, which nothing changes")
        model, carried = _carry_recorded(options)
    else:
        model, carried = options.model, _carry(options, given, dict(values))
    _tell(model, carried, options.save)
    return 0


def _parser() -> Parser:
    parser = Parser(prog="detaudit inputs", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("model", metavar="MODEL|RECORD", help="model, or file that --save wrote")
    parser.add_argument("--save", metavar="F.npz", required=True, help="file to write")
    add_input_options(parser.add_argument_group("inputs"))
    parser.add_argument(
        "--trust", action="store_true", help="let Python code that a model file brings run"
    )
    return parser


def _carry_recorded(options: Any) -> tuple[str, Carried]:
    from detaudit.archive import open_record
    from detaudit.capture.carrying import carry_recorded

    with open_record(options.model) as record:
        return str(record.model.path), carry_recorded(record, Path(options.save))


def _carry(options: Any, source: str | None, values: dict[str, str]) -> Carried:
    from dataclasses import replace

    from detaudit.audit import plan_audit
    from detaudit.capture.carrying import carry_inputs
    from detaudit.capture.opened import open_models

    project = read_project(Path.cwd())
    seed = options.seed if options.seed is not None else project.options.get("seed", 1)
    spec = plan_audit(
        options.model,
        "cpu",
        seed=seed,
        samples=options.samples,
        source=source,
        inputs=values,
        shapes=read_shapes(options.shape),
        duration=options.duration,
        sampling_rate=options.sampling_rate,
        trust=options.trust,
    )
    spec = replace(spec, writes=(options.save,))
    with tempfile.TemporaryDirectory(prefix="detaudit-") as work:
        model = open_models(spec, Path(work)).model
        return carry_inputs(model, spec.inputs, Path(options.save))


def _tell(model: str, carried: Carried, path: str) -> None:
    if sys.stdout is None:
        return
    for fact in carried.facts:
        shape = ", ".join(map(str, fact.shape))
        print(f"{fact.name}  {fact.dtype} [{shape}]  {fact.source}  sha256 {fact.sha256}")
    for note in carried.notes:
        print(f"note: {note}")
    print(f"written to {path}, digest over all inputs {carried.sha256}")
    print(
        "on the other machine: "
        + shlex.join(["detaudit", model, "--input", path, *carried.options])
    )
