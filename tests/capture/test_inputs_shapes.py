from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.capture.shapes import parse_shapes
from detaudit.errors import UsageError
from tests.capture.hand import make, make_model, tensor

MELS = make_model(
    tensor("mels", "float32", 1, "frames", 40), tensor("scale", "float32", None, "frames")
)


def shapes(model, *pairs):
    return {name: array.shape for name, array in make(model, shapes=pairs).sample(0).items()}


def test_axis_wherever_it_occurs():
    assert shapes(MELS, ("frames", "160")) == {"mels": (1, 160, 40), "scale": (1, 160)}


def test_whole_input_settles_its_axes():
    assert shapes(MELS, ("mels", "1x160x40")) == {"mels": (1, 160, 40), "scale": (1, 160)}


def test_unnamed_axis_by_its_place():
    assert shapes(MELS, ("scale[0]", "3"), ("frames", "2"))["scale"] == (3, 2)


def test_size_zero():
    assert shapes(MELS, ("frames", "0")) == {"mels": (1, 0, 40), "scale": (1, 0)}


def test_axis_and_input_of_one_name():
    model = make_model(tensor("time", "float32", "n", "time"))
    assert shapes(model, ("time", "5")) == {"time": (1, 5)}
    assert shapes(model, ("time", "2x5")) == {"time": (2, 5)}


def test_agreeing_twice():
    assert shapes(MELS, ("frames", "8"), ("mels", "1x8x40"))["mels"] == (1, 8, 40)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("frame", "160")], r"no axis or input is called 'frame' \(did you mean frames\?\)"),
        ([("frame", "160")], r"open axes: frames, scale\[0\]; inputs: mels float32 \[1, frames, "),
        ([("mels", "2x160x40")], r"axis 0 of mels float32 \[1, frames, 40\] is fixed to 1, not 2"),
        ([("mels", "1x160")], r"shape 1x160 has 2 axes, .* has 3"),
        ([("mels", "160")], r"shape 160 has 1 axes, .* has 3"),
        ([("frames", "1x2")], r"'frames' is one axis and takes one size"),
        ([("frames", "-1")], r"--shape frames=-1: a size cannot be negative"),
        ([("mels", "1x-1x40")], r"a size cannot be negative"),
        ([("frames", "many")], r"that is no size; write frames=160 for an axis"),
        ([("frames", "1.5")], r"that is no size"),
        ([("frames", "1x")], r"that is no size"),
        ([("frames", "²")], r"that is no size"),
        ([("frames", "1"), ("frames", "2")], r"--shape frames is given twice"),
        (
            [("frames", "8"), ("mels", "1x9x40")],
            r"--shape mels=1x9x40 makes axis 'frames' 9 long, but --shape frames=8 makes it 8",
        ),
    ],
)
def test_mistakes(pairs, message):
    with pytest.raises(UsageError, match=message):
        make(MELS, shapes=tuple(pairs))


def test_model_without_open_axes():
    with pytest.raises(UsageError, match="open axes: none"):
        make(make_model(tensor("x", "float32", 3)), shapes=(("n", "3"),))


@given(st.lists(st.integers(0, 10**6), max_size=5), st.sampled_from(["x", "X", " x "]))
def test_sizes_are_read_back(sizes, sign):
    assert parse_shapes([("a", sign.join(map(str, sizes)))]) == {"a": tuple(sizes)}


@given(st.text(max_size=8))
def test_any_text_is_sizes_or_refused(text):
    try:
        (sizes,) = parse_shapes([("a", text)]).values()
    except UsageError as error:
        assert str(error).startswith("--shape a=")  # noqa: PT017
    else:
        assert all(size >= 0 for size in sizes)


@given(st.lists(st.one_of(st.integers(0, 3), st.sampled_from("nm")), max_size=4), st.data())
def test_whole_shapes_are_kept(axes, data):
    sizes = {axis: data.draw(st.integers(0, 4)) for axis in "nm"}
    shape = tuple(sizes.get(axis, axis) for axis in axes)
    model = make_model(tensor("input", "float32", *axes))
    assert shapes(model, ("input", "x".join(map(str, shape)))) == {"input": shape}
