"""What is found where, what a model is told to be, and one clear line for everything else."""

from __future__ import annotations

import gzip
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detaudit.errors import ModelError, UsageError
from detaudit.models.model import Model, TensorInfo
from detaudit.models.opening import open_model
from tests import builders
from tests.models.conftest import PLAIN

Write = Callable[..., Path]


def zip_folder(folder: Path, path: Path) -> Path:
    """Pack a folder into a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for file in sorted(folder.rglob("*")):
            zipped.write(file, file.relative_to(folder))
    return path


def refuse(path: Path | str, work: Path, *words: str, error: type[Exception] = ModelError) -> None:
    """Check that opening fails with one line that has some words, and leaves nothing behind."""
    with pytest.raises(error) as caught:
        open_model(path, work=work)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    for word in words:
        assert word in message
    assert list(work.iterdir()) == []


def test_a_plain_file(write: Write, work: Path) -> None:
    path = write(PLAIN)
    content = path.read_bytes()
    assert open_model(path, work=work) == Model(
        path=path,
        format="onnx",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        graph=path,
        root=None,
        inputs=(TensorInfo("x", "float32", ("n", 4)),),
        outputs=(TensorInfo("y", "float32", ("n", 4)),),
        ir_version=8,
        opsets=(("", 17),),
        nodes=1,
        parts=(path,),
    )
    assert list(work.iterdir()) == []


def test_the_path_may_be_text(write: Write, work: Path) -> None:
    path = write()
    assert open_model(str(path), work=work) == open_model(path, work=work)


@pytest.mark.parametrize("name", ["model", "model.txt", "model.zip", "a b é 模型.onnx", "-x", "~"])
def test_the_name_does_not_matter(write: Write, work: Path, name: str) -> None:
    assert open_model(write(name=name), work=work).format == "onnx"


def test_a_zip_of_another_name(write: Write, work: Path, tmp_path: Path) -> None:
    write(name="in/net.onnx")
    path = zip_folder(tmp_path / "in", tmp_path / "model.onnx")
    assert open_model(path, work=work).graph.read_bytes() == (tmp_path / "in/net.onnx").read_bytes()


def test_an_archive_with_a_plain_file(write: Write, work: Path, tmp_path: Path) -> None:
    write(name="in/deeper/net.onnx")
    path = zip_folder(tmp_path / "in", tmp_path / "a.zip")
    model = open_model(path, work=work)
    assert (model.format, model.path, model.root) == ("onnx", path, None)
    assert work in model.graph.parents
    assert model.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert model.size == path.stat().st_size


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("deeper", ["", "one/"])
def test_folders(write: Write, work: Path, tmp_path: Path, archived: bool, deeper: str) -> None:
    write(name=f"in/{deeper}net.ONNX")
    (tmp_path / "in/readme.txt").write_text("hello")
    (tmp_path / "in/__MACOSX").mkdir()
    write(name="in/__MACOSX/other.onnx")
    folder = tmp_path / "in"
    path = zip_folder(folder, tmp_path / "a.zip") if archived else folder
    model = open_model(path, work=work)
    assert (model.graph.name, model.path) == ("net.ONNX", path)


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize(
    ("first", "second"),
    [("a.onnx", "b.onnx"), ("a/model.onnx", "b/model.onnx"), ("a/x.onnx", "a/y.onnx")],
)
def test_several_models(
    write: Write, work: Path, tmp_path: Path, archived: bool, first: str, second: str
) -> None:
    write(name=f"in/{first}")
    write(name=f"in/{second}")
    folder = tmp_path / "in"
    path = zip_folder(folder, tmp_path / "a.zip") if archived else folder
    with pytest.raises(ModelError) as caught:
        open_model(path, work=work)
    message = str(caught.value)
    assert message.startswith(f"{path}: holds several models: ")
    assert first.removesuffix("/model.onnx") in message
    assert second.removesuffix("/model.onnx") in message
    assert message.endswith("unpack it and name one of them" if archived else "; name one of them")


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("file", ["readme.txt", "one/two/model.onnx", "__MACOSX/model.onnx"])
def test_no_model(write: Write, work: Path, tmp_path: Path, archived: bool, file: str) -> None:
    write(name=f"in/{file}")
    folder = tmp_path / "in"
    path = zip_folder(folder, tmp_path / "a.zip") if archived else folder
    with pytest.raises(ModelError, match="holds no model: neither"):
        open_model(path, work=work)


def test_an_empty_folder_and_an_empty_archive(work: Path, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    refuse(folder, work, "holds no model")
    path = zip_folder(folder, tmp_path / "a.zip")
    with pytest.raises(ModelError, match="holds no model"):
        open_model(path, work=work)


@pytest.mark.parametrize("path", ["", "missing.onnx", "a\0b", "missing/model.onnx"])
def test_a_missing_path(work: Path, path: str) -> None:
    refuse(path, work, "no such file or folder", error=UsageError)


def test_a_link_to_nothing(work: Path, tmp_path: Path) -> None:
    path = tmp_path / "link.onnx"
    path.symlink_to("nowhere")
    refuse(path, work, "link to a file that does not exist", error=UsageError)


def test_a_pipe(work: Path, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    refuse(path, work, "neither a file nor a folder")


def test_other_archives(write: Write, work: Path, tmp_path: Path) -> None:
    inside = write()
    packed = tmp_path / "model.tar"
    with tarfile.open(packed, "w") as archive:
        archive.add(inside, "model.onnx")
    refuse(packed, work, "is a tar archive", "zip archives")
    squeezed = tmp_path / "model.onnx.gz"
    squeezed.write_bytes(gzip.compress(inside.read_bytes()))
    refuse(squeezed, work, "is a gzip file", "zip archives")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_never_loaded(work: Path, tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "weights.pth"
    path.write_bytes(pickle.dumps(Trap(tmp_path / "sprung"), protocol))
    refuse(path, work)
    assert not (tmp_path / "sprung").exists()


class Trap:
    """Creates a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_torch_checkpoint(work: Path, tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weights/data.pkl", b"\x80\x02")
        archive.writestr("weights/version", b"3")
    refuse(path, work, "is a file of torch and no ONNX or audonnx model")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"),
        (b"<!DOCTYPE html>", "is a text file"),
        (b'  {"a": 1}', "is a text file"),
        (b"hello world, this is no model", "is no ONNX file"),
        (b"\x18\x00\x00\x00ORTM" + bytes(20), "ORT format"),
        (b"\x1c\x00\x00\x00TFL3" + bytes(20), "TensorFlow Lite"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"\x93NUMPY\x01\x00", "NumPy array"),
        (b"\x40\x00\x00\x00\x00\x00\x00\x00" + b'{"a":{"dtype":"F32"}}', "file of torch"),
        (b"RIFF\x00\x00\x00\x00WAVE", "sound"),
        (b"7z\xbc\xaf\x27\x1c", "7z archive"),
        (b"$other.Class==1.0:\n  path: x\n", "is no ONNX file"),
        (bytes(100), "is no ONNX file"),
        (b"\x08\x08", "is no ONNX file"),
    ],
)
def test_other_contents(work: Path, tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    refuse(path, work, words)


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
def test_cut_off(write: Write, work: Path, kept: float) -> None:
    path = write()
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    refuse(path, work, "damaged or was cut off")


def test_broken_files_of_others(work: Path, tmp_path: Path) -> None:
    refuse(builders.truncated(tmp_path), work, "damaged or was cut off")
    refuse(builders.not_onnx(tmp_path), work, "ONNX")
    refuse(builders.empty_file(tmp_path), work, "empty")


def test_a_file_that_must_not_be_read(
    write: Write, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write()
    monkeypatch.setattr(Path, "open", deny)
    refuse(path, work, "cannot be read: Permission denied")


def test_a_format_that_is_too_new(work: Path, tmp_path: Path) -> None:
    import onnxruntime

    path = builders.ir_version_99(tmp_path)
    refuse(
        path,
        work,
        "ir_version) 99",
        f"{onnx.IR_VERSION} (onnx {onnx.__version__})",
        f"(onnxruntime {onnxruntime.__version__})",
    )


def test_a_format_that_only_the_runtime_knows(
    write: Write, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write()
    monkeypatch.setattr(onnx, "IR_VERSION", 7)
    assert open_model(path, work=work).ir_version == 8


def test_without_a_runtime_only_onnx_is_named(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    refuse(builders.ir_version_99(tmp_path), work, f"known here is {onnx.IR_VERSION} (onnx")


def test_an_unknown_domain(work: Path, tmp_path: Path) -> None:
    refuse(builders.unknown_domain(tmp_path), work, "my.ops:Nope", "custom operator")


def test_unknown_operators_wherever_they_hide(write: Write, work: Path) -> None:
    path = write("""<ir_version: 8, opset_import: ["" : 17, "b.ops" : 1, "a.ops" : 1, "f" : 1]>
        net (bool c, float[n] x) => (float[n] y) {
            z = f.outer (x)
            y = If (c) <
                then_branch = yes () => (float[n] t) { t = b.ops.Two (z) },
                else_branch = no () => (float[n] e) { e = Neg (z) }
            >
        }
        <domain: "f", opset_import: ["" : 17, "a.ops" : 1]>
        outer (i) => (o) { o = a.ops.One (i) }""")
    refuse(path, work, ": a.ops:One, b.ops:Two;")


def test_domains_of_the_runtime_and_local_functions(opened: Callable[..., Model]) -> None:
    model = opened("""<ir_version: 8, opset_import:
            ["" : 17, "com.microsoft" : 1, "my" : 1, "unused.ops" : 3]>
        net (float[n] x) => (float[n] y) { z = com.microsoft.FastGelu (x)  y = my.twice (z) }
        <domain: "my", opset_import: ["" : 17]> twice (i) => (o) { o = Add (i, i) }""")
    assert dict(model.opsets)["my"] == 1


def test_a_graph_without_outputs(write: Write, work: Path) -> None:
    model = onnx.parser.parse_model(PLAIN)
    del model.graph.output[:]
    refuse(write(model), work, "no output")


def test_no_operator_set(write: Write, work: Path) -> None:
    model = onnx.parser.parse_model(PLAIN)
    del model.opset_import[:]
    refuse(write(model), work, "operator set version")


def test_larger_than_one_file_can_be(work: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    with path.open("wb") as file:
        file.write(b"\x08\x08")
        file.truncate(2**31)
    refuse(path, work, "2 GB", "external data")


def test_messages_name_the_file_in_the_archive(work: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/net.onnx").write_bytes(b"\x08\x08\x3a\xff")
    path = zip_folder(tmp_path / "in", tmp_path / "a.zip")
    with pytest.raises(ModelError) as caught:
        open_model(path, work=work)
    assert str(caught.value) == f"{path}: net.onnx: the ONNX file is damaged or was cut off"


def test_old_files_list_weights_among_the_inputs(work: Path, tmp_path: Path) -> None:
    for ir in (3, 8):
        model = open_model(builders.weights_among_inputs(tmp_path, ir), work=work)
        assert [value.name for value in model.inputs] == ["x"]


def test_open_and_unknown_axes(work: Path, tmp_path: Path) -> None:
    inputs = open_model(builders.mixed_axes(tmp_path), work=work).inputs
    assert None in [value.shape for value in inputs]
    mixed = next(value.shape for value in inputs if value.shape)
    assert {type(size) for size in mixed} == {str, int, type(None)}
    assert () in [
        value.shape for value in open_model(builders.scalar_input(tmp_path), work=work).inputs
    ]


def test_opening_imports_neither_runtime_nor_torch(write: Write, work: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from detaudit.models.opening import open_model\n"
        "assert 'onnx' not in sys.modules, 'imported too early'\n"
        f"open_model({str(write())!r}, work=pathlib.Path({str(work)!r}))\n"
        "found = {'onnxruntime', 'torch', 'audonnx', 'pandas', 'yaml'} & set(sys.modules)\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_real_models(magika: Path, silero: Path, dnsmos: Path, work: Path) -> None:
    found = open_model(magika, work=work)
    assert found.inputs[0].shape[1:] == (2048,)  # type: ignore[index]
    assert [(r.input, r.low, r.high) for r in found.id_ranges] == [("bytes", 0, 256)]
    assert found.score_outputs == ("target_label",)
    assert found.random_ops == ()
    assert open_model(silero, work=work).inputs[2] == TensorInfo("sr", "int64", ())
    assert open_model(dnsmos, work=work).outputs == (TensorInfo("Identity:0", "float32", ("N", 3)),)


def test_renamed_copies_have_one_digest(write: Write, work: Path, tmp_path: Path) -> None:
    path = write()
    copy = shutil.copy(path, tmp_path / "copy.onnx")
    assert open_model(path, work=work).sha256 == open_model(copy, work=work).sha256


SEEDS = [
    """<ir_version: 8, opset_import: ["" : 17, "f" : 1], producer_name: "by hand">
    net (int64[n, t] ids, bfloat16[n] x) => (float[] y, bfloat16[n] z) {
        s = Shape (ids)
        axis = Constant <value = int64 {1}> ()
        n = Gather (s, axis)
        start = Constant <value_int = 0> ()
        p = Range (start, n, axis)
        words = Constant <value = float[3, 2] {1, 2, 3, 4, 5, 6}> ()
        a = Gather (words, p)
        b = f.embed (words, ids)
        c = Add (a, b)
        y = Softmax <axis = 1> (c)
        z = Dropout (x, , axis)
    }
    <domain: "f", opset_import: ["" : 17]> embed (w, i) => (o) { o = Gather (w, i) }""",
    """<ir_version: 3, opset_import: ["" : 17]>
    net (bool c, float[n] x) => (float[n] logits) {
        logits = If (c) <
            then_branch = yes () => (float[n] t) { t = RandomNormalLike <seed = 1.0> (x) },
            else_branch = no () => (float[n] e) { e = Clip (x) }
        >
    }""",
]


@given(
    seed=st.sampled_from(SEEDS),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4),
)
@settings(max_examples=300)
def test_damage_anywhere_is_a_clear_line_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, seed: str, changes: list[tuple[float, int]]
) -> None:
    work = tmp_path_factory.getbasetemp()
    path = work / "damaged.onnx"
    content = bytearray(onnx.parser.parse_model(seed).SerializeToString())
    for place, byte in changes:
        content[int(place * len(content))] = byte
    path.write_bytes(content)
    try:
        model = open_model(path, work=work)
    except ModelError as error:
        message = str(error)
    else:
        message = f"{path}: {model.format}"
        if model.widened:
            shutil.rmtree(model.graph.parent)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()


def test_names_that_are_no_text(write: Write, work: Path) -> None:
    path = write(PLAIN.replace("y", "same"))
    path.write_bytes(path.read_bytes().replace(b"same", b"\xff\xfe\xff\xfe"))
    refuse(path, work, "damaged: a name in it is no text")


def test_names_that_would_break_the_line(write: Write, work: Path) -> None:
    model = onnx.parser.parse_model(PLAIN)
    model.graph.node[0].domain = "my\n\x1b[31m"
    refuse(write(model), work, r"my\n\x1b[31m:Relu")
