"""Where a model lay, in words."""

from __future__ import annotations

from collections.abc import Mapping

from .words import count, plural


def providers(placement: Mapping[str, int]) -> str:
    """Which execution provider ran how many nodes, the busiest first.

    Examples:
        >>> providers({"CPUExecutionProvider": 14, "CUDAExecutionProvider": 398})
        'CUDA 398 of 412 nodes, CPU 14'
        >>> providers({})
        'placement unknown'

    """
    if not placement:
        return "placement unknown"
    total = sum(placement.values())
    parts = sorted(placement.items(), key=lambda item: (-item[1], item[0]))
    names = [f"{name.removesuffix('ExecutionProvider')} {count(nodes)}" for name, nodes in parts]
    names[0] += f" of {plural(total, 'node')}"
    return ", ".join(names)


def devices(placement: Mapping[str, int], capability: str) -> str:
    """Which device holds how many weights and buffers, the fullest first.

    Args:
        placement: weights and buffers per device of torch
        capability: instructions that torch's own kernels use on the CPU

    Examples:
        >>> devices({"cpu": 12}, "AVX512"), devices({}, "AVX2")
        ('CPU AVX512, 12 weights', 'CPU AVX2, no weights')
        >>> devices({"cuda:0": 11, "cpu": 1}, "AVX2")
        'cuda:0, 11 of 12 weights, CPU AVX2, 1'

    """
    names = {"cpu": f"CPU {capability}".strip()}
    if not placement:
        return f"{names['cpu']}, no weights"
    total = sum(placement.values())
    parts = sorted(placement.items(), key=lambda item: (-item[1], item[0]))
    if len(parts) == 1:
        return f"{names.get(parts[0][0], parts[0][0])}, {plural(total, 'weight')}"
    told = [f"{names.get(device, device)}, {count(held)}" for device, held in parts]
    told[0] += f" of {plural(total, 'weight')}"
    return ", ".join(told)
