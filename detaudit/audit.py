"""The whole story: what is asked is captured, what was captured is judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from detaudit.models.backend import Backend
    from detaudit.report import Report
    from detaudit.spec import AuditSpec
    from detaudit.target import Target


def audit(
    model: str | PathLike[str],
    device: str | Iterable[str] | None = None,
    **options: Any,
) -> Report:
    """Would this model give the same number again?

    Args:
        model: ONNX file, audonnx folder or zip archive, exported program or TorchScript file of
            torch, or torch code such as ``"net.py:make"`` or ``"package.net:Net:weights.pth"``
        device: targets such as ``"cpu,cuda:0"`` or ``["cpu", "cpu[opt=off]"]``; the CPU and every
            CUDA device of this machine by default
        options: how to run and how to judge, the keyword arguments of :func:`plan_audit`

    Returns:
        report with measurements, findings and a verdict

    Raises:
        UsageError: if the call cannot be meant as it stands
        ModelError: if the file is no valid or safe model

    Examples:
        >>> import detaudit
        >>> from detaudit.demo import model_path
        >>> report = detaudit.audit(model_path(), device="cpu", runs=3)
        >>> all(row.identical for row in report.repeatability)
        True

    """
    from detaudit.capture.capture import capture

    record = capture(plan_audit(model, device, **options))
    # Not before: the libraries it needs are loaded while the first worker loads its own.
    from detaudit.judge.judge import judge

    return judge(record)


def plan_audit(
    model: str | PathLike[str],
    device: str | Iterable[str] | None = None,
    *,
    reference: str | None = None,
    variants: Literal["standard", "none"] = "standard",
    runs: int = 10,
    sessions: int = 2,
    processes: int = 2,
    seed: int = 1,
    samples: int = 1,
    source: str | PathLike[str] | None = None,
    inputs: Mapping[str, str] | None = None,
    shapes: Mapping[str, str | int] | None = None,
    duration: float = 1.0,
    sampling_rate: int | None = None,
    labels: Mapping[str, Iterable[str]] | Iterable[str] | str | None = None,
    classes: Mapping[str, int] | None = None,
    outputs: Iterable[str] | str = (),
    decimals: tuple[int, int] = (0, 7),
    require: str | None = None,
    confidence: float = 0.95,
    seeded: bool = True,
    seed_runtime: bool = False,
    evaluate: bool = False,
    trust: bool = False,
    timeout: float = 300.0,
) -> AuditSpec:
    """What is asked, checked before anything is touched.

    Args:
        model: as for :func:`audit`
        device: targets, the CPU and every CUDA device of this machine by default
        reference: target that the others are measured against, the first by default
        variants: whether a CUDA device brings its standard variants
        runs: calls in each session
        sessions: fresh sessions in each process
        processes: fresh processes of each target
        seed: seed of every stream of inputs, 0 to 2**32 - 1
        samples: number of inputs
        source: npz file, folder of npy files or wav file with the inputs
        inputs: how to fill inputs by name: ``zeros``, ``ones``, ``normal``, ``uniform:a:b``,
            ``int:a:b``, ``value:v`` or ``@file.npy``
        shapes: sizes of axes or inputs by name
        duration: length of generated audio in seconds
        sampling_rate: rate of audio in Hz
        labels: names of output values, by output or for the only output; as text either divided
            by commas or a file that holds them
        classes: axis of the classes for outputs that hold class scores
        outputs: names of the outputs to look at, all by default
        decimals: first and last number of decimals to round to, within 0 to 12
        require: what has to be met, such as ``"decimals=3,no-class-flip"``
        confidence: of every bound, between 0 and 1
        seeded: whether generators are seeded before a torch model is built, in every process
        seed_runtime: whether the runtime's own random generator is seeded too
        evaluate: whether a torch model is switched to evaluation mode
        trust: whether Python code that a model file brings may run
        timeout: seconds that a worker may stay silent

    Returns:
        plan of the audit

    Raises:
        UsageError: if it cannot be meant as it stands

    Examples:
        >>> plan = plan_audit("model.onnx", "cpu,cuda:0", variants="none")
        >>> [target.name for target in plan.targets]
        ['cpu', 'cuda:0']

    """
    from detaudit.errors import UsageError
    from detaudit.models.backend import find_backend
    from detaudit.requirement import parse_requirement
    from detaudit.spec import AuditSpec, InputSpec, JudgeSpec
    from detaudit.target import parse_target, parse_targets, with_variants

    if require is not None:
        parse_requirement(require)
    if variants not in ("standard", "none"):
        raise UsageError(f"variants '{variants}' is neither standard nor none")
    model = fspath(model)
    backend = find_backend(model)
    targets = parse_targets(_default_devices(backend) if device is None else device, backend)
    _check_backends(targets, evaluate=evaluate, unseeded=not seeded, seed_runtime=seed_runtime)
    return AuditSpec(
        model=model,
        targets=with_variants(targets) if variants == "standard" else targets,
        inputs=InputSpec(
            seed=seed,
            samples=samples,
            source=None if source is None else fspath(source),
            values=tuple((inputs or {}).items()),
            shapes=tuple((name, str(size)) for name, size in (shapes or {}).items()),
            duration=duration,
            sampling_rate=sampling_rate,
        ),
        runs=runs,
        sessions=sessions,
        processes=processes,
        outputs=(outputs,) if isinstance(outputs, str) else tuple(outputs),
        seeded=seeded,
        seed_runtime=seed_runtime,
        evaluate=evaluate,
        trust=trust,
        timeout=timeout,
        judging=JudgeSpec(
            reference=None if reference is None else parse_target(reference, backend).name,
            decimals=decimals,
            confidence=confidence,
            labels=_by_output(labels),
            classes=None if classes is None else tuple(classes.items()),
            requirement=require,
        ),
    )


def _check_backends(targets: Iterable[Target], **asked: bool) -> None:
    """Refuse what means nothing for the libraries that run the targets."""
    from detaudit.errors import UsageError

    run = {target.backend for target in targets}
    for name, backend, told in (
        ("evaluate", "torch", "--eval switches torch models, and none is run"),
        ("unseeded", "torch", "--no-seed leaves torch models unseeded, and none is run"),
        ("seed_runtime", "ort", "--seed-runtime seeds ONNX Runtime, and it runs no target"),
    ):
        if asked[name] and backend not in run:
            raise UsageError(told)


def _default_devices(backend: Backend) -> list[str]:
    from importlib import metadata

    from detaudit.worker.nvidia import describe_driver

    try:
        version = metadata.version("torch" if backend == "torch" else "onnxruntime-gpu")
    except metadata.PackageNotFoundError:
        return ["cpu"]
    if version.endswith("+cpu"):
        return ["cpu"]
    devices = describe_driver().get("devices", [])
    return ["cpu", *(f"cuda:{number}" for number in range(len(devices)))]


def _by_output(
    labels: Mapping[str, Iterable[str]] | Iterable[str] | None,
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Labels per output; those that come without a name belong to the only output."""
    from detaudit.models.labels import read_labels

    if labels is None:
        return ()
    if isinstance(labels, str):
        labels = read_labels(labels)
    named = labels if isinstance(labels, Mapping) else {"": labels}
    return tuple((output, tuple(names)) for output, names in named.items())
