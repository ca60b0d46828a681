"""``detaudit MODEL``: the audit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from detaudit.cli.feeding import add_input_options, read_inputs, read_shapes
from detaudit.cli.parser import (
    Parser,
    add_judge_options,
    add_report_options,
    check_required,
    check_writable,
    read_classes,
    read_decimals,
    read_labels,
)

_DESCRIPTION = """\
Would this model give the same number again? Runs MODEL with the same input again and
again: within a session, in fresh sessions, in fresh processes, and on every device.
"""
_EPILOG = """\
targets:
  cpu  cuda:0  openvino  ep:<ProviderName>, for torch cpu  cuda:0  mps, with options in brackets:
  cpu[threads=4,opt=off]  cuda:0[cudnn_conv_algo_search=DEFAULT]  cpu[python=old/bin/python]
  cpu[matmul=medium]  cuda:0[deterministic=1]  cpu[model=export.onnx] for another form of MODEL

other commands:
  detaudit show RECORD    render a saved record again, in any format
  detaudit check RECORD   does a saved record meet a requirement? nothing is run
  detaudit compare A B    compare the records of several machines or versions
  detaudit inputs MODEL   write the exact inputs of an audit, for another machine
  detaudit demo           audit the model that comes with detaudit
  detaudit seeds SCRIPT   run a script, and tell whether it was really seeded

What is not given is taken from [tool.detaudit] in the project's pyproject.toml: require, device,
variants, runs, sessions, processes, seed, decimals, confidence, timeout.

exit codes:
  0 audited    1 a requirement is not met    2 the command is wrong
  3 something that was asked for could not be audited
"""


def main(arguments: Sequence[str], model: str | None = None, source: str | None = None) -> int:
    """Capture, save, judge and render as the arguments say.

    Args:
        arguments: what follows the command
        model: model to audit, None where the arguments name it
        source: file with the inputs, used when the arguments say nothing of inputs

    """
    options = _parser(model).parse_args(arguments)
    from pathlib import Path

    from detaudit.project import Project, read_project

    # The bundled model is none of the project's.
    project = read_project(Path.cwd()) if model is None else Project()
    model = model or options.model
    from dataclasses import replace

    from detaudit.audit import plan_audit
    from detaudit.cli.output import deliver, show_progress

    given, values = read_inputs(options.input)
    labels = [text.rpartition("=")[2] for text in options.labels or ()]
    needed = [model, given or model, *(text.removeprefix("@") for _, text in values), *labels]
    files = {name: getattr(options, name) for name in ("csv", "json", "junit", "save")}
    check_writable(needed, **files)
    settings = {**project.options, **_read_settings(options)}
    check_required(settings.get("require"), "--junit" if options.junit else None)
    spec = plan_audit(
        model,
        reference=options.reference,
        samples=options.samples,
        source=given or (None if values else source),
        inputs=dict(values),
        shapes=read_shapes(options.shape),
        duration=options.duration,
        sampling_rate=options.sampling_rate,
        labels=read_labels(options.labels),
        classes=read_classes(options.classes),
        outputs=options.output or (),
        seeded=not options.no_seed,
        seed_runtime=options.seed_runtime,
        evaluate=options.eval,
        trust=options.trust,
        **settings,
    )
    if options.require is None and "require" in settings:
        spec = replace(spec, judging=replace(spec.judging, origin=project.file))
    spec = replace(spec, writes=tuple(path for path in files.values() if path))
    from detaudit.capture.capture import capture

    with show_progress(quiet=options.no_progress or options.quiet) as progress:
        record = capture(spec, progress)
    # Not before: the libraries it needs are loaded while the first worker loads its own.
    from detaudit.archive import save_record
    from detaudit.judge.judge import judge

    save = partial(save_record, record, options.save) if options.save else None
    return deliver(judge(record), options, save)


def _parser(model: str | None) -> Parser:
    parser = Parser(
        prog="detaudit" if model is None else "detaudit demo",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    if model is None:
        parser.add_argument(
            "model",
            metavar="MODEL",
            help="ONNX file, audonnx folder or zip, exported program or TorchScript file of torch,"
            " or torch code: FILE.py:FACTORY[:CHECKPOINT], PACKAGE.MODULE:FACTORY[:CHECKPOINT]",
        )
    where = parser.add_argument_group("where and how often")
    where.add_argument(
        "--device",
        metavar="LIST",
        action="append",
        help="targets (default: the CPU and every CUDA device)",
    )
    where.add_argument(
        "--variants",
        choices=("standard", "none"),
        help="none: a CUDA device is audited only as asked",
    )
    for name, default, text in (
        ("runs", 10, "calls in each session"),
        ("sessions", 2, "fresh sessions in each process"),
        ("processes", 2, "fresh processes of each target"),
    ):
        where.add_argument(f"--{name}", metavar="N", type=int, help=f"{text} (default {default})")
    where.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        help="seconds that a worker may stay silent (default 300)",
    )
    where.add_argument(
        "--seed-runtime", action="store_true", help="seed ONNX Runtime's random numbers too"
    )
    where.add_argument(
        "--no-seed", action="store_true", help="do not seed before a torch model is built"
    )
    where.add_argument(
        "--eval", action="store_true", help="switch a torch model to evaluation mode"
    )
    where.add_argument(
        "--trust", action="store_true", help="let Python code that a model file brings run"
    )
    what = parser.add_argument_group("inputs and outputs")
    add_input_options(what)
    what.add_argument("--output", metavar="NAME", action="append", help="look at this output only")
    add_judge_options(parser)
    add_report_options(parser)
    parser.add_argument("--save", metavar="F.audit", help="save what happened")
    parser.add_argument("--no-progress", action="store_true", help="no progress on stderr")
    return parser


def _read_settings(options: Any) -> dict[str, Any]:
    """What was given of the options that a project may have defaults for."""
    from detaudit.project import PROJECT_OPTIONS

    settings = {name: getattr(options, name) for name in PROJECT_OPTIONS}
    if options.decimals is not None:
        settings["decimals"] = read_decimals(options.decimals)
    return {name: value for name, value in settings.items() if value is not None}
