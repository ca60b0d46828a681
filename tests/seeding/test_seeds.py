from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from detaudit.seeding import get_seeds_state, set_seeds
from tests.seeding.conftest import PACKAGE


def test_python_and_numpy_draw_what_their_own_seeds_give() -> None:
    set_seeds(5)
    drawn = random.random(), np.random.random()
    assert drawn == (random.Random(5).random(), np.random.RandomState(5).random_sample())


def test_record_is_strict_json_and_names_what_was_seeded(without_torch: None) -> None:
    record = set_seeds(np.uint32(5))
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["seed"] == 5
    assert record["deterministic"] is False
    assert record["seeded"] == {"python": 5, "numpy": 5}
    assert record["versions"]["numpy"] == np.__version__
    assert record["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert record["notes"] == []


def test_record_says_what_was_not_seeded(
    without_torch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace())  # type: ignore[arg-type]
    rows = {row["what"]: row["why"] for row in set_seeds(5)["not_seeded"]}
    assert rows["torch"] == "not imported; see torch=True"
    assert rows["onnxruntime"] == "see runtimes=True"
    assert "entropy" in rows["numpy.random.default_rng()"]
    assert "seed it yourself" in rows["tensorflow"]
    assert "jax" not in rows


@pytest.mark.parametrize(
    ("options", "variables", "fixed"),
    [
        ((), {}, False),
        ((), {"PYTHONHASHSEED": "random"}, False),
        ((), {"PYTHONHASHSEED": "0"}, True),
        ((), {"PYTHONHASHSEED": "5"}, True),
        (("-E",), {"PYTHONHASHSEED": "5"}, False),
    ],
)
def test_hash_seed_is_reported_never_set(
    run_python: Callable[..., Any],
    options: tuple[str, ...],
    variables: dict[str, str],
    fixed: bool,
) -> None:
    code = "from detaudit.seeding import set_seeds; print(json.dumps(set_seeds(1)))"
    record = run_python(code, *options, **variables)
    assert ("hash of str and bytes" not in {row["what"] for row in record["not_seeded"]}) is fixed
    assert record["flags"]["PYTHONHASHSEED"] == variables.get("PYTHONHASHSEED")


def test_torch_that_cannot_be_imported_touches_nothing(without_torch: None) -> None:
    before = get_seeds_state()
    with pytest.raises(ImportError):
        set_seeds(5, deterministic=True, torch=True)
    assert get_seeds_state() == before


@pytest.mark.parametrize("torch", [None, False])
def test_without_torch_the_rest_is_seeded(without_torch: None, torch: bool | None) -> None:
    assert set_seeds(5, torch=torch)["seeded"] == {"python": 5, "numpy": 5}


def test_runtimes_are_seeded_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    fake = SimpleNamespace(set_seed=seeds.append, __version__="1.2.3")
    monkeypatch.setitem(sys.modules, "onnxruntime", fake)  # type: ignore[arg-type]
    assert "onnxruntime" not in set_seeds(5)["seeded"]
    assert seeds == []
    record = set_seeds(5, runtimes=True)
    assert seeds == [5]
    assert record["seeded"]["onnxruntime"] == 5
    assert record["versions"]["onnxruntime"] == "1.2.3"
    assert record["notes"][-1] == "ONNX Runtime's seed acts on sessions created from now on"


def test_runtime_that_cannot_be_imported_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # type: ignore[arg-type]
    record = set_seeds(5, runtimes=True)
    assert "onnxruntime" not in record["seeded"]
    assert {"what": "onnxruntime", "why": "cannot be imported"} in record["not_seeded"]


def test_cached_normal_is_dropped_by_every_bit_generator() -> None:
    own = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(1))
        set_seeds(5)
        seeded = get_seeds_state()
        np.random.standard_normal()
        np.random.randn()
        set_seeds(5)
        assert get_seeds_state() == seeded
    finally:
        np.random.set_bit_generator(own)


def test_package_needs_the_standard_library_and_numpy_only(run_python: Callable[..., Any]) -> None:
    code = f"""
sys.path[0] = {str(PACKAGE)!r}
import numpy
wanted = set()
class Watcher:
    def find_spec(name, path, target=None):
        wanted.add(name.partition(".")[0])
sys.meta_path.insert(0, Watcher)
import seeding
seeding.set_seeds(1, deterministic=True)
with seeding.isolated(2):
    seeding.stream(1, "a").normal(3)
seeding.get_seeds_state()
print(json.dumps(sorted(wanted - set(sys.stdlib_module_names) - {{"numpy"}})))
"""
    # "org" is the standard library looking for Jython.
    assert set(run_python(code)) - {"org"} == {"seeding"}
