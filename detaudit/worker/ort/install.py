"""Which ONNX Runtime is installed, and whether one package lies over another."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any


def runtime_packages() -> dict[str, str]:
    """Installed distributions that own the ``onnxruntime`` folder, with their versions."""
    found = {}
    for distribution in metadata.distributions():
        name = re.sub(r"[-_.]+", "-", str(distribution.metadata["Name"] or "")).lower()
        if re.fullmatch(
            r"(?:ort|onnxruntime)(?:-(?:gpu|nightly.*|openvino|directml|rocm|qnn))?", name
        ):
            found[name] = distribution.version
    return dict(sorted(found.items()))


def describe_runtime(onnxruntime: Any) -> dict[str, Any]:
    """Versions and build of the imported runtime.

    Args:
        onnxruntime: the module

    Returns:
        version, the package whose files are in place, all packages that claim them, and the
        providers that the build contains

    """
    try:
        from onnxruntime.capi import build_and_package_info as build

        package = str(build.package_name)
    except ImportError:
        package = "onnxruntime"
    described: dict[str, Any] = {
        "onnxruntime": onnxruntime.__version__,
        "package": package,
        "packages": runtime_packages(),
        "providers": list(onnxruntime.get_available_providers()),
    }
    if hasattr(onnxruntime, "get_build_info"):
        described["build"] = onnxruntime.get_build_info()
    return described


def why_no_provider(provider: str, runtime: dict[str, Any]) -> str:
    """Reason in words why this build lacks a provider, with what to do.

    Args:
        provider: such as ``CUDAExecutionProvider``
        runtime: what :func:`describe_runtime` returned

    Returns:
        one line

    """
    packages, version = runtime["packages"], runtime["onnxruntime"]
    gpu = packages.get("onnxruntime-gpu")
    if provider == "CUDAExecutionProvider" and gpu:
        # Files that only the other version has would stay behind, hence the same version first.
        first = f"onnxruntime=={gpu} && " if packages.get("onnxruntime") not in (None, gpu) else ""
        install = "python -m pip install --no-deps --force-reinstall "
        return (
            f"the files of the CPU package onnxruntime {version} lie over onnxruntime-gpu {gpu};"
            f" repair with: {install + first if first else ''}{install}onnxruntime-gpu=={gpu}"
        )
    if provider == "CUDAExecutionProvider":
        return (
            f"the installed {runtime['package']} {version} is a build without CUDA;"
            " use an environment with onnxruntime-gpu[cuda,cudnn] instead"
        )
    return (
        f"the installed {runtime['package']} {version} does not contain {provider};"
        f" it contains: {', '.join(runtime['providers'])}"
    )
