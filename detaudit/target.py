"""Where a model is run: the grammar of targets and what every option may hold."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from detaudit.errors import UsageError
from detaudit.items import quote, split, unquote
from detaudit.models.backend import Backend, find_backend
from detaudit.options import ANY_BACKEND, PROVIDER, SESSION, TEXT, TORCH, Option

_PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
}
_DEVICES: Mapping[Backend, str] = {
    "ort": "cpu, cuda, cuda:<number>, openvino, ep:<ProviderName>",
    "torch": "cpu, cuda, cuda:<number>, mps",
}
_FAMILIES: Mapping[Backend, tuple[str, ...]] = {
    "ort": ("cpu", "cuda", "openvino"),
    "torch": ("cpu", "cuda", "mps"),
}
_NAMES: Mapping[Backend, str] = {"ort": "ONNX Runtime", "torch": "torch"}
_VARIANTS: Mapping[Backend, tuple[tuple[str, str], ...]] = {
    "ort": (("cudnn_conv_algo_search", "DEFAULT"), ("use_tf32", "0")),
    "torch": (("deterministic", "1"),),
}
_CUDA_NAME = re.compile(r"cuda:[0-9]+")
_EP_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*ExecutionProvider")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A device with its options.

    Attributes:
        device: ``cpu``, ``cuda:<number>``, ``mps``, ``openvino`` or ``ep:<ProviderName>``
        options: pairs of key and value, sorted, without those that hold a default
        backend: library that runs it, ``ort`` for ONNX Runtime or ``torch``
        record: name of the record that it is of where several are compared, else empty

    Examples:
        >>> target = parse_target("cuda[use_tf32=0,cudnn_conv_algo_search=exhaustive]")
        >>> target.name
        'cuda:0[use_tf32=0]'
        >>> target.provider, target.index
        ('CUDAExecutionProvider', 0)

    """

    device: str
    options: tuple[tuple[str, str], ...] = field(default=())
    backend: Backend = "ort"
    record: str = field(default="", metadata={"plain": False})

    @property
    def name(self) -> str:
        """Canonical text, which parses back into the same target unless it is one of a record."""
        owner = f"{self.record}:" if self.record else ""
        if not self.options:
            return f"{owner}{self.device}"
        options = ",".join(f"{key}={quote(value)}" for key, value in self.options)
        return f"{owner}{self.device}[{options}]"

    @property
    def family(self) -> str:
        """Device without its number or provider, such as ``cpu``, ``cuda`` or ``ep``."""
        return self.device.partition(":")[0]

    @property
    def index(self) -> int:
        """Number of the CUDA device, 0 for all others."""
        return int(self.device.partition(":")[2]) if self.family == "cuda" else 0

    @property
    def provider(self) -> str:
        """Name of the execution provider that has to run the model."""
        return _PROVIDERS.get(self.family) or self.device.partition(":")[2]

    def option(self, key: str) -> str | None:
        """Value of an option as given, None when it was not given or is the default."""
        return dict(self.options).get(key)

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that the target sets for its processes."""
        return {k.removeprefix("env."): v for k, v in self.options if k.startswith("env.")}

    @property
    def model(self) -> str | None:
        """Model that is run here in the place of the audited one."""
        return self.option("model")

    @property
    def own_options(self) -> dict[str, str]:
        """Options for the library itself, without those that every library has."""
        return {k: v for k, v in self.options if k not in ANY_BACKEND and not k.startswith("env.")}

    @property
    def session_options(self) -> dict[str, str]:
        """Options of the session, ``config.`` entries included."""
        return {
            k: v for k, v in self.own_options.items() if k in SESSION or k.startswith("config.")
        }

    @property
    def provider_options(self) -> dict[str, str]:
        """Options of the execution provider under its own names."""
        session = self.session_options
        return {k: v for k, v in self.own_options.items() if k not in session}


def parse_target(text: str, backend: Backend = "ort") -> Target:
    """Target that a text describes.

    Args:
        text: such as ``cpu``, ``cuda:0[use_tf32=0]`` or ``ep:XnnpackExecutionProvider``
        backend: library that runs the audited model; a target with a model of its own is run
            by that of its model

    Returns:
        the target

    Raises:
        UsageError: if the device, an option or its value is not known

    Examples:
        >>> parse_target("cpu[opt=off,threads=4]").name
        'cpu[opt=off,threads=4]'
        >>> parse_target("cpu[matmul=medium]", "torch").backend
        'torch'
        >>> parse_target("gpu")
        Traceback (most recent call last):
        ...
        detaudit.errors.UsageError: unknown device 'gpu'; known devices: cpu, cuda, \
cuda:<number>, openvino, ep:<ProviderName> (for a GPU write cuda:0)

    """
    device, bracket, rest = text.strip().partition("[")
    if bracket and not rest.endswith("]"):
        raise UsageError(f"target '{text}' has no closing bracket")
    given = _read_options(rest[:-1], text, backend) if bracket else {}
    if "model" in given:
        backend = find_backend(given["model"])
    device = _canonical_device(device.strip(), backend)
    family = device.partition(":")[0]
    options: dict[str, str] = {}
    for key, value in given.items():
        try:
            kept = _canonical_option(backend, family, key, value)
        except UsageError as error:
            raise UsageError(f"{error} (in target '{text}')") from None
        if kept is not None:
            options[key] = kept
    if {"matmul", "tf32"} <= options.keys():
        raise UsageError(f"matmul and tf32 set the same switch of torch (in target '{text}')")
    return Target(device, tuple(sorted(options.items())), backend)


def _read_options(text: str, whole: str, backend: Backend) -> dict[str, str]:
    options: dict[str, str] = {}
    for item in split(text, whole, _list_devices(backend)):
        key, equals, value = item.partition("=")
        key = key.strip()
        if not equals:
            raise UsageError(f"option '{item}' of target '{whole}' is not of the form key=value")
        if key in options:
            raise UsageError(f"option {key} is given twice in target '{whole}'")
        options[key] = unquote(value.strip())
    return options


def parse_targets(texts: Iterable[str] | str, backend: Backend = "ort") -> tuple[Target, ...]:
    """Targets of a list, split at the commas that stand outside brackets.

    Args:
        texts: one text or several, each with one target or more
        backend: library that runs the audited model

    Returns:
        targets in the order given, each once

    Raises:
        UsageError: if the list is empty or one of the targets is not known

    Examples:
        >>> [t.name for t in parse_targets("cpu,cpu[threads=4,opt=off]")]
        ['cpu', 'cpu[opt=off,threads=4]']

    """
    if isinstance(texts, str):
        texts = [texts]
    found = [
        parse_target(part, backend)
        for text in texts
        for part in split(text, text, _list_devices(backend))
    ]
    if not found:
        raise UsageError(f"the list of devices is empty; {_list_devices(backend)}")
    return tuple(dict.fromkeys(found))


def with_variants(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Targets together with the standard variants that a CUDA device brings.

    Args:
        targets: what was asked for

    Returns:
        each CUDA target followed by itself with ``cudnn_conv_algo_search=DEFAULT`` and with
        ``use_tf32=0``, one of torch by itself with ``deterministic=1``, unless it sets that
        option itself; others as they are

    Examples:
        >>> for target in with_variants(parse_targets("cpu,cuda:0")):
        ...     print(target.name)
        cpu
        cuda:0
        cuda:0[cudnn_conv_algo_search=DEFAULT]
        cuda:0[use_tf32=0]

    """
    result: list[Target] = []
    for target in targets:
        result.append(target)
        if target.family == "cuda":
            for key, value in _VARIANTS[target.backend]:
                if target.option(key) is None:
                    options = tuple(sorted({**dict(target.options), key: value}.items()))
                    result.append(replace(target, options=options))
    return tuple(dict.fromkeys(result))


def _canonical_device(device: str, backend: Backend) -> str:
    families = _FAMILIES[backend]
    if device == "cuda":
        return "cuda:0"
    if device in families:
        return device
    if _CUDA_NAME.fullmatch(device):
        return f"cuda:{int(device.partition(':')[2])}"
    if device.startswith("ep:") and backend == "ort":
        return _canonical_provider(device)
    lower = device.lower()
    close = difflib.get_close_matches(lower, families, n=1)
    hint = ""
    if "gpu" in lower:
        hint = " (for a GPU write cuda:0)"
    elif _CUDA_NAME.fullmatch(lower) and lower != device:
        hint = f" (did you mean {lower}?)"
    elif close:
        hint = f" (did you mean {close[0]}?)"
    known = _DEVICES[backend]
    for other, names in _FAMILIES.items():
        if other != backend and (device in names or (other == "ort" and device.startswith("ep:"))):
            raise UsageError(
                f"{device} is a device of {_NAMES[other]}, and the model is run by"
                f" {_NAMES[backend]}, whose devices are: {known}"
            )
    raise UsageError(f"unknown device '{device}'; known devices: {known}{hint}")


def _canonical_provider(device: str) -> str:
    name = device.removeprefix("ep:")
    if not _EP_NAME.fullmatch(name):
        raise UsageError(
            f"unknown provider '{name}' in device '{device}'; ONNX Runtime's names end in"
            " ExecutionProvider, such as ep:XnnpackExecutionProvider"
        )
    own = next((family for family, provider in _PROVIDERS.items() if provider == name), None)
    return _canonical_device(own, "ort") if own else device


def _list_devices(backend: Backend) -> str:
    return f"known devices: {_DEVICES[backend]}"


def _known_options(backend: Backend, family: str) -> Mapping[str, Option]:
    own = TORCH if backend == "torch" else {**SESSION, **PROVIDER.get(family, {})}
    return {**ANY_BACKEND, **own}


def _canonical_option(backend: Backend, family: str, key: str, value: str) -> str | None:
    """Value in its canonical form, None when it is the default."""
    if key.startswith("env."):
        if not _ENV_NAME.fullmatch(key.removeprefix("env.")):
            raise UsageError(f"option {key} does not name an environment variable")
        return value
    if key in ("config.", "config.session.record_ep_graph_assignment_info"):
        raise UsageError(f"option {key} cannot be set: it names no key, or one that is needed here")
    if key.startswith("config.") and backend == "ort":
        return TEXT.canonical(key, value)
    known = _known_options(backend, family)
    option = known.get(key)
    if option is None:
        if family == "ep" and re.fullmatch(r"\w+", key):
            return TEXT.canonical(key, value)
        config = ("config.<session config key>",) if backend == "ort" else ()
        names = ", ".join([*sorted(known), *config, "env.<NAME>"])
        close = difflib.get_close_matches(key, known, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UsageError(f"unknown option {key}{hint}; known options: {names}")
    canonical = option.canonical(key, value)
    return None if canonical == option.default else canonical
