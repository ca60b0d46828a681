from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.seeding import Stream, get_seeds_state, isolated, stream, streams

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
DRAWS: dict[str, Callable[[Stream, Any], np.ndarray]] = {
    "normal": lambda draws, shape: draws.normal(shape),
    "uniform": lambda draws, shape: draws.uniform(-1, 3, shape),
    "integers": lambda draws, shape: draws.integers(-5, 100, shape),
    "booleans": lambda draws, shape: draws.booleans(shape),
    "strings": lambda draws, shape: draws.strings(shape),
}
NAMES = st.text(st.characters(exclude_categories=()), max_size=20)

GOLDEN: dict[str, tuple[Callable[[Stream], np.ndarray], str]] = {
    "normal float16": (
        lambda draws: draws.normal(40000, "float16"),
        "a227ec4982292dfbd17a4dbdad860abfeaeced9cbe0e260ce61b735d5b5ceb9b",
    ),
    "normal float32": (
        lambda draws: draws.normal((2, 20000)),
        "e594cefdafe25acf5e359ee53816aeda7e5565f88fc4a0108e83956babd03faa",
    ),
    "normal float64": (
        lambda draws: draws.normal(40000, "float64"),
        "bf47ec890553279bbe3ff8c282aa0ad90441c65bf5fdc9a761dcdf2b9e3b1810",
    ),
    "uniform float16": (
        lambda draws: draws.uniform(-1, 3, 40000, "float16"),
        "44ac18a4bc17387c7450209c9f2d0181d70c2c522031b47b48b1a3477c6e5aa6",
    ),
    "uniform float32": (
        lambda draws: draws.uniform(0.1, 0.7, 40000),
        "f8c6ae5926155ca94c2cd8039595f7dfde24c469a313b710b5aef5735aa451c6",
    ),
    "uniform float64": (
        lambda draws: draws.uniform(-1e308, 1.7e308, 40000, "float64"),
        "2e3764e69629a1ac70312d70b6fcc7c8fc874978af684f8529669a8059c7ddf6",
    ),
    "integers int8": (
        lambda draws: draws.integers(-128, 127, 40000, "int8"),
        "651b4130bdbf960d37c429c1e90ef11a0d164fa4c62956af73262f9e42172880",
    ),
    "integers int32": (
        lambda draws: draws.integers(0, 30521, 40000, "int32"),
        "6e89e2c96da2c623f94d5181d2d6262e637516e7e7af1dd1c8d35d08ef83c73f",
    ),
    "integers int64": (
        lambda draws: draws.integers(-(2**63), 2**63 - 1, 40000),
        "06309f405e35f1119b9bf19bb2c678b393ff279038c3490af38be966ab1b528a",
    ),
    "integers uint64": (
        lambda draws: draws.integers(0, 2**63, 40000, "uint64"),
        "c181099b604312fb4cef333748c28fc96535f0c174e85a3f0f24b486d6ac3d4a",
    ),
    "booleans": (
        lambda draws: draws.booleans(40000),
        "df2fb3c54cd9554b5472d37f90a6674a65e060f289d7c72323c24b526db86a24",
    ),
    "strings": (
        lambda draws: draws.strings(40000),
        "a36d1efe2a88b045838eeef824b3437fff834257725de1d2ce07f4187ff15d92",
    ),
}


def digest(array: np.ndarray) -> str:
    if array.dtype == object:
        return hashlib.sha256("\n".join(array.tolist()).encode()).hexdigest()
    little = array.astype(array.dtype.newbyteorder("<"))
    return hashlib.sha256(little.tobytes()).hexdigest()


@pytest.mark.parametrize("draw", GOLDEN)
def test_golden_digests(draw: str) -> None:
    make, expected = GOLDEN[draw]
    assert digest(make(stream(1, "inputs/0/signal"))) == expected


def test_golden_names_and_later_draws() -> None:
    draws = stream(2**32 - 1, "inputs/12/Größe\udcff")
    draws.normal(3)
    assert (
        digest(draws.normal(1000, "float64"))
        == "7e2f7a8e600f4b860ac71708211be16ba96dbcbb1accb38143d09eafa5a13e9e"
    )


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("shape", [(), 0, 5, (0, 3), (2, 0), (2, 3, 4), np.int64(4), (1, 1)])
def test_shapes(draw: str, shape: Any) -> None:
    array = DRAWS[draw](stream(1, "a"), shape)
    assert isinstance(array, np.ndarray)
    assert array.shape == np.empty(shape).shape
    assert array.flags.c_contiguous
    assert array.flags.writeable


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("shape", [-1, (2, -1)])
def test_negative_shapes(draw: str, shape: Any) -> None:
    with pytest.raises(ValueError, match="negative"):
        DRAWS[draw](stream(1, "a"), shape)


@given(st.sampled_from(sorted(DRAWS)), st.integers(0, 60), st.integers(0, 60), st.integers(1, 70))
def test_a_longer_draw_begins_with_the_shorter_and_blocks_leave_no_trace(
    draw: str, short: int, more: int, block: int
) -> None:
    long = DRAWS[draw](stream(1, "a"), short + more)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BLOCK", block)
        blocks = DRAWS[draw](stream(1, "a"), short)
    assert long[:short].tolist() == blocks.tolist()


@pytest.mark.parametrize("first", DRAWS)
@pytest.mark.parametrize("second", DRAWS)
def test_the_second_draw_depends_on_no_shape(first: str, second: str) -> None:
    drawn = []
    for shape in (0, 3, (50, 7)):
        draws = stream(1, "a")
        DRAWS[first](draws, shape)
        drawn.append(DRAWS[second](draws, 9).tolist())
    assert drawn[0] == drawn[1] == drawn[2]
    assert drawn[0] != DRAWS[second](stream(1, "a"), 9).tolist()


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), NAMES), min_size=2, max_size=5, unique=True))
def test_every_seed_and_name_has_values_of_its_own(keys: list[tuple[int, str]]) -> None:
    drawn = {tuple(stream(seed, name).integers(0, 2**63 - 1, 4).tolist()) for seed, name in keys}
    assert len(drawn) == len(keys)


def test_seed_and_name_are_kept_apart() -> None:
    first = stream(1, "1/a").normal(4)
    assert not np.array_equal(first, stream(11, "/a").normal(4))
    assert not np.array_equal(first, stream(1, "1/a ").normal(4))


def test_global_generators_are_not_involved() -> None:
    before = get_seeds_state()
    values = [DRAWS[draw](stream(1, "a"), 5).tolist() for draw in DRAWS]
    assert get_seeds_state() == before
    with isolated(9):
        random.random()
        assert values == [DRAWS[draw](stream(1, "a"), 5).tolist() for draw in DRAWS]


def test_what_a_stream_shows() -> None:
    draws = stream(3, "inputs/0/a")
    assert isinstance(draws, Stream)
    assert (draws.seed, draws.name, repr(draws)) == (3, "inputs/0/a", "Stream(3, 'inputs/0/a')")
    with pytest.raises(TypeError, match="expected a string, got 3"):
        stream(1, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_data_type_sees_the_same_normal_values(dtype: str) -> None:
    exact = stream(1, "a").normal(20000, "float64")
    rounded = stream(1, "a").normal(20000, dtype)
    assert rounded.dtype == dtype
    assert np.array_equal(rounded, exact.astype(dtype))


@given(
    st.sampled_from([("float16", 16), ("float32", 32), ("float64", 64)]).flatmap(
        lambda kind: st.tuples(
            st.just(kind[0]),
            st.floats(width=kind[1], allow_nan=False, allow_infinity=False),
            st.floats(width=kind[1], allow_nan=False, allow_infinity=False),
        )
    )
)
def test_uniform_stays_below_the_upper_limit(case: tuple[str, float, float]) -> None:
    dtype, low, high = case[0], *sorted(case[1:])
    values = stream(1, "a").uniform(low, high, 300, dtype)
    assert values.dtype == dtype
    assert (values >= low).all()
    assert (values < high).all() or low == high


def test_uniform_with_few_values_between_its_limits() -> None:
    high = np.nextafter(np.float16(1), np.float16(2))
    assert set(stream(1, "a").uniform(1, float(high), 100, "float16").tolist()) == {1.0}


@pytest.mark.parametrize(
    ("low", "high", "dtype", "message"),
    [
        (1, 0, "float32", "low 1 exceeds high 0"),
        (0, math.inf, "float32", "not finite"),
        (math.nan, 1, "float64", "not finite"),
        (0, 1e39, "float32", r"limit 1e\+39 is not finite in float32"),
        (0, 70000, "float16", "not finite in float16"),
        (0, 1, "int32", "float16, float32 or float64"),
        (0, 1, "complex64", "float16, float32 or float64"),
        (0, 1, "longdouble", "float16, float32 or float64"),
    ],
)
def test_uniform_limits(low: float, high: float, dtype: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stream(1, "a").uniform(low, high, 3, dtype)


@pytest.mark.parametrize("dtype", ["int32", "bool", "object", "longdouble"])
def test_normal_of_other_data_types(dtype: str) -> None:
    with pytest.raises(ValueError, match="expected the data type float16, float32 or float64"):
        stream(1, "a").normal(3, dtype)


@given(st.data(), st.sampled_from(INTEGERS))
def test_integers_keep_their_limits(data: st.DataObject, dtype: str) -> None:
    limits = np.iinfo(dtype)
    low, high = sorted(data.draw(st.integers(limits.min, limits.max)) for _ in range(2))
    values = stream(1, "a").integers(low, high, 200, dtype)
    assert values.dtype == dtype
    assert low <= int(values.min())
    assert int(values.max()) <= high


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_the_whole_range(dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = stream(1, "a").integers(limits.min, limits.max, 20000, dtype).astype(np.longdouble)
    width = float(limits.max) - float(limits.min)
    scaled = (values - float(limits.min)) / width
    assert scaled.min() < 0.001
    assert scaled.max() > 0.999
    assert abs(float(scaled.mean()) - 0.5) < 3.3 / math.sqrt(12 * 20000) + 1 / width


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("at", ["min", "max"])
def test_integers_between_equal_limits(dtype: str, at: str) -> None:
    limit = getattr(np.iinfo(dtype), at)
    assert stream(1, "a").integers(limit, limit, 3, dtype).tolist() == [limit] * 3


@pytest.mark.parametrize(
    ("low", "high", "dtype", "error"),
    [
        (1, 0, "int64", ValueError),
        (-1, 0, "uint8", ValueError),
        (0, 256, "uint8", ValueError),
        (0, 2**63, "int64", ValueError),
        (0, 2**64, "uint64", ValueError),
        (0, 1, "float32", ValueError),
        (0, 1, "bool", ValueError),
        (0.0, 1, "int64", TypeError),
        (0, "1", "int64", TypeError),
    ],
)
def test_integer_limits(low: Any, high: Any, dtype: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        stream(1, "a").integers(low, high, 3, dtype)


def test_strings_are_python_strings_of_eight_letters() -> None:
    values = stream(1, "a").strings((100, 10))
    assert values.dtype == object
    letters = Counter("".join(values.ravel().tolist()))
    assert {type(value) for value in values.ravel()} == {str}
    assert {len(value) for value in values.ravel()} == {8}
    assert sorted(letters) == [chr(code) for code in range(ord("a"), ord("z") + 1)]
    assert len(set(values.ravel())) == 1000


@pytest.mark.parametrize("draw", ["normal", "uniform", "integers"])
def test_memory_is_that_of_the_result(draw: str) -> None:
    import tracemalloc

    DRAWS[draw](stream(1, "a"), 10)
    tracemalloc.start()
    array = DRAWS[draw](stream(1, "a"), 10**6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < array.nbytes + 16 * 8 * streams.BLOCK
