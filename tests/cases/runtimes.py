"""Targets whose workers find the stand-in instead of ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

STAND_IN = Path(__file__).parent / "stand_in"


def stand_in(device: str, *options: str, **variables: object) -> str:
    """Target with the stand-in as its runtime.

    Args:
        device: such as ``cuda:0``
        options: further options of the target, such as ``use_tf32=0``
        variables: what steers the stand-in

    """
    steering = [f"env.STAND_IN_{name}={value}" for name, value in variables.items()]
    return f"{device}[{','.join([f'env.PYTHONPATH={STAND_IN}', *steering, *options])}]"
