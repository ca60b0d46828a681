"""Weights in files beside the model: found, digested, and never read from elsewhere."""

from __future__ import annotations

import errno
import hashlib
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from detaudit.errors import ModelError
from detaudit.models import external
from detaudit.models.opening import open_model
from tests import builders

WEIGHTS = np.arange(8, dtype=np.float32)


def build(location: str, length: int = WEIGHTS.nbytes, inner: bool = False) -> onnx.ModelProto:
    """Build ``y = x + w`` with w in another file, in a branch or in the main graph."""
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[8])
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", str(length))):
        weight.external_data.add(key=key, value=value)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [8]) for name in "xy")
    add = helper.make_node("Add", ["x", "w"], ["y"])
    if inner:
        constant = helper.make_node("Constant", [], ["w"], value=weight)
        branch = helper.make_graph([constant, add], "branch", [], [y])
        node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
        condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
        graph = helper.make_graph([node], "g", [x, condition], [y])
    else:
        graph = helper.make_graph([add], "g", [x], [y], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def lay(folder: Path, location: str = "w.bin", **options: bool) -> Path:
    """Write the model and its weights into a folder."""
    target = folder / location
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(WEIGHTS.tobytes())
    path = folder / "model.onnx"
    path.write_bytes(build(location, **options).SerializeToString())
    return path


def runs(path: Path) -> bool:
    """Tell whether ONNX Runtime loads a model and gives the right sums."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": np.ones(8, np.float32)})
    return bool(np.array_equal(y, WEIGHTS + 1))


@pytest.mark.parametrize(
    "location", ["w.bin", "./w.bin", "sub/w.bin", "größe é.bin", "sub/../w.bin"]
)
def test_parts_are_found_and_digested(tmp_path: Path, work: Path, location: str) -> None:
    (tmp_path / "m/sub").mkdir(parents=True)
    path = lay(tmp_path / "m", location)
    model = open_model(path, work=work)
    lines = sorted(
        (name, f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {name}\n")
        for name, file in (("model.onnx", path), (location, tmp_path / "m" / location))
    )
    assert model.sha256 == hashlib.sha256("".join(line for _, line in lines).encode()).hexdigest()
    assert model.size == path.stat().st_size + WEIGHTS.nbytes
    assert model.graph == path
    assert runs(model.graph)
    assert list(work.iterdir()) == []


def test_the_digest_can_be_had_with_sha256sum(tmp_path: Path, work: Path) -> None:
    path = lay(tmp_path / "m")
    command = "sha256sum model.onnx w.bin | sha256sum"
    printed = subprocess.run(
        command, shell=True, cwd=path.parent, check=True, capture_output=True, text=True
    )
    assert open_model(path, work=work).sha256 == printed.stdout.split()[0]


def test_every_byte_of_every_part_counts(tmp_path: Path, work: Path) -> None:
    path = lay(tmp_path / "m")
    before = open_model(path, work=work).sha256
    (path.parent / "w.bin").write_bytes(WEIGHTS[::-1].tobytes())
    assert open_model(path, work=work).sha256 != before


@given(content=st.binary(max_size=100))
def test_digest_of_a_file(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("digest") / "file"
    path.write_bytes(content * 20_000)  # more than a block
    assert external.digest_file(path) == hashlib.sha256(content * 20_000).hexdigest()


def test_weights_in_branches_are_parts_too(tmp_path: Path, work: Path) -> None:
    path = lay(tmp_path / "m", inner=True)
    assert open_model(path, work=work).size == path.stat().st_size + WEIGHTS.nbytes
    (path.parent / "w.bin").unlink()
    with pytest.raises(ModelError, match=r"external data 'w\.bin' is missing"):
        open_model(path, work=work)


@pytest.mark.parametrize(
    "location",
    [
        "../secret.bin",
        "/etc/hostname",
        "a/../../secret.bin",
        "C:\\secret",
        "..\\secret",
        "\\x",
        "C:x",
    ],
)
@pytest.mark.parametrize("inner", [False, True])
def test_what_lies_elsewhere_is_never_read(
    tmp_path: Path,
    work: Path,
    monkeypatch: pytest.MonkeyPatch,
    location: str,
    inner: bool,
) -> None:
    (tmp_path / "secret.bin").write_bytes(WEIGHTS.tobytes())
    path = tmp_path / "m/model.onnx"
    path.parent.mkdir()
    path.write_bytes(build(location, inner=inner).SerializeToString())
    monkeypatch.setattr(external, "digest_file", lambda read: pytest.fail(f"read {read}"))
    with pytest.raises(ModelError) as caught:
        open_model(path, work=work)
    assert str(caught.value) == (
        f"{path}: external data '{location}' leaves the folder of the model; not read"
    )


def test_the_cases_of_others(tmp_path: Path, work: Path) -> None:
    with pytest.raises(ModelError, match=r"'\.\./secret\.bin' leaves the folder"):
        open_model(builders.external_data_escaping(tmp_path), work=work)
    with pytest.raises(ModelError, match="is missing"):
        open_model(builders.external_data_missing(tmp_path), work=work)
    model = open_model(builders.non_ascii_path(tmp_path), work=work)
    assert model.graph == model.path


def test_memory_addresses_are_no_files(tmp_path: Path, work: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(build("*/_ORT_MEM_ADDR_/*").SerializeToString())
    with pytest.raises(ModelError, match="is missing"):
        open_model(path, work=work)


def test_cut_off(tmp_path: Path, work: Path) -> None:
    path = lay(tmp_path / "m")
    (path.parent / "w.bin").write_bytes(WEIGHTS.tobytes()[:-1])
    with pytest.raises(ModelError, match=r"'w\.bin' was cut off: 31 bytes of 32"):
        open_model(path, work=work)


@pytest.mark.parametrize("length", ["-5", "many"])
def test_lengths_that_are_none(tmp_path: Path, work: Path, length: str) -> None:
    path = lay(tmp_path / "m")
    path.write_bytes(build("w.bin", length).SerializeToString())  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="offset or length"):
        open_model(path, work=work)


def test_no_file_name(tmp_path: Path, work: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(build("").SerializeToString())
    with pytest.raises(ModelError, match="no file name"):
        open_model(path, work=work)


def hub(folder: Path) -> Path:
    """Lay a model out as the Hugging Face hub caches it."""
    real = lay(folder / "lying")
    blobs, snapshot = folder / "blobs", folder / "snapshots/revision/onnx"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    for blob, name in (("aaa", "model.onnx"), ("bbb", "w.bin")):
        shutil.move(real.parent / name, blobs / blob)
        (snapshot / name).symlink_to(f"../../../blobs/{blob}")
    return snapshot / "model.onnx"


def test_hub_cache(tmp_path: Path, work: Path) -> None:
    path = hub(tmp_path)
    model = open_model(path, work=work)
    assert runs(model.graph)
    assert model.graph == path
    assert model.sha256 == open_model(lay(tmp_path / "plain"), work=work).sha256


def test_a_link_to_a_model_whose_data_lie_beside_the_real_one(tmp_path: Path, work: Path) -> None:
    path = lay(tmp_path / "real")
    link = tmp_path / "link.onnx"
    link.symlink_to(path)
    model = open_model(link, work=work)
    assert runs(model.graph)
    assert (model.path, model.graph) == (link, path)


@pytest.mark.parametrize("linkable", [True, False])
def test_links_into_different_folders(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch, linkable: bool
) -> None:
    real = lay(tmp_path / "real")
    (tmp_path / "cache/a").mkdir(parents=True)
    (tmp_path / "cache/b").mkdir()
    (tmp_path / "linked").mkdir()
    for name, home in (("model.onnx", "a"), ("w.bin", "b")):
        shutil.move(real.parent / name, tmp_path / "cache" / home / name)
        (tmp_path / "linked" / name).symlink_to(f"../cache/{home}/{name}")
    if not linkable:
        monkeypatch.setattr(external.os, "link", deny)
    model = open_model(tmp_path / "linked/model.onnx", work=work)
    assert work in model.graph.parents
    assert runs(model.graph)
    assert (model.graph.parent / "w.bin").samefile(tmp_path / "cache/b/w.bin") == linkable


def deny(*_: object) -> None:
    """Fail as a file system without hard links does."""
    raise OSError(errno.EXDEV, "Invalid cross-device link")


def test_no_room_for_a_copy(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(source: Path, target: Path) -> None:
        target.write_bytes(b"a part")
        raise OSError(errno.ENOSPC, "No space left on device")

    path = lay(tmp_path / "m")
    monkeypatch.setattr(external.os, "link", deny)
    monkeypatch.setattr(external.shutil, "copyfile", fill)
    with pytest.raises(ModelError, match="No space left on device; free some space there"):
        external.stage({"w.bin": path.parent / "w.bin"}, work)
    assert list(work.iterdir()) == []


def test_data_behind_a_link(tmp_path: Path, work: Path) -> None:
    path = lay(tmp_path / "m")
    data = path.parent / "w.bin"
    data.rename(path.parent / "real.bin")
    data.symlink_to("real.bin")
    assert runs(open_model(path, work=work).graph)
    data.unlink()
    (path.parent / "real.bin").rename(tmp_path / "outside.bin")
    data.symlink_to("../outside.bin")
    with pytest.raises(ModelError, match="is a link that leaves the folder of the model"):
        open_model(path, work=work)


def test_a_folder_behind_a_link(tmp_path: Path, work: Path) -> None:
    lay(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    assert runs(open_model(tmp_path / "link/model.onnx", work=work).graph)
    assert runs(open_model(tmp_path / "link", work=work).graph)
