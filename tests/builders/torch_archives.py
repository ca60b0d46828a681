"""Archives as torch writes them, made by hand and without torch."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MAGIC = 0x1950A86A20F9469CFC6C

STATE_DICT = b"\x80\x02ccollections\nOrderedDict\n)R."
"""What ``torch.save`` pickles for a state dict without entries."""

MODULE = b"\x80\x02c__main__\nNet\n)\x81}b."
"""What it pickles for an object of the class ``Net`` of a script."""

PROGRAM = {
    "graph_module": {"graph": {"nodes": [{"target": "torch.ops.aten.relu.default"}]}},
    "range_constraints": {"s0": {"min_val": 2, "max_val": None}},
}


NOTHING: Mapping[str, bytes] = {}


def write_zip(path: Path, members: Mapping[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def saved(path: Path, pickled: bytes = MODULE) -> Path:
    """Write what ``torch.save`` writes."""
    return write_zip(path, {"m/data.pkl": pickled, "m/version": "3\n", "m/data/0": bytes(8)})


def saved_long_ago(path: Path, pickled: bytes = MODULE) -> Path:
    """Write what ``torch.save`` wrote before 1.6."""
    before = [pickle.dumps(part, 2) for part in (MAGIC, 1001, {"little_endian": True})]
    path.write_bytes(b"".join([*before, pickled, pickle.dumps([], 2)]) + bytes(16))
    return path


def script(path: Path) -> Path:
    """Write what ``torch.jit.save`` writes."""
    members = {"s/data.pkl": MODULE, "s/constants.pkl": b"\x80\x02).", "s/code/__torch__.py": ""}
    return write_zip(path, members)


def export(path: Path, program: Any = PROGRAM, others: Mapping[str, bytes] = NOTHING) -> Path:
    """Write what ``torch.export.save`` writes from 2.8 on."""
    members = {
        "m/models/model.json": json.dumps(program),
        "m/archive_format": "pt2",
        "m/archive_version": "0",
        "m/data/weights/weight_0": b"\x80\x05 raw numbers look like anything",
        "m/data/weights/model_weights_config.json": '{"config": {}}',
        "m/data/constants/model_constants_config.json": '{"config": {}}',
    }
    return write_zip(path, {**members, **others})


def export_of_2_6(
    path: Path, program: Any = PROGRAM, others: Mapping[str, bytes] = NOTHING
) -> Path:
    """Write what ``torch.export.save`` wrote up to 2.7."""
    members = {
        "serialized_exported_program.json": json.dumps(program),
        "serialized_state_dict.pt": zipped(STATE_DICT),
        "serialized_constants.pt": b"",
        "serialized_example_inputs.pt": zipped(STATE_DICT),
        "version": "8.2",
    }
    return write_zip(path, {**members, **others})


def zipped(pickled: bytes) -> bytes:
    """What ``torch.save`` writes, as bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
    return buffer.getvalue()


def rewrite(source: Path, target: Path, key: str, text: str) -> None:
    """Copy an exported program with another text at every place of a key."""

    def change(value: Any) -> Any:
        if isinstance(value, list):
            return [change(entry) for entry in value]
        if isinstance(value, dict):
            return {k: text if k == key else change(entry) for k, entry in value.items()}
        return value

    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in members:
        if name.endswith(("models/model.json", "serialized_exported_program.json")):
            members[name] = json.dumps(change(json.loads(members[name]))).encode()
    write_zip(target, members)
