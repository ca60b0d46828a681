"""Integers are traced from the tables that they index back to the inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, numpy_helper, parser

from detaudit.models.model import IdRange
from detaudit.models.opening import open_model
from detaudit.models.ranges import find_ranges
from tests import builders

TABLES = {"words": np.zeros((10, 2), np.float32), "kinds": np.zeros((2, 2), np.float32)}


def trace(
    body: str, weights: dict[str, np.ndarray] | None = None, functions: str = ""
) -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
    """Trace a graph with inputs ids [batch, length], more [batch, length] and a flag."""
    model = build(body, weights, functions)
    ranges, lengths = find_ranges(model, ("ids", "more", "flag"))
    assert len({entry.input for entry in ranges}) == len(ranges)
    return {entry.input: (entry.low, entry.high) for entry in ranges}, dict(lengths)


def build(
    body: str, weights: dict[str, np.ndarray] | None = None, functions: str = ""
) -> ModelProto:
    """Build a graph with inputs ids [batch, length], more [batch, length] and a flag."""
    model = parser.parse_model(f"""<ir_version: 8,
            opset_import: ["" : 17, "com.microsoft" : 1, "f" : 1]>
        net (int64[batch, length] ids, int64[batch, length] more, bool flag) => (float[] y) {{
            {body}
        }} {functions}""")
    for name, value in {**TABLES, **(weights or {})}.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return model


def vector(*values: int) -> np.ndarray:
    """Write an int64 vector."""
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = Gather (words, ids)", (0, 9)),
        ("y = Gather <axis = 1> (words, ids)", (0, 1)),
        ("y = Gather <axis = -2> (words, ids)", (0, 9)),
        ("y = Gather <axis = 7> (words, ids)", None),
        ("y = ai.onnx.Gather (words, ids)", (0, 9)),
        ("y = my.Gather (words, ids)", None),
        ("y = GatherElements (words, ids)", (0, 9)),
        ("y = GatherElements <axis = 1> (words, ids)", (0, 1)),
        ("y = GatherND (words, ids)", (0, 1)),
        ("i = Unsqueeze (ids, two)  y = GatherND (words, i)", (0, 1)),
        ("y = GatherND <batch_dims = 1> (words, ids)", (0, 1)),
        ("y = ScatterElements (words, ids, words)", (0, 9)),
        ("y = ScatterND (words, ids, words)", (0, 1)),
        ("y = OneHot (ids, seven, values)", (0, 6)),
        ("y = Equal (ids, classes)", (0, 3)),
        ("y = Equal (classes, ids)", (0, 3)),
        ("y = Equal (ids, seven)", None),
        ("y = com.microsoft.EmbedLayerNormalization (ids, , words, kinds, , w, w)", (0, 9)),
        ("y = com.microsoft.EmbedLayerNormalization (more, ids, words, words, kinds, w)", (0, 1)),
        ("y = com.microsoft.RotaryEmbedding (x, ids, words, words)", (0, 9)),
        ("y = com.microsoft.GatherBlockQuantized <gather_axis = 0> (words, ids, w)", (0, 9)),
        ("w = Identity (words)  y = Gather (w, ids)", (0, 9)),
        ("w = Cast <to = 10> (words)  y = Gather (w, ids)", (0, 9)),
        ("w = DequantizeLinear (words, scale)  y = Gather (w, ids)", (0, 9)),
        ("w = Transpose (words)  y = Gather (w, ids)", (0, 1)),
        ("w = Transpose <perm = [1, 0]> (words)  y = Gather <axis = 1> (w, ids)", (0, 9)),
        ("w = Constant <value = float[3] {1, 2, 3}> ()  y = Gather (w, ids)", (0, 2)),
        ("w = Constant <value_floats = [1.0, 2.0]> ()  y = Gather (w, ids)", (0, 1)),
        ("w = Relu (words)  y = Gather (w, ids)", None),
        ("y = Gather (ids, classes)", None),
    ],
)
def test_tables(body: str, expected: tuple[int, int] | None) -> None:
    weights = {
        "seven": np.array(7, np.int64),
        "values": np.array([0, 1], np.float32),
        "classes": np.arange(4).reshape(1, 1, 4),
        "two": vector(2),
        "scale": np.float32(1),
    }
    assert trace(body, weights)[0].get("ids") == expected


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("Identity (ids)", (0, 9)),
        ("Cast <to = 6> (ids)", (0, 9)),
        ("Unsqueeze (ids, one)", (0, 9)),
        ("Squeeze (ids)", (0, 9)),
        ("Reshape (ids, one)", (0, 9)),
        ("Flatten (ids)", (0, 9)),
        ("Transpose (ids)", (0, 9)),
        ("Slice (ids, one, two)", (0, 9)),
        ("Gather (ids, one)", (0, 9)),
        ("Expand (ids, one)", (0, 9)),
        ("Tile (ids, one)", (0, 9)),
        ("Concat <axis = 0> (one, ids, one)", (0, 9)),
        ("Where (flag, one, ids)", (0, 9)),
        ("Pad (ids, one)", (0, 9)),
        ("Add (ids, two)", (0, 7)),
        ("Add (two, ids)", (0, 7)),
        ("Add (ids, both)", (1, 7)),
        ("Add (ids, minus)", (3, 12)),
        ("Sub (ids, two)", (2, 11)),
        ("Sub (two, ids)", (0, 2)),
        ("Mul (ids, two)", (0, 4)),
        ("Mul (ids, minus)", None),
        ("Mul (ids, more)", None),
        ("Add (ids, more)", None),
        ("Clip (ids, two, two)", None),
        ("Clip (ids, zero, nine)", None),
        ("Clip (ids, zero)", (0, 9)),
        ("Clip (ids, , nine)", None),
        ("Clip (ids, , ten)", (0, 9)),
        ("Min (ids, nine)", None),
        ("Min (ids, ten)", (0, 9)),
        ("Max (ids, zero)", (0, 9)),
        ("Mod (ids, ten)", None),
        ("Mod (ids, eleven)", (0, 9)),
        ("Abs (ids)", None),
    ],
)
def test_steps(step: str, expected: tuple[int, int] | None) -> None:
    weights = {
        "zero": vector(0),
        "one": vector(1),
        "two": vector(2),
        "nine": vector(9),
        "ten": vector(10),
        "eleven": vector(11),
        "both": vector(-1, 2),
        "minus": vector(-3),
    }
    found = trace(f"i = {step}  y = Gather (words, i)", weights)[0].get("ids")
    assert found == expected


@given(
    steps=st.lists(st.tuples(st.sampled_from(["Add", "Sub", "Mul"]), st.integers(1, 5)), max_size=6)
)
def test_every_allowed_integer_stays_in_the_table_and_no_more_are_allowed(
    steps: list[tuple[str, int]],
) -> None:
    weights = {f"c{i}": vector(constant) for i, (_, constant) in enumerate(steps)}
    body = "".join(f"i{i + 1} = {op} (i{i}, c{i})  " for i, (op, _) in enumerate(steps))
    found = trace(f"i0 = Identity (ids)  {body} y = Gather (words, i{len(steps)})", weights)[0]

    def index(value: int) -> int:
        for op, constant in steps:
            value = {"Add": value + constant, "Sub": value - constant, "Mul": value * constant}[op]
        return value

    allowed = [value for value in range(200) if 0 <= index(value) < 10]
    if allowed:
        assert found["ids"] == (allowed[0], allowed[-1])
    elif "ids" in found:
        assert found["ids"][1] < 0


def test_the_smallest_table_counts() -> None:
    body = "a = Gather (words, ids)  b = Gather (kinds, ids)  y = Add (a, b)"
    (found,) = find_ranges(build(body), ("ids",))[0]
    assert found == IdRange("ids", 0, 1, "indexes 'kinds' [2, 2]")


def test_each_input_has_its_own_range() -> None:
    body = "a = Gather (words, ids)  b = Gather (kinds, more)  y = Add (a, b)"
    assert trace(body)[0] == {"ids": (0, 9), "more": (0, 1)}


def test_contradictions_say_nothing() -> None:
    body = "i = Sub (ids, big)  a = Gather (words, i)  b = Gather (words, ids)  y = Add (a, b)"
    assert trace(body, {"big": vector(50)})[0] == {}


def test_branches_see_the_outer_graph_and_give_their_results() -> None:
    body = """i = Identity (ids)
        y = If (flag) <
            then_branch = yes () => (float[] t) { t = Gather (words, i) },
            else_branch = no () => (float[] e) { j = Identity (more)  e = Gather (kinds, j) }
        >"""
    assert trace(body)[0] == {"ids": (0, 9), "more": (0, 1)}
    body = """i = If (flag) <
            then_branch = yes () => (int64[] t) { t = Identity (ids) },
            else_branch = no () => (int64[] e) { e = Identity (more) }
        >
        y = Gather (words, i)"""
    assert trace(body)[0] == {"ids": (0, 9), "more": (0, 9)}


def test_functions() -> None:
    functions = """<domain: "f", opset_import: ["" : 17]>
        embed (w, i) => (o) { j = Identity (i)  o = Gather (w, j) }"""
    assert trace("y = f.embed (words, ids)", functions=functions)[0] == {"ids": (0, 9)}


def test_circles_end() -> None:
    found = trace(
        "a = Identity (b)  b = Identity (a)  c = Transpose (d)  d = Transpose (c)"
        "  y = Gather (words, a)  z = Gather (c, ids)"
    )
    assert found == ({}, {})


def test_many_paths_are_walked_once() -> None:
    doubled = "  ".join(f"i{n + 1} = Concat <axis = 0> (i{n}, i{n})" for n in range(60))
    assert trace(f"i0 = Identity (ids)  {doubled}  y = Gather (words, i60)")[0] == {"ids": (0, 9)}


def test_missing_operands_are_no_crash() -> None:
    body = "a = Gather (words)  b = Add (ids)  c = Slice (words)  d = Identity ()  e = Range ()"
    names = "y = Gather (words, b)  f = Gather (words, e)  g = Gather (words, d)"
    assert trace(f"{body}  {names}")[1] == {}


SEQUENCE = "s = Shape (ids)  n = Gather (s, one)  "
MASKED = "  z = Mul (c, b)  p = Add (z, one)  y = Gather (words, p)"
COUNTED = "  p = Range (zero, m, one)  y = Gather (words, p)"
ENDS = SEQUENCE + "u = Unsqueeze (n, zeros)  "


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (SEQUENCE + "p = Range (zero, n, one)  y = Gather (words, p)", 10),
        (SEQUENCE + "p = Range (two, n, one)  y = Gather (words, p)", 10),
        (SEQUENCE + "p = Range (zero, n, two)  y = Gather (words, p)", None),
        (
            SEQUENCE + "p = Range (zero, n, one)  q = Add (p, two)  y = Gather (words, q)",
            8,
        ),
        (
            SEQUENCE
            + "m = Add (n, two)  c = Cast <to = 7> (m)  p = Range (two, c, one)"
            + "  y = Gather (words, p)",
            8,
        ),
        (
            "n = Shape <start = 1, end = 2> (ids)  p = Range (zero, n, one) y = Gather (words, p)",
            10,
        ),
        ("m = Shape <start = -1> (ids)" + COUNTED, 10),
        ("m = Shape (ids)" + COUNTED, None),
        (
            "s = Shape (ids)  c = Cast <to = 6> (s)  m = Slice (c, ones, twos, zeros)" + COUNTED,
            10,
        ),
        (ENDS + "y = Slice (positions, zeros, u, ones)", 6),
        (ENDS + "p = Slice (indices, zeros, u, ones)  y = Gather (words, p)", 12),
        (ENDS + "y = Slice (positions, zeros, sixes, ones)", None),
        (
            ENDS + "b = Concat <axis = 0> (ones, u)  y = Slice (positions, both, b, axes)",
            6,
        ),
        (
            "k = Equal (ids, one)  q = Not (k)  b = Cast <to = 6> (q)  c = CumSum (b, one)"
            + MASKED,
            8,
        ),
        ("c = CumSum (more, one)  p = Sub (c, one)  y = Gather (words, p)", 10),
    ],
)
def test_lengths(body: str, size: int | None) -> None:
    weights = {
        "zero": np.array(0, np.int64),
        "one": np.array(1, np.int64),
        "two": np.array(2, np.int64),
        "zeros": vector(0),
        "ones": vector(1),
        "twos": vector(2),
        "sixes": vector(6),
        "both": vector(0, 0),
        "axes": vector(0, 1),
        "positions": np.zeros((1, 6, 4), np.float32),
        "indices": np.zeros((1, 12), np.int64),
    }
    lengths = trace(body, weights)[1]
    assert lengths == ({} if size is None else {"length": size})


def test_a_runtime_agrees(tmp_path: Path, work: Path) -> None:
    import onnxruntime

    model = open_model(builders.gather_positions(tmp_path), work=work)
    ((axis, size),) = model.length_limits
    (bound,) = model.id_ranges
    assert model.inputs[0].shape is not None
    assert axis in model.inputs[0].shape
    session = onnxruntime.InferenceSession(model.graph, providers=["CPUExecutionProvider"])
    fits = np.full((1, size), bound.high, np.int64)
    assert session.run(None, {bound.input: fits})
    for wrong in (np.zeros((1, size + 1), np.int64), fits + 1):
        with pytest.raises(Exception, match=r"out of data bounds|Attempting to broadcast"):
            session.run(None, {bound.input: wrong})


def test_the_cases_of_others(tmp_path: Path, work: Path) -> None:
    for steps in ((), *((step,) for step in builders.STEPS), tuple(builders.STEPS)):
        (found,) = open_model(builders.gather_ids(tmp_path, 5, steps), work=work).id_ranges
        assert (found.input, found.low, found.high) == ("ids", 0, 4)
    ranges = open_model(builders.gather_two_tables(tmp_path), work=work).id_ranges
    assert sorted(entry.high for entry in ranges) == [1, 4]


def test_weights_that_lie_elsewhere_have_sizes_too() -> None:
    model = build("y = Gather (words, ids)")
    for tensor in model.graph.initializer:
        tensor.data_location = TensorProto.EXTERNAL
        tensor.ClearField("raw_data")
    assert find_ranges(model, ("ids",))[0][0].high == 9


def test_functions_that_cannot_be_put_in_place_are_left_out() -> None:
    functions = """<domain: "f", opset_import: ["" : 17]>
        embed (w, i) => (o) { o = Gather (w, i) }"""
    model = build("a = f.embed (words, ids, ids, ids)  y = Gather (kinds, more)", None, functions)
    model.functions[0].opset_import[0].version = 5
    assert ("more", 1) in [(entry.input, entry.high) for entry in find_ranges(model, ("more",))[0]]
