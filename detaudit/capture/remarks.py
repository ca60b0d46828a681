"""What a user should know about the inputs that were made."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from detaudit.capture.fill import Fill
from detaudit.capture.given import Sound
from detaudit.capture.naming import is_rate
from detaudit.capture.shapes import Pin
from detaudit.capture.signature import Entry
from detaudit.models.model import Model
from detaudit.spec import InputSpec


def find_remarks(
    model: Model,
    spec: InputSpec,
    entries: tuple[Entry, ...],
    batch: Collection[str],
    sizes: Mapping[str, int],
    pins: Mapping[str, Pin],
    fills: Mapping[str, Fill],
    sound: Sound | None,
) -> tuple[str, ...]:
    """Remarks, one line each.

    Args:
        model: what is fed
        spec: where the inputs come from
        entries: inputs
        batch: names of the axes that count items, which are no news when they are 1 long
        sizes: size of every open axis
        pins: axes that the user or a file settles
        fills: how each input is filled
        sound: signal of a file

    """
    fed = {entry.name for entry in entries}
    found = []
    chosen = [
        f"{axis} = {size}"
        for axis, size in sizes.items()
        if axis not in pins and not (axis in batch and size == 1)
    ]
    if chosen:
        found.append(f"open axes: {', '.join(chosen)}; set them with --shape AXIS=SIZE")
    for info in model.inputs if not model.transform else ():
        if info.name not in fed:
            found.append(f"{info.name} is optional and left out")
        elif info.shape is None and any(axis not in pins for axis in _axes(entries, info.name)):
            shape = "x".join(str(sizes[axis]) for axis in _axes(entries, info.name))
            found.append(
                f"{info.name}: the model declares no rank, shape {shape} is used;"
                f" choose another one with --shape {info.name}=SIZES"
            )
    for axis, limit in model.length_limits:
        if axis in pins and pins[axis].size > limit:
            found.append(f"{pins[axis].source}: the model has only {limit} positions for '{axis}'")
    if sound and spec.sampling_rate is None and not any(is_rate(name) for name in fed):
        found.append(
            f"{sound.source} has {sound.rate} Hz; which rate the model expects, it does not say"
        )
    found.extend(fill.note for fill in fills.values() if fill.note)
    if spec.samples > 1 and fills and all(fill.constant for fill in fills.values()):
        found.append(f"all {spec.samples} samples are the same, since nothing is drawn")
    return tuple(found)


def _axes(entries: tuple[Entry, ...], name: str) -> tuple[str, ...]:
    return tuple(str(axis) for entry in entries if entry.name == name for axis in entry.axes)
