"""Where a model is run: the grammar of targets and what every option may hold."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from detaudit.errors import UsageError
from detaudit.options import ANY_BACKEND, PROVIDER, SESSION, TEXT

_PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
}
_DEVICES = "cpu, cuda, cuda:<number>, openvino, ep:<ProviderName>"
_CUDA_NAME = re.compile(r"cuda:[0-9]+")
_EP_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*ExecutionProvider")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A device with its options.

    Attributes:
        device: ``cpu``, ``cuda:<number>``, ``openvino`` or ``ep:<ProviderName>``
        options: pairs of key and value, sorted, without those that hold a default

    Examples:
        >>> target = parse_target("cuda[use_tf32=0,cudnn_conv_algo_search=exhaustive]")
        >>> target.name
        'cuda:0[use_tf32=0]'
        >>> target.provider, target.index
        ('CUDAExecutionProvider', 0)

    """

    device: str
    options: tuple[tuple[str, str], ...] = field(default=())

    @property
    def name(self) -> str:
        """Canonical text, which parses back into the same target."""
        if not self.options:
            return self.device
        return f"{self.device}[{','.join(f'{key}={_quote(value)}' for key, value in self.options)}]"

    @property
    def family(self) -> str:
        """Device without its number or provider: ``cpu``, ``cuda``, ``openvino`` or ``ep``."""
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
    def session_options(self) -> dict[str, str]:
        """Options of the session, ``config.`` entries included."""
        return {k: v for k, v in self.options if k in SESSION or k.startswith("config.")}

    @property
    def provider_options(self) -> dict[str, str]:
        """Options of the execution provider under its own names."""
        taken = {*ANY_BACKEND, *SESSION}
        return {
            k: v
            for k, v in self.options
            if k not in taken and not k.startswith(("env.", "config."))
        }


def parse_target(text: str) -> Target:
    """Target that a text describes.

    Args:
        text: such as ``cpu``, ``cuda:0[use_tf32=0]`` or ``ep:XnnpackExecutionProvider``

    Returns:
        the target

    Raises:
        UsageError: if the device, an option or its value is not known

    Examples:
        >>> parse_target("cpu[opt=off,threads=4]").name
        'cpu[opt=off,threads=4]'
        >>> parse_target("gpu")
        Traceback (most recent call last):
        ...
        detaudit.errors.UsageError: unknown device 'gpu'; known devices: cpu, cuda, \
cuda:<number>, openvino, ep:<ProviderName> (for a GPU write cuda:0)

    """
    device, bracket, rest = text.strip().partition("[")
    if bracket and not rest.endswith("]"):
        raise UsageError(f"target '{text}' has no closing bracket")
    device = _canonical_device(device.strip())
    family = device.partition(":")[0]
    options: dict[str, str] = {}
    for item in _split(rest[:-1], text) if bracket else ():
        key, equals, value = item.partition("=")
        key = key.strip()
        if not equals:
            raise UsageError(f"option '{item}' of target '{text}' is not of the form key=value")
        if key in options:
            raise UsageError(f"option {key} is given twice in target '{text}'")
        try:
            kept = _canonical_option(family, key, _unquote(value.strip()))
        except UsageError as error:
            raise UsageError(f"{error} (in target '{text}')") from None
        if kept is not None:
            options[key] = kept
    return Target(device, tuple(sorted(options.items())))


def parse_targets(texts: Iterable[str] | str) -> tuple[Target, ...]:
    """Targets of a list, split at the commas that stand outside brackets.

    Args:
        texts: one text or several, each with one target or more

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
    found = [parse_target(part) for text in texts for part in _split(text, text)]
    if not found:
        raise UsageError(f"the list of devices is empty; known devices: {_DEVICES}")
    return tuple(dict.fromkeys(found))


def with_variants(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Targets together with the standard variants that a CUDA device brings.

    Args:
        targets: what was asked for

    Returns:
        each CUDA target followed by itself with ``cudnn_conv_algo_search=DEFAULT`` and with
        ``use_tf32=0``, unless it sets that option itself; others as they are

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
            for key, value in (("cudnn_conv_algo_search", "DEFAULT"), ("use_tf32", "0")):
                if target.option(key) is None:
                    options = tuple(sorted({**dict(target.options), key: value}.items()))
                    result.append(Target(target.device, options))
    return tuple(dict.fromkeys(result))


def _canonical_device(device: str) -> str:
    if device in ("cpu", "openvino"):
        return device
    if device == "cuda":
        return "cuda:0"
    if _CUDA_NAME.fullmatch(device):
        return f"cuda:{int(device.partition(':')[2])}"
    if device.startswith("ep:"):
        name = device.removeprefix("ep:")
        if _EP_NAME.fullmatch(name):
            own = next(
                (family for family, provider in _PROVIDERS.items() if provider == name), None
            )
            return _canonical_device(own) if own else device
        raise UsageError(
            f"unknown provider '{name}' in device '{device}'; ONNX Runtime's names end in"
            " ExecutionProvider, such as ep:XnnpackExecutionProvider"
        )
    lower = device.lower()
    close = difflib.get_close_matches(lower, ["cpu", "cuda", "openvino"], n=1)
    hint = ""
    if "gpu" in lower:
        hint = " (for a GPU write cuda:0)"
    elif _CUDA_NAME.fullmatch(lower) and lower != device:
        hint = f" (did you mean {lower}?)"
    elif close:
        hint = f" (did you mean {close[0]}?)"
    raise UsageError(f"unknown device '{device}'; known devices: {_DEVICES}{hint}")


def _canonical_option(family: str, key: str, value: str) -> str | None:
    """Value in its canonical form, None when it is the default."""
    if key.startswith("env."):
        if not _ENV_NAME.fullmatch(key.removeprefix("env.")):
            raise UsageError(f"option {key} does not name an environment variable")
        return value
    if key in ("config.", "config.session.record_ep_graph_assignment_info"):
        raise UsageError(f"option {key} cannot be set: it names no key, or one that is needed here")
    if key.startswith("config."):
        return TEXT.canonical(key, value)
    known = {**ANY_BACKEND, **SESSION, **PROVIDER.get(family, {})}
    option = known.get(key)
    if option is None:
        if family == "ep" and re.fullmatch(r"\w+", key):
            return TEXT.canonical(key, value)
        names = ", ".join([*sorted(known), "config.<session config key>", "env.<NAME>"])
        close = difflib.get_close_matches(key, known, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise UsageError(f"unknown option {key}{hint}; known options: {names}")
    canonical = option.canonical(key, value)
    return None if canonical == option.default else canonical


def _unquote(value: str) -> str:
    """Value without the quotes around all of it, which keep its commas and brackets together."""
    quoted = len(value) > 1 and value[0] == value[-1] == '"' and '"' not in value[1:-1]
    return value[1:-1] if quoted else value


def _quote(value: str) -> str:
    """Value as it parses back, in quotes where it would fall apart without."""
    try:
        holds = not value or _split(value, value) == [value]
    except UsageError:
        holds = False
    return value if holds else f'"{value}"'


def _split(text: str, whole: str) -> list[str]:
    """Parts between the commas that stand outside brackets, braces and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
        if depth < 0:
            break
    if depth != 0 or quoted:
        raise UsageError(f"brackets or quotes do not match in '{whole}'")
    parts.append(text[start:])
    stripped = [part.strip() for part in parts]
    if stripped == [""]:
        return []
    if "" in stripped:
        raise UsageError(f"an item is empty in '{whole}'; known devices: {_DEVICES}")
    return stripped
