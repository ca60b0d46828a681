"""Arrays for properties of metrics."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


def arrays(dtype: str, shape: object = SHAPES) -> st.SearchStrategy[np.ndarray]:
    """Arrays of a type with all its special values."""
    return hnp.arrays(dtype, shape)


@st.composite
def pairs(draw: st.DrawFn, dtypes: tuple[str, ...] = FLOATS) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of one shape and type, equal in places."""
    dtype = draw(st.sampled_from(dtypes))
    a = draw(arrays(dtype))
    b = draw(arrays(dtype, a.shape))
    mask = draw(hnp.arrays(bool, a.shape))
    return a, np.where(mask, a, b).astype(dtype)
