"""Types that NumPy lacks travel as float32, under their old names and exactly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from detaudit.errors import ModelError
from detaudit.models import widen as module
from detaudit.models.model import Model, TensorInfo
from detaudit.models.opening import open_model
from detaudit.models.widen import widen
from tests import builders
from tests.models.test_external import WEIGHTS, lay

Opened = Callable[..., Model]


def run(model: Model, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    """Run a model by ONNX Runtime, and check that it still has its old signature."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model.graph, providers=["CPUExecutionProvider"])
    assert [value.name for value in session.get_inputs()] == [i.name for i in model.inputs]
    assert [value.name for value in session.get_outputs()] == [o.name for o in model.outputs]
    names = [output.name for output in model.outputs]
    return dict(zip(names, session.run(None, inputs), strict=True))


def bfloat(values: np.ndarray) -> np.ndarray:
    """Round float32 to bfloat16, ties to even."""
    bits = values.astype(np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


X = np.random.RandomState(0).standard_normal(50).astype(np.float32)


def test_an_output(opened: Opened, work: Path) -> None:
    model = opened("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[n] x) => (bfloat16[n] y, float[n] z) {
            y = Cast <to = 16> (x)
            z = Cast <to = 1> (y)
        }""")
    assert model.widened == ("y",)
    assert model.outputs[0] == TensorInfo("y", "bfloat16", ("n",))
    assert work in model.graph.parents
    found = run(model, x=X)
    np.testing.assert_array_equal(found["y"], bfloat(X))
    np.testing.assert_array_equal(found["z"], bfloat(X))
    assert found["y"].dtype == np.float32


def test_the_file_is_left_alone(tmp_path: Path, work: Path) -> None:
    path = builders.bf16_output(tmp_path)
    before = path.read_bytes()
    model = open_model(path, work=work)
    assert path.read_bytes() == before
    assert (model.path, model.size, model.widened) == (path, len(before), ("y",))


def test_an_input(opened: Opened) -> None:
    model = opened("""<ir_version: 8, opset_import: ["" : 17]>
        net (bfloat16[n] x) => (float[n] y) { y = Cast <to = 1> (x) }""")
    assert model.widened == ("x",)
    assert model.inputs == (TensorInfo("x", "bfloat16", ("n",)),)
    np.testing.assert_array_equal(run(model, x=X)["y"], bfloat(X))


def test_an_input_that_is_an_output(opened: Opened) -> None:
    model = opened("""<ir_version: 8, opset_import: ["" : 17]>
        net (bfloat16[n] x) => (bfloat16[n] y, float[n] z) {
            y = Identity (x)
            z = Cast <to = 1> (x)
        }""")
    assert model.widened == ("x", "y")
    found = run(model, x=X)
    np.testing.assert_array_equal(found["y"], bfloat(X))
    np.testing.assert_array_equal(found["z"], bfloat(X))


def test_a_weight_that_is_an_output(opened: Opened) -> None:
    weight = helper.make_tensor("w", TensorProto.BFLOAT16, [2], [1.5, -2.0])
    value = helper.make_tensor_value_info("w", TensorProto.BFLOAT16, [2])
    node = helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([node], "g", [], [value, y], [weight])
    for listed in (False, True):
        if listed:
            graph.input.append(value)
        built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        model = opened(built)
        assert model.widened == ("w",)
        assert model.inputs == ()


def test_names_that_branches_see(opened: Opened) -> None:
    model = opened("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[n] x, bool c, float[n] y_narrow) => (bfloat16[n] y, float[n] z) {
            y = Cast <to = 16> (x)
            z = If (c) <
                then_branch = yes () => (float[n] t) { t = Cast <to = 1> (y) },
                else_branch = no () => (float[n] e) { e = Identity (y_narrow) }
            >
        }""")
    for flag in (True, False):
        found = run(model, x=X, c=np.array(flag), y_narrow=2 * X)
        np.testing.assert_array_equal(found["y"], bfloat(X))
        np.testing.assert_array_equal(found["z"], bfloat(X) if flag else 2 * X)


def test_nothing_to_do(opened: Opened, work: Path) -> None:
    model = opened("""<ir_version: 8, opset_import: ["" : 17]>
        net (float16[n] x) => (float16[n] y) { z = Cast <to = 16> (x)  y = Cast <to = 10> (z) }""")
    assert model.widened == ()
    assert model.graph == model.path
    assert list(work.iterdir()) == []


@pytest.mark.modern
@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float8e4m3fn", [0, 1, -2, 3.5]),
        ("float8e5m2", [0, 1, -2, 3.5]),
        ("int4", [0, 1, -2, 4]),
        ("uint4", [0, 1, 0, 4]),
    ],
)
def test_other_types(tmp_path: Path, work: Path, dtype: str, expected: list[float]) -> None:
    model = open_model(builders.narrow_output(tmp_path, dtype), work=work)
    assert (model.widened, model.outputs[0].dtype) == (("y",), dtype)
    x = np.array([[0, 1, -2 if dtype != "uint4" else 0, 3.5]], np.float32)
    np.testing.assert_array_equal(run(model, x=x)["y"], [expected])


@pytest.mark.parametrize("location", ["w.bin", "sub/w.bin", "model.onnx"])
def test_external_data_come_along(tmp_path: Path, work: Path, location: str) -> None:
    path = lay(tmp_path / "m", location if location != "model.onnx" else "w.bin")
    model = onnx.load(path, load_external_data=False)
    if location == "model.onnx":  # a weight file of the very name that is written
        (path.parent / "w.bin").rename(path.parent / location)
        for entry in model.graph.initializer[0].external_data:
            if entry.key == "location":
                entry.value = location
        path = path.parent / "net.onnx"
    model.graph.node.append(helper.make_node("Cast", ["y"], ["b"], to=TensorProto.BFLOAT16))
    model.graph.output.append(helper.make_tensor_value_info("b", TensorProto.BFLOAT16, [8]))
    path.write_bytes(model.SerializeToString())
    opened = open_model(path, work=work)
    assert opened.widened == ("b",)
    x = np.ones(8, np.float32)
    np.testing.assert_array_equal(run(opened, x=x)["b"], bfloat(WEIGHTS + 1))


def test_no_room(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = builders.bf16_output(tmp_path)
    model = onnx.load(path)
    assert widen(model) == ("y",)
    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(ModelError, match="No space left on device"):
        module.save_beside(model, {}, work)
