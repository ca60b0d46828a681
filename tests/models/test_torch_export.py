"""An exported program is opened only if loading it runs no code, or if that is trusted."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from detaudit.errors import ModelError
from detaudit.models.torch_files import read_torch_file
from tests.builders import torch_archives as archives
from tests.builders.torch_archives import MODULE, PROGRAM, STATE_DICT, zipped

WEIGHTS = "data/weights/model_weights_config.json"


def config(**entry: object) -> bytes:
    return json.dumps({"config": {"w": entry}}).encode()


def refuse(path: Path, *words: str) -> None:
    """Check that a file is refused for the code it brings, and taken with trust."""
    with pytest.raises(ModelError) as caught:
        read_torch_file(path, trust=False)
    message = str(caught.value)
    assert message.startswith(f"{path}: brings code that loading or calling it would run (")
    assert message.endswith("); if you trust where it comes from, add --trust")
    assert "\n" not in message
    for word in words:
        assert word in message
    assert read_torch_file(path, trust=True) == "export"


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("write", [archives.export, archives.export_of_2_6])
@pytest.mark.parametrize("name", ["m.pt2", "m.pt", "m", "serialized_model.pt2"])
def test_a_program(tmp_path: Path, write: Any, name: str, trust: bool) -> None:
    assert read_torch_file(write(tmp_path / name), trust=trust) == "export"


def test_the_folder_inside_may_have_any_name(tmp_path: Path) -> None:
    members = {
        "serialized_x/models/model.json": json.dumps(PROGRAM),
        "serialized_x/archive_format": "pt2",
    }
    path = archives.write_zip(tmp_path / "other.pt2", members)
    assert read_torch_file(path, trust=False) == "export"


@pytest.mark.parametrize("write", [archives.export, archives.export_of_2_6])
@pytest.mark.parametrize(
    ("program", "word"),
    [
        ({**PROGRAM, "guards_code": ["print(1)"]}, "print(1)"),
        ({**PROGRAM, "nodes": [{"target": "torch.os.system"}]}, "torch.os.system"),
        ({**PROGRAM, "x": {"expr_str": "print(\x1b)\n"}}, "print(\\x1b)\\n"),
    ],
)
def test_code_in_the_program(tmp_path: Path, write: Any, program: object, word: str) -> None:
    refuse(write(tmp_path / "m.pt2", program), word)


@pytest.mark.parametrize("pickled", [zipped(MODULE), MODULE, zipped(b"(iposix\nsystem\n.")])
@pytest.mark.parametrize(
    ("write", "member"),
    [
        (archives.export_of_2_6, "serialized_state_dict.pt"),
        (archives.export_of_2_6, "serialized_example_inputs.pt"),
        (archives.export, "m/data/sample_inputs/model.pt"),
        (archives.export, "m/data/weights/model.pt"),
        (archives.export, "m/data/constants/opaque_obj_0"),
    ],
)
def test_objects_that_loading_unpickles(
    tmp_path: Path, write: Any, member: str, pickled: bytes
) -> None:
    path = write(tmp_path / "m.pt2", others={member: pickled})
    refuse(path, f" in {member.removeprefix('m/')}")


def test_what_was_saved_long_ago_inside(tmp_path: Path) -> None:
    old = archives.saved_long_ago(tmp_path / "old")
    others = {"m/data/sample_inputs/model.pt": old.read_bytes()}
    refuse(archives.export(tmp_path / "m.pt2", others=others), "__main__.Net in data/sample_inputs")


@pytest.mark.parametrize("pickled", [MODULE, zipped(MODULE)])
def test_weights_that_are_marked_as_pickled(tmp_path: Path, pickled: bytes) -> None:
    others = {
        f"m/{WEIGHTS}": config(path_name="weight_1", use_pickle=True),
        "m/data/weights/weight_1": pickled,
    }
    refuse(archives.export(tmp_path / "m.pt2", others=others), "__main__.Net in data/weights")


def test_pickled_tensors_are_no_code(tmp_path: Path) -> None:
    others = {
        f"m/{WEIGHTS}": config(path_name="weight_1", use_pickle=True),
        "m/data/weights/weight_1": zipped(STATE_DICT),
        "m/data/sample_inputs/model.pt": zipped(STATE_DICT),
        # Torch reads these without Python.
        "m/data/constants/custom_obj_0": zipped(MODULE),
    }
    path = archives.export(tmp_path / "m.pt2", others=others)
    assert read_torch_file(path, trust=False) == "export"


@pytest.mark.parametrize("name", ["data/aotinductor/model/x.wrapper", "extra/x.SO", "y.dll"])
def test_compiled_code(tmp_path: Path, name: str) -> None:
    refuse(archives.export(tmp_path / "m.pt2", others={f"m/{name}": b"\x7fELF"}), f"({name})")


def test_compiled_code_only(tmp_path: Path) -> None:
    members = {"m/archive_format": "pt2", "m/data/aotinductor/model/x.so": b"\x7fELF"}
    path = archives.write_zip(tmp_path / "m.pt2", members)
    for trust in (False, True):
        with pytest.raises(ModelError, match="compiled code \\(AOTInductor\\) and no program"):
            read_torch_file(path, trust=trust)


def test_no_program(tmp_path: Path) -> None:
    path = archives.write_zip(tmp_path / "m.pt2", {"m/archive_format": "pt2"})
    with pytest.raises(ModelError, match="holds no program"):
        read_torch_file(path, trust=True)


def test_programs_of_other_names(tmp_path: Path) -> None:
    members = {"m/archive_format": "pt2", "m/models/a.json": "{}", "m/models/b.json": "{}"}
    path = archives.write_zip(tmp_path / "m.pt2", members)
    with pytest.raises(ModelError, match="programs named a, b and none named model"):
        read_torch_file(path, trust=True)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("folder", ["m", "other"])
def test_members_that_hide_each_other(tmp_path: Path, folder: str) -> None:
    path = archives.export(tmp_path / "m.pt2")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{folder}/models/model.json", "{}")
    refuse(path, "members that hide others")


def test_two_layouts_at_once(tmp_path: Path) -> None:
    path = archives.export_of_2_6(tmp_path / "m.pt2", others={"m/archive_format": b"pt2"})
    refuse(path, "a second program")


def test_a_bomb(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/archive_format", "pt2")
        with archive.open("m/models/model.json", "w") as file:
            for _ in range(300):
                file.write(bytes(2**20))
    with pytest.raises(ModelError, match="refused, unpacks to"):
        read_torch_file(path, trust=False)


@pytest.mark.parametrize("program", ["", "{", "[" * 100_000, "\xff"])
def test_a_broken_program(tmp_path: Path, program: str) -> None:
    members = {"m/archive_format": b"pt2", "m/models/model.json": program.encode("latin1")}
    path = archives.write_zip(tmp_path / "m.pt2", members)
    with pytest.raises(ModelError, match="is damaged or was cut off"):
        read_torch_file(path, trust=False)
