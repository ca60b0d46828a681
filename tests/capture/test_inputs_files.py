from __future__ import annotations

import numpy as np
import pytest

from detaudit.errors import UsageError
from detaudit.models.model import IdRange
from tests.capture.hand import make, make_model, tensor

MODEL = make_model(tensor("a/b:0", "float32", "n", 2), tensor("ids", "int64", "n"))


@pytest.fixture
def give(tmp_path):
    """Inputs of a model with one input that gets an array from a file."""

    def give(array, info, **facts):
        path = tmp_path / "given.npy"
        np.save(path, array)
        spec = {"values": ((info.name, f"@{path}"),)}
        return make(make_model(info, **facts), **spec)

    return give


def test_array_of_a_file(give):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    inputs = give(array, tensor("x", "float32", "n", 3))
    np.testing.assert_array_equal(inputs.sample(0)["x"], array)
    assert (inputs.source, inputs.sizes) == ("given.npy", {"n": 2})


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array([1, 0.5, np.nan, np.inf]), "float32"),
        (np.array([1, 2], np.float32), "float64"),
        (np.array([1, 0.5], np.float64), "float16"),
        (np.array([1, 0.5], np.float32), "bfloat16"),
        (np.array([0, 255], np.int64), "uint8"),
        (np.array([2**63 - 1], np.uint64), "int64"),
        (np.array([1, 2], ">i4"), "int32"),
        (np.array([1, 2], ">f8"), "float64"),
        (np.array([True, False]), "bool"),
        (np.array(["a", "bc"]), "string"),
        (np.array([], np.float64), "float32"),
        (np.array([], np.int64), "uint8"),
    ],
)
def test_exact_casts(give, array, dtype):
    found = give(array, tensor("x", dtype, "n")).sample(0)["x"]
    np.testing.assert_array_equal(found, array)
    assert found.dtype.isnative
    wide = {"bfloat16": "float32"}.get(dtype, dtype)
    assert found.dtype.kind == "U" if dtype == "string" else found.dtype == wide


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array([0.1]), "float32"),
        (np.array([1e300]), "float32"),
        (np.array([0.1], np.float32), "float16"),
        (np.array([1e6], np.float32), "float16"),
        (np.array([256]), "uint8"),
        (np.array([-1]), "uint64"),
        (np.array([2**63], np.uint64), "int64"),
    ],
)
def test_inexact_casts(give, array, dtype):
    with pytest.raises(UsageError, match=r"given.npy: some of its \w+ values have no equal in"):
        give(array, tensor("x", dtype, "n"))


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array([1]), "float32"),
        (np.array([1.0]), "int64"),
        (np.array([True]), "int64"),
        (np.array([1]), "bool"),
        (np.array(["a"]), "float32"),
        (np.array([1.0]), "string"),
        (np.array([b"a"]), "string"),
        (np.array([1j]), "float32"),
        (np.array(["2020-01-01"], "M8[D]"), "int64"),
    ],
)
def test_other_kinds(give, array, dtype):
    with pytest.raises(UsageError, match="takes none of that"):
        give(array, tensor("x", dtype, "n"))


def test_fortran_order_and_rank_zero(give):
    array = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    found = give(array, tensor("x", "float32", 2, 3)).sample(0)["x"]
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, array)
    assert give(np.float32(3), tensor("x", "float32")).sample(0)["x"].shape == ()


@pytest.mark.parametrize(
    ("shape", "declared", "message"),
    [
        ((3,), ("n", 3), "shape 3 has 1 axes, x float32 .* has 2"),
        ((2, 4), ("n", 3), "axis 1 of x float32 .* is fixed to 3, not 4"),
        ((2, 3), ("n", "n"), "makes axis 'n' 3 long, but .* makes it 2"),
    ],
)
def test_shapes_that_do_not_fit(give, shape, declared, message):
    with pytest.raises(UsageError, match=message):
        give(np.zeros(shape, np.float32), tensor("x", "float32", *declared))


def test_file_against_option(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 3), np.float32))
    with pytest.raises(UsageError, match=r"x.npy \(x\) makes axis 'n' 2 long, but --shape n=4"):
        make(
            make_model(tensor("x", "float32", "n", 3)),
            values=(("x", f"@{tmp_path / 'x.npy'}"),),
            shapes=(("n", "4"),),
        )


def test_file_settles_axes_of_other_inputs(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 3), np.float32))
    model = make_model(tensor("z", "float32", "n", 5), tensor("x", "float32", "n", 3))
    inputs = make(model, values=(("x", f"@{tmp_path / 'x.npy'}"),))
    assert inputs.sample(0)["z"].shape == (4, 5)
    assert inputs.sizes == {"n": 4}


@pytest.mark.parametrize(("rank", "shape"), [(1, (6,)), (3, (1, 2, 3))])
def test_unknown_rank_is_that_of_the_file(give, rank, shape):
    info = tensor("x")
    info = type(info)("x", "float32", None)
    inputs = give(np.zeros(shape, np.float32), info)
    assert inputs.sample(0)["x"].ndim == rank
    assert inputs.notes == ()


def test_audonnx_brings_arrays_to_the_declared_shape(give):
    signal = np.arange(6, dtype=np.float32)
    info = tensor("x", "float32", 1, "time")
    found = give(signal, info, format="audonnx").sample(0)["x"]
    np.testing.assert_array_equal(found, signal[np.newaxis])
    with pytest.raises(UsageError, match="1 axes"):
        give(signal, info)
    with pytest.raises(UsageError, match="shape 6 cannot be brought to x float32"):
        give(signal, tensor("x", "float32", 4, "time"), format="audonnx")


def test_signal_of_a_transform_may_have_channels(give, tmp_path):
    info = tensor("signal", "float32", 18, "time")
    for shape in ((7,), (2, 7)):
        found = give(np.zeros(shape, np.float32), info, transform=True, format="audonnx")
        assert found.sample(0)["signal"].shape == shape


def test_ids_outside_the_table_are_told(give):
    facts = {"id_ranges": (IdRange("ids", 0, 4, "indexes 'E' [5, 4]"),)}
    info = tensor("ids", "int64", "n")
    assert "holds 0 to 7, but it indexes" in give(np.array([0, 7]), info, **facts).notes[0]
    assert give(np.array([0, 4]), info, **facts).notes == ()
    assert give(np.array([], np.int64), info, **facts).notes == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        (b"", "no readable .npy file"),
        (b"not an array", "no readable .npy file"),
        (b"\x93NUMPY\x01\x00", "no readable .npy file"),
    ],
)
def test_files_that_are_no_arrays(tmp_path, content, message):
    path = tmp_path / "x.npy"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        make(make_model(tensor("x", "float32", 3)), values=(("x", f"@{path}"),))


def test_pickled_objects_are_never_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}]), allow_pickle=True)
    np.savez(tmp_path / "all.npz", x=np.array([{}]))
    model = make_model(tensor("x", "float32", 3))
    with pytest.raises(UsageError, match=r"no readable \.npy file"):
        make(model, values=(("x", f"@{tmp_path / 'x.npy'}"),))
    with pytest.raises(UsageError, match=r"no readable \.npz file"):
        make(model, source=str(tmp_path / "all.npz"))


def test_archive_instead_of_an_array(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.zeros(3))
    with pytest.raises(UsageError, match="holds several arrays"):
        make(make_model(tensor("x", "float64", 3)), values=(("x", f"@{tmp_path / 'x.npz'}"),))


def save(folder, kind, arrays):
    """Write arrays as an archive or as a folder and return its path."""
    if kind == "npz":
        np.savez(folder / "given.npz", **arrays)
        return str(folder / "given.npz")
    path = folder / "given"
    path.mkdir()
    for name, array in arrays.items():
        np.save(path / f"{name.replace('/', '_').replace(':', '_')}.npy", array)
    (path / "README.txt").write_text("not an array")
    return str(path)


KINDS = pytest.mark.parametrize("kind", ["npz", "folder"])


@KINDS
def test_all_inputs(tmp_path, kind):
    arrays = {"a/b:0": np.ones((4, 2), np.float32), "ids": np.arange(4)}
    inputs = make(MODEL, source=save(tmp_path, kind, arrays))
    for name, array in arrays.items():
        np.testing.assert_array_equal(inputs.sample(0)[name], array)
    assert inputs.sizes == {"n": 4}
    assert inputs.source == ("given.npz" if kind == "npz" else "given")


@KINDS
def test_missing_and_unknown_names(tmp_path, kind):
    source = save(tmp_path, kind, {"ids": np.arange(4), "idz": np.arange(4)})
    with pytest.raises(UsageError) as error:
        make(MODEL, source=source)
    assert "it lacks a/b:0 and the model has no input idz" in str(error.value)
    assert "inputs of the model: a/b:0, ids" in str(error.value)


@KINDS
def test_named_input_goes_before_the_source(tmp_path, kind):
    source = save(tmp_path, kind, {"ids": np.arange(3)})
    inputs = make(MODEL, source=source, values=(("a/b:0", "ones"),))
    np.testing.assert_array_equal(inputs.sample(0)["a/b:0"], np.ones((3, 2), np.float32))
    (tmp_path / "both").mkdir()
    both = save(tmp_path / "both", kind, {"ids": np.arange(3), "a/b:0": np.zeros((3, 2), "f4")})
    inputs = make(MODEL, source=both, values=(("a/b:0", "ones"),))
    assert inputs.sample(0)["a/b:0"].all()


@KINDS
def test_optional_inputs_from_a_source(tmp_path, kind):
    model = make_model(tensor("x", "float32", 2), tensor("bias", "optional(tensor(float))", 2))
    x = {"x": np.zeros(2, np.float32)}
    assert list(make(model, source=save(tmp_path, kind, x)).sample(0)) == ["x"]
    (tmp_path / "both").mkdir()
    both = save(tmp_path / "both", kind, {**x, "bias": np.ones(2, np.float32)})
    assert list(make(model, source=both).sample(0)) == ["x", "bias"]


def test_two_inputs_of_one_file_name(tmp_path):
    model = make_model(tensor("x:0", "float32", 2), tensor("x/0", "float32", 2))
    np.save(tmp_path / "x_0.npy", np.zeros(2, np.float32))
    with pytest.raises(UsageError, match=r"the same file name stands for x:0 and x/0; use \.npz"):
        make(model, source=str(tmp_path))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.npz", "no such file or folder"),
        ("x.npy", r"write --input a/b:0=@.*x.npy"),
        ("x.csv", "none of the sources for all inputs"),
        ("x.npz", "no readable .npz file"),
    ],
)
def test_sources_that_are_none(tmp_path, name, message):
    if "absent" not in name:
        (tmp_path / name).write_text("1,2,3")
    with pytest.raises(UsageError, match=message):
        make(MODEL, source=str(tmp_path / name))


def test_single_array_called_npz(tmp_path):
    with (tmp_path / "x.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(UsageError, match=r"no readable \.npz file"):
        make(MODEL, source=str(tmp_path / "x.npz"))
