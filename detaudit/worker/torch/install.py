"""Which torch is installed, and why it cannot use a device."""

from __future__ import annotations

import re
from typing import Any

from detaudit.worker.failures import Unavailable
from detaudit.worker.nvidia import describe_driver
from detaudit.worker.torch.blame import first_line

OLDEST = (2, 6)
"""Before that, not even ``weights_only=True`` keeps torch from running code in a checkpoint."""


def describe_install(torch: Any) -> dict[str, Any]:
    """Versions and build of the imported library.

    Args:
        torch: the module

    Returns:
        ``torch``, ``cuda`` and ``hip`` (of the build, None where it lacks them), ``debug`` and
        ``build`` (what torch was compiled with)

    """
    return {
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "debug": bool(torch.version.debug),
        "build": torch.__config__.show(),
    }


def list_versions(torch: Any) -> dict[str, str]:
    """Versions of torch and of the libraries that its kernels come from, as available."""
    versions = {"torch": str(torch.__version__)}
    if torch.version.cuda:
        versions["cuda"] = str(torch.version.cuda)
        if cudnn := torch.backends.cudnn.version():
            versions["cudnn"] = _write_cudnn(cudnn)
    return versions


def check_version(torch: Any) -> None:
    """Raise Unavailable where torch is older than what is supported."""
    found = re.match(r"(\d+)\.(\d+)", str(torch.__version__))
    if found and tuple(map(int, found.groups())) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise Unavailable(
            f"torch {torch.__version__} is too old: it cannot load weights safely;"
            f" install torch {oldest} or newer"
        )


def find_device(torch: Any, name: str) -> Any:
    """Device of a target, proven to work.

    Args:
        torch: the module
        name: ``cpu``, ``cuda:<index>`` or ``mps``

    Returns:
        the ``torch.device`` that tensors on it tell

    Raises:
        Unavailable: if it cannot be had here, with the reason

    """
    device = torch.device(name)
    if device.type == "cuda":
        _check_cuda(torch, device.index or 0)
    elif device.type == "mps":
        _check_mps(torch)
    try:
        # As tensors tell it: what is asked for as mps is mps:0, and the two are not equal.
        return torch.zeros(1, device=device).device
    except Exception as error:
        raise Unavailable(f"{name} does not work: {first_line(error)}") from None


def _check_cuda(torch: Any, index: int) -> None:
    version = torch.__version__
    if not torch.version.cuda and not getattr(torch.version, "hip", None):
        raise Unavailable(f"the installed torch {version} is a build without CUDA")
    if not torch.cuda.is_available():
        try:
            torch.cuda.init()
            reason = "it finds no device"
        except Exception as error:
            reason = first_line(error)
        reason = describe_driver().get("error") or reason
        raise Unavailable(f"torch {version} cannot use CUDA: {reason}")
    count = torch.cuda.device_count()
    if index >= count:
        known = ", ".join(f"cuda:{i} ({torch.cuda.get_device_name(i)})" for i in range(count))
        raise Unavailable(f"there is no cuda:{index}; torch {version} sees: {known}")


def _check_mps(torch: Any) -> None:
    version = torch.__version__
    if not torch.backends.mps.is_built():
        raise Unavailable(
            f"the installed torch {version} is a build without MPS, which needs macOS"
        )
    if not torch.backends.mps.is_available():
        raise Unavailable(f"torch {version} cannot use MPS: it needs macOS 14 and an Apple GPU")


def _write_cudnn(version: int) -> str:
    """Version 9 counts in steps of 10,000, version 8 in steps of 1,000."""
    step = 10_000 if version >= 90_000 else 1_000
    return f"{version // step}.{version % step // 100}.{version % 100}"
