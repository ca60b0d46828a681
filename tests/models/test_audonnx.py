"""audonnx folders mean here what they mean to audonnx, and no code of theirs runs."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from detaudit.errors import ModelError, UsageError
from detaudit.models.audonnx import audonnx_shape
from detaudit.models.model import Labels, TensorInfo
from detaudit.models.opening import open_model

Write = Callable[..., Path]

NET = """<ir_version: 8, opset_import: ["" : 17]>
    net (float[1, time] signal) => (float[1, 2] gender, float[1, 3, frames] logits, float age) {
        gender = ReduceMean <axes = [1]> (signal)
        logits = Identity (signal)
        age = ReduceMean <keepdims = 0> (signal)
    }"""
ONE = """<ir_version: 8, opset_import: ["" : 17]>
    net (float[1, time] signal) => (float[2] gender) { gender = Identity (signal) }"""
HEAD = "$audonnx.core.model.Model==1.0.1:\n"


@pytest.fixture
def folder(write: Write, tmp_path: Path) -> Path:
    """Folder of the older layout with one output of two values."""
    return write(ONE, "folder/model.onnx").parent


def describe(folder: Path, arguments: str, head: str = HEAD) -> Path:
    """Write a description into a folder."""
    (folder / "model.yaml").write_text(head + arguments, encoding="utf-8")
    return folder


def refuse(folder: Path, work: Path, *words: str) -> None:
    """Check that a folder is refused in one line that has some words."""
    with pytest.raises(ModelError) as caught:
        open_model(folder, work=work)
    message = str(caught.value)
    assert message.startswith(f"{folder}: ")
    assert "\n" not in message
    for word in words:
        assert word in message


def test_described(folder: Path, work: Path) -> None:
    describe(folder, "  path: model.onnx\n  labels:\n  - female\n  - male\n  transform: null\n")
    model = open_model(folder, work=work)
    assert (model.format, model.root, model.graph) == ("audonnx", folder, folder / "model.onnx")
    assert (model.threads, model.transform) == (1, False)
    assert model.labels == (Labels("gender", ("female", "male"), -1),)
    names = ("model.onnx", "model.yaml")
    lines = [f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names]
    assert model.sha256 == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert model.size == sum((folder / name).stat().st_size for name in names)


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("prefix", ["", "one deep/"])
def test_where_it_lies(
    folder: Path, work: Path, tmp_path: Path, archived: bool, prefix: str
) -> None:
    describe(folder, "  path: model.onnx\n  labels: [female, male]\n")
    outer = tmp_path / "outer"
    (outer / prefix).parent.mkdir(parents=True, exist_ok=True)
    outer.mkdir(exist_ok=True)
    target = outer / prefix if prefix else outer
    if not prefix:
        outer.rmdir()
    folder.rename(target)
    path = outer
    if archived:
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w") as zipped:
            for file in outer.rglob("*"):
                zipped.write(file, file.relative_to(outer))
            zipped.writestr("__MACOSX/._model.yaml", b"\x00\x05\x16\x07")
    model = open_model(path, work=work)
    assert model.labels == (Labels("gender", ("female", "male"), -1),)
    assert (model.path, model.format, model.threads) == (path, "audonnx", 1)
    assert (work in model.graph.parents) == archived


def test_the_description_itself_may_be_named(folder: Path, work: Path) -> None:
    describe(folder, "  path: model.onnx\n")
    model = open_model(folder / "model.yaml", work=work)
    assert (model.root, model.sha256) == (folder, open_model(folder, work=work).sha256)
    (folder / "model.yaml").rename(folder / "other.yaml")
    refuse(folder / "other.yaml", work, "only as model.yaml")


def test_the_graph_may_have_another_name_and_folder(write: Write, work: Path) -> None:
    folder = write(ONE, "folder/sub/net.onnx").parents[1]
    describe(folder, "  path: sub/net.onnx\n")
    assert open_model(folder, work=work).graph == folder / "sub/net.onnx"


@pytest.mark.parametrize("head", ["", "$other.Class==1.0:\n", "# note\n" + HEAD, "---\n" + HEAD])
def test_the_older_layout(folder: Path, work: Path, head: str) -> None:
    if head:
        describe(folder, "  path: elsewhere.onnx\n", head)
    model = open_model(folder, work=work)
    assert (model.format, model.threads) == ("audonnx", 1)
    assert model.labels == (Labels("gender", ("gender-0", "gender-1"), -1),)
    (folder / "labels.yaml").write_text("- female\n- no\n")
    labelled = open_model(folder, work=work)
    assert labelled.labels == (Labels("gender", ("female", "no"), -1),)
    assert labelled.sha256 != model.sha256
    (folder / "labels.yaml").write_text("gender: [f, m]\n")
    assert open_model(folder, work=work).labels[0].names == ("f", "m")


def test_the_older_layout_with_a_transform(folder: Path, work: Path) -> None:
    (folder / "transform.yaml").write_text("$trap.core.Spring==1.0:\n  a: 1\n")
    refuse(folder, work, "--trust", "trap.core.Spring")
    assert open_model(folder, work=work, trust=True).transform


def test_a_description_of_others_without_a_model(tmp_path: Path, work: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    describe(folder, "", "name: something else\n")
    refuse(folder, work, "does not begin with $audonnx", "no model.onnx")


@pytest.mark.parametrize(
    "transform",
    [
        "    $trap.Spring==1.0:\n      a: null\n",
        "    signal:\n      $trap.Spring==1.0: {}\n",
        "    signal:\n      $package:trap.Spring:\n        inner:\n          $trap.Spring: {}\n",
    ],
)
def test_a_transform_needs_trust_and_runs_nothing(
    folder: Path,
    work: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    transform: str,
) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('sprung')")
    monkeypatch.syspath_prepend(tmp_path)
    describe(folder, "  path: model.onnx\n  transform:\n" + transform)
    refuse(folder, work, "--trust", "trap.Spring", "Python code")
    assert open_model(folder, work=work, trust=True).transform
    assert "trap" not in sys.modules


@pytest.mark.parametrize("transform", ["null", "~", "", "{}", "{signal: null}"])
def test_no_transform(folder: Path, work: Path, transform: str) -> None:
    describe(folder, f"  path: model.onnx\n  transform: {transform}\n")
    assert not open_model(folder, work=work).transform


@pytest.mark.parametrize(
    "text",
    [
        "  path: model.onnx\n  labels: !!python/object/apply:os.mkdir ['sprung']\n",
        "  path: !!python/object/apply:os.mkdir ['sprung']\n",
        "  path: model.onnx\n  labels:\n    $trap.Spring==1.0: {}\n",
    ],
)
def test_no_tag_and_no_object_is_made(
    folder: Path, work: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(folder)
    describe(folder, text)
    with pytest.raises(ModelError):
        open_model(folder, work=work, trust=True)
    assert not (folder / "sprung").exists()


def test_many_references_do_not_explode(folder: Path, work: Path) -> None:
    lines = ["  a0: &a0 [x, x]"]
    lines += [f"  a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60)]
    describe(folder, "  path: model.onnx\n" + "\n".join(lines) + "\n  transform: *a59\n")
    refuse(folder, work, "--trust")


@pytest.mark.parametrize(
    ("head", "arguments", "words"),
    [
        ("$audonnx.core.function.Function==1.0:\n", "  func: x\n", "not an audonnx model"),
        ("$audonnx_evil.Model:\n", "  path: model.onnx\n", "not an audonnx model"),
        (HEAD, "", "no ONNX file as its path"),
        (HEAD, "  labels: [a, b]\n", "no ONNX file as its path"),
        (HEAD, "  path: null\n", "no ONNX file as its path"),
        (HEAD, "  path: [a]\n", "no ONNX file as its path"),
        (HEAD, "  path: ../model.onnx\n", "leaves the folder"),
        (HEAD, "  path: /etc/passwd\n", "leaves the folder"),
        (HEAD, "  path: other.onnx\n", "'other.onnx' that model.yaml names is missing"),
        (HEAD, "  path: model.onnx\n  labels: [a, b\n", "model.yaml is no valid YAML at line"),
        (HEAD, "  path: model.onnx\nmore: 1\n", "no single object"),
        (HEAD, "  path: model.onnx\n  labels: a\n", "no list of names"),
        (HEAD, "  path: model.onnx\n  labels: [[a], b]\n", "no list of names"),
        (HEAD, "  path: model.onnx\n  labels: [a, b, c]\n", "3 labels do not fit output 'gender'"),
        (HEAD, "  path: model.onnx\n  labels: {gender: [a]}\n", "1 labels do not fit"),
        (HEAD, "  path: " + "[" * 1000 + "\n", "no valid YAML"),
    ],
)
def test_bad_descriptions(folder: Path, work: Path, head: str, arguments: str, words: str) -> None:
    refuse(describe(folder, arguments, head), work, words)


def test_bytes_that_are_no_text(folder: Path, work: Path) -> None:
    (folder / "model.yaml").write_bytes(HEAD.encode() + b"  path: \xff\xfe\n")
    refuse(folder, work, "no valid YAML")


def test_several_outputs(write: Write, work: Path) -> None:
    folder = write(NET, "folder/model.onnx").parent
    describe(folder, "  path: model.onnx\n  labels:\n    logits: [a, b, c]\n    absent: [x]\n")
    assert open_model(folder, work=work).labels == (
        Labels("gender", ("gender-0", "gender-1"), -1),
        Labels("logits", ("a", "b", "c"), -2),
        Labels("age", ("age",), -1),
    )
    describe(folder, "  path: model.onnx\n  labels: [a, b]\n")
    refuse(folder, work, "several outputs: gender, logits, age")


def test_sizes_that_only_inference_knows(write: Write, work: Path) -> None:
    path = write(
        """<ir_version: 8, opset_import: ["" : 17]>
        net (float[n, 2] x) => (float[n, classes] y) <float[2, 3] w = {1, 2, 3, 4, 5, 6}> {
            y = MatMul (x, w)
        }""",
        "folder/model.onnx",
    )
    model = open_model(path.parent, work=work)
    assert model.labels == (Labels("y", ("y-0", "y-1", "y-2"), -1),)
    assert model.outputs == (TensorInfo("y", "float32", ("n", "classes")),)
    (path.parent / "labels.yaml").write_text("[a, b]")
    refuse(path.parent, work, "has 3 values")


def test_labels_of_the_user(folder: Path, work: Path, tmp_path: Path) -> None:
    describe(folder, "  path: model.onnx\n  labels: [wrong, number, here]\n")
    for given in ("f,m", ["f", "m"], {"gender": ["f", "m"]}):
        found = open_model(folder, work=work, labels=given).labels
        assert found == (Labels("gender", ("f", "m"), -1),)
    with pytest.raises(UsageError, match="no output 'absent'; it has: gender"):
        open_model(folder, work=work, labels={"absent": ["a"]})
    with pytest.raises(UsageError, match="3 labels do not fit output 'gender'"):
        open_model(folder, work=work, labels="a,b,c")


def test_a_plain_file_has_labels_only_when_given(folder: Path, work: Path) -> None:
    path = folder / "model.onnx"
    assert open_model(path, work=work).labels == ()
    assert open_model(path, work=work, labels="f,m").labels == (Labels("gender", ("f", "m"), -1),)
    assert open_model(path, work=work).threads is None


@pytest.mark.parametrize(
    ("shape", "expected"),
    [(("n",), (-1,)), ((1, None, 3), (1, -1, 3)), ((), ()), (None, ()), ((2, 0), (2, 0))],
)
def test_shape(shape: tuple[int | str | None, ...] | None, expected: tuple[int, ...]) -> None:
    assert audonnx_shape(TensorInfo("x", "float32", shape)) == expected


def test_the_model_that_audonnx_tests_with(audonnx_gender: Path, work: Path) -> None:
    refuse(audonnx_gender, work, "--trust", "opensmile.core.smile.Smile")
    model = open_model(audonnx_gender, work=work, trust=True)
    assert model.transform
    assert model.labels == (Labels("gender", ("female", "male"), -1),)
    assert audonnx_shape(model.inputs[0]) == (18, -1)


@pytest.mark.modern
def test_audonnx_sees_the_same(write: Write, work: Path) -> None:
    import audonnx

    text = """<ir_version: 8, opset_import: ["" : 17]>
        net (float[1, 3, n] x, float[n, 2] z, float[n, m] w) =>
            (float[1, 3, n] a, float[n, 2] b, float[n, k] c, float[n, 1] d, float e) {
            a = Identity (x)
            b = Identity (z)
            c = Transpose (w)
            d = ReduceMean <axes = [1]> (z)
            e = ReduceMean <keepdims = 0> (z)
        }"""
    folder = write(text, "folder/model.onnx").parent
    (folder / "labels.yaml").write_text("b: [left, right]")
    theirs = audonnx.load(str(folder))
    ours = open_model(folder, work=work)
    named = {labels.output: list(labels.names) for labels in ours.labels}
    assert named == {name: node.labels for name, node in theirs.outputs.items() if node.labels}
    assert {i.name: list(audonnx_shape(i)) for i in ours.inputs} == {
        name: node.shape for name, node in theirs.inputs.items()
    }


def test_a_description_that_is_too_large(folder: Path, work: Path) -> None:
    describe(folder, "  path: model.onnx\n  note: " + "x" * 2**20 + "\n")
    refuse(folder, work, "model.yaml is larger than 1048576 bytes")
