"""Types, shapes and arithmetic as the file declares them."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper, parser

from detaudit.models.describe import (
    computes_in_integers,
    computes_low,
    inferred_outputs,
    signature,
)
from detaudit.models.model import TensorInfo
from detaudit.models.opening import open_model
from tests import builders


def model_of(body: str, head: str = "float[n] x") -> onnx.ModelProto:
    """Build a model from its body."""
    return parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        net ({head}) => (float[n] y) {{ {body} }}""")


@pytest.mark.parametrize(
    ("onnx_name", "name"),
    [
        *((name, name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16")),
        *((name, name) for name in ("uint32", "uint64", "bool", "string", "float16", "bfloat16")),
        *(("float", "float32"), ("double", "float64"), ("complex64", "complex64")),
        *(("complex128", "complex128"), ("float8e4m3fn", "float8e4m3fn")),
    ],
)
def test_types(onnx_name: str, name: str) -> None:
    kind = TensorProto.DataType.Value(onnx_name.upper())
    value = helper.make_tensor_value_info("x", kind, [1, "n", None])
    out = helper.make_tensor_value_info("y", kind, None)
    node = helper.make_node("Identity", ["x"], ["y"])
    model = helper.make_model(helper.make_graph([node], "g", [value], [out]))
    assert signature(model) == (
        (TensorInfo("x", name, (1, "n", None)),),
        (TensorInfo("y", name, None),),
    )


def test_a_type_that_onnx_does_not_know_yet() -> None:
    model = model_of("y = Neg (x)")
    model.graph.input[0].type.tensor_type.elem_type = 250
    assert signature(model)[0][0].dtype == "type250"


def test_types_that_are_no_tensors(tmp_path: Path, work: Path) -> None:
    def dtypes(path: Path) -> list[str]:
        return [output.dtype for output in open_model(path, work=work).outputs]

    assert "seq(map(int64,tensor(float)))" in dtypes(builders.zipmap(tmp_path))
    assert "seq(map(string,tensor(float)))" in dtypes(builders.zipmap(tmp_path, "strings"))
    assert "seq(tensor(float))" in dtypes(builders.split_to_sequence(tmp_path))
    assert dtypes(builders.optional_output(tmp_path))[0].startswith("optional(")
    kind = onnx.TypeProto()
    kind.sparse_tensor_type.elem_type = TensorProto.FLOAT
    model = model_of("y = Neg (x)")
    model.graph.output[0].type.CopyFrom(kind)
    assert signature(model)[1] == (TensorInfo("y", "sparse_tensor(float)", None),)


def test_scalars_and_zero_sizes() -> None:
    model = model_of("y = Neg (a)", "float a, float[0, 2] b, float[] c")
    assert [value.shape for value in signature(model)[0]] == [(), (0, 2), None]


def test_an_output_without_a_type_gets_the_inferred_one() -> None:
    model = model_of("y = Cast <to = 16> (x)")
    model.graph.output[0].ClearField("type")
    assert signature(model)[1] == (TensorInfo("y", "bfloat16", ("n",)),)


def test_an_output_that_nothing_is_known_of() -> None:
    model = model_of("y = com.microsoft.Unheard (x)")
    model.graph.output[0].ClearField("type")
    assert signature(model)[1] == (TensorInfo("y", "", None),)


def test_a_graph_that_contradicts_itself_is_left_to_the_session() -> None:
    model = model_of("y = Add (x, z)", "float[3] x, int64[4] z")
    assert inferred_outputs(model) == (TensorInfo("y", "float32", ("n",)),)


def test_inference_does_without_large_weights() -> None:
    model = model_of("y = MatMul (x, w)", "float[n, 1000] x")
    model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[1000, 500])
    model.graph.initializer[0].raw_data = bytes(2_000_000)
    model.graph.output[0].ClearField("type")
    assert inferred_outputs(model) == (TensorInfo("y", "float32", ("n", 500)),)
    assert len(model.graph.initializer[0].raw_data) == 2_000_000


@pytest.mark.parametrize(
    ("body", "head", "expected"),
    [
        ("y = Neg (x)", "float[n] x", False),
        ("y = Neg (x)", "float16[n] x", True),
        ("y = Neg (x)", "bfloat16[n] x", True),
        ("y = Cast <to = 1> (x)", "float16[n] x", False),
        ("a = Cast <to = 10> (x)  b = Neg (a)  y = Cast <to = 1> (b)", "float[n] x", True),
        ("a = Cast <to = 10> (x)  y = Cast <to = 1> (a)", "float[n] x", False),
        (
            """y = If (c) <
                then_branch = yes () => (float16[n] t) { t = Neg (h) },
                else_branch = no () => (float16[n] e) { e = Identity (h) }
            >""",
            "float16[n] h, bool c",
            True,
        ),
    ],
)
def test_low_precision(body: str, head: str, expected: bool) -> None:
    assert computes_low(model_of(body, head)) == expected


def test_constants_in_low_precision() -> None:
    value = helper.make_tensor("w", TensorProto.FLOAT16, [1], [1.0])
    constant = helper.make_node("Constant", [], ["w"], value=value)
    for body, expected in (("y = Add (x, w)", True), ("y = Cast <to = 1> (w)", False)):
        model = model_of(body)
        model.graph.node.insert(0, constant)
        assert computes_low(model) == expected


def test_stored_weights_in_low_precision() -> None:
    model = model_of("y = Add (x, w)")
    model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT16, dims=[1])
    assert computes_low(model)
    stored = model_of("v = Cast <to = 1> (w)  y = Add (x, v)")
    stored.graph.initializer.add(name="w", data_type=TensorProto.FLOAT16, dims=[1])
    assert not computes_low(stored)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = Neg (x)", False),
        ("y = QLinearConv (x)", True),
        ("y = com.microsoft.QLinearAdd (x)", True),
        ("a = QuantizeLinear (x)  y = DequantizeLinear (a)", True),
        ("w = DequantizeLinear (v)  y = MatMul (x, w)", False),
        ("a, b, c = DynamicQuantizeLinear (x)  y = MatMulInteger (a, a)", True),
        ("y = ConvInteger (x)", True),
        ("y = com.microsoft.DynamicQuantizeMatMul (x)", True),
    ],
)
def test_quantised(body: str, expected: bool) -> None:
    assert computes_in_integers(model_of(body)) == expected


def test_the_cases_of_others(tmp_path: Path, work: Path) -> None:
    assert open_model(builders.qdq_conv(tmp_path), work=work).quantised
    assert open_model(builders.fp16_matmul(tmp_path), work=work).low_precision
    assert not open_model(builders.conv_batchnorm(tmp_path), work=work).low_precision
