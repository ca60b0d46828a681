from __future__ import annotations

import logging
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from detaudit.worker.failures import Failed, Misuse
from detaudit.worker.torch.files import load_pickle, load_program, load_script
from tests.worker.torch.archives import (
    Evil,
    add_part,
    change_graph,
    export,
    pickle_inputs,
    rewrite,
)

pytestmark = pytest.mark.torch


def linear() -> Any:
    import torch

    return torch.nn.Linear(3, 2).eval()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    import torch

    return export(tmp_path_factory.mktemp("m"), linear(), (torch.ones(1, 3),)).read_bytes()


@pytest.fixture
def program(tmp_path: Path, exported: bytes) -> Path:
    file = tmp_path / "m.pt2"
    file.write_bytes(exported)
    return file


@pytest.fixture
def script(tmp_path: Path) -> Path:
    import torch

    file = tmp_path / "m.pt"
    torch.jit.save(torch.jit.script(linear()), file)
    return file


@pytest.fixture
def pickled(tmp_path: Path) -> Path:
    import torch

    file = tmp_path / "m.pkl"
    torch.save(linear(), file)
    return file


def test_models_of_every_kind_are_loaded(program: Path, script: Path, pickled: Path) -> None:
    import torch

    x = torch.ones(1, 3)
    assert load_program(program, trust=False).module()(x).shape == (1, 2)
    assert load_script(script, torch.device("cpu"))(x).shape == (1, 2)
    assert load_pickle(pickled, trust=True)(x).shape == (1, 2)


def test_a_program_may_have_any_name(program: Path, tmp_path: Path) -> None:
    other = tmp_path / "model.bin"
    program.rename(other)
    assert load_program(other, trust=False)


def test_a_pickle_inside_a_program_never_runs_without_trust(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its message has a mark too few for its arguments.
    monkeypatch.setattr(logging.getLogger("torch._export.serde.serialize"), "disabled", True)
    marker = tmp_path / "ran"
    pickle_inputs(program, (Evil(marker),))
    with pytest.raises(Failed, match=r"m.pt2 holds pickled objects.*allow it with --trust$"):
        load_program(program, trust=False)
    assert not marker.exists()
    load_program(program, trust=True)
    assert marker.exists()
    assert "TORCH_FORCE_WEIGHTS_ONLY_LOAD" not in os.environ


def test_an_expression_that_runs_code_never_does_without_trust(
    program: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    code = f"__import__('os').system('touch {marker}') or Symbol('s0', positive=True, integer=True)"

    def change(graph: dict[str, Any]) -> None:
        size = {"as_expr": {"expr_str": code, "hint": {"as_int": 2}}}
        value = next(v for name, v in graph["tensor_values"].items() if name == "input")
        value["sizes"][0] = size

    change_graph(program, change)
    with pytest.raises(Failed, match=r"m.pt2 holds the expression .*__import__.*--trust$"):
        load_program(program, trust=False)
    assert not marker.exists()
    # What it would have done otherwise:
    load_program(program, trust=True)
    assert marker.exists()


def test_a_call_by_name_needs_trust(program: Path) -> None:
    def change(graph: dict[str, Any]) -> None:
        graph["nodes"][0]["target"] = "torch.os.system"

    change_graph(program, change)
    with pytest.raises(Failed, match=r"m.pt2 holds a call of torch.os.system, which could run any"):
        load_program(program, trust=False)


def test_a_compiled_library_needs_trust(program: Path) -> None:
    add_part(program, "data/aotinductor/model/kernel.SO", b"\x7fELF")
    with pytest.raises(Failed, match=r"m.pt2 holds the compiled part kernel.SO, which could run"):
        load_program(program, trust=False)


def test_a_second_part_of_the_same_name_is_looked_at_too(program: Path) -> None:
    good = program.read_bytes()

    def change(graph: dict[str, Any]) -> None:
        graph["nodes"][0]["target"] = "torch.os.system"

    change_graph(program, change)
    whole = program.with_name("good.pt2")
    whole.write_bytes(good)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(program, "a") as archive:
        for name in source.namelist():
            if name.endswith(".json"):
                with pytest.warns(UserWarning, match="Duplicate name"):
                    archive.writestr(name, source.read(name))
    with pytest.raises(Failed, match=r"a call of torch\.os\.system"):
        load_program(program, trust=False)


def test_a_pickled_model_needs_trust(pickled: Path) -> None:
    with pytest.raises(Failed) as caught:
        load_pickle(pickled, trust=False)
    assert str(caught.value) == (
        "m.pkl is a pickled model, and unpickling runs whatever code it holds; if you trust its"
        " source, allow it with --trust"
    )


def test_a_pickle_that_holds_no_model_is_told(tmp_path: Path) -> None:
    import torch

    file = tmp_path / "m.pkl"
    torch.save(linear().state_dict(), file)
    with pytest.raises(Failed, match=r"m.pkl holds a OrderedDict, and no model .*FACTORY:CHECKP"):
        load_pickle(file, trust=True)


def load_any(file: Path) -> Any:
    import torch

    if file.suffix == ".pt2":
        return load_program(file, trust=False)
    if file.suffix == ".pt":
        return load_script(file, torch.device("cpu"))
    return load_pickle(file, trust=True)


@pytest.mark.parametrize("kind", ["program", "script", "pickled"])
def test_a_file_that_is_missing_cut_off_or_damaged_is_told_in_one_line(
    kind: str, request: pytest.FixtureRequest
) -> None:
    file: Path = request.getfixturevalue(kind)
    whole = file.read_bytes()

    def told() -> str:
        with pytest.raises((Failed, Misuse)) as caught:
            load_any(file)
        text = str(caught.value)
        assert "\n" not in text
        assert len(text) < 200
        return text

    file.write_bytes(whole[: len(whole) // 2])
    assert told() == f"{file.name} is damaged or cut off: it is no zip archive"
    file.write_bytes(b"junk" * 100)
    assert told() == f"{file.name} is damaged or cut off: it is no zip archive"
    middle = len(whole) // 3
    file.write_bytes(whole[:middle] + b"\x00" * 300 + whole[middle + 300 :])
    assert told().startswith(f"{file.name} is ")
    file.write_bytes(whole)
    rewrite(file, lambda name, data: b"" if name.endswith((".json", ".pkl", "version")) else data)
    assert told().startswith(f"{file.name} is ")
    file.unlink()
    assert told() == f"there is no file {file.name}"


def test_a_file_of_another_kind_is_told(pickled: Path) -> None:
    import torch

    with pytest.raises(Failed, match=r"^m.pkl is no TorchScript file that this torch can load: "):
        load_script(pickled, torch.device("cpu"))
    with pytest.raises(Failed, match=r"^m.pkl is no torch.export file that this torch can load: "):
        load_program(pickled, trust=False)


def test_a_file_of_a_newer_torch_is_told(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    add_part(program, "archive_format", b"pt2")

    def fail(_: Any) -> None:
        raise KeyError("version")

    monkeypatch.setattr(torch.export, "load", fail)
    with pytest.raises(Failed, match=r"^m.pt2 was written by a newer torch than \d"):
        load_program(program, trust=False)


def test_a_pickle_whose_code_is_missing_is_told(
    pickled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    def fail(*_: Any, **__: Any) -> None:
        raise ModuleNotFoundError("No module named 'fairseq'", name="fairseq")

    monkeypatch.setattr(torch, "load", fail)
    with pytest.raises(Failed, match="needs the package 'fairseq', which is not installed for"):
        load_pickle(pickled, trust=True)
