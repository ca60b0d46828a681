"""What the installed torch saves is known, damaged or not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from detaudit.errors import ModelError
from detaudit.models.backend import find_backend
from detaudit.models.torch_files import read_torch_file
from tests.models.test_torch_files import check_damaged, fail

pytestmark = pytest.mark.torch

Save = Callable[[Path], None]


def make_net() -> Any:
    from torch import nn

    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU()).eval()


def save_module(path: Path) -> None:
    import torch

    torch.save(make_net(), path)


def save_module_as_of_old(path: Path) -> None:
    import torch

    torch.save(make_net(), path, _use_new_zipfile_serialization=False)


def save_weights(path: Path) -> None:
    import torch

    torch.save(make_net().state_dict(), path)


def save_weights_as_of_old(path: Path) -> None:
    import torch

    torch.save(make_net().state_dict(), path, _use_new_zipfile_serialization=False)


def save_weights_of_kinds(path: Path) -> None:
    import torch

    kinds = {
        "half": torch.zeros(2, dtype=torch.bfloat16),
        "parameter": torch.nn.Parameter(torch.zeros(2)),
        "sparse": torch.eye(2).to_sparse(),
        "conjugate": torch.zeros(2, dtype=torch.complex64).conj(),
        "types": [torch.float16, torch.Size([2]), torch.device("cpu")],
        "set": {1, 2},
    }
    torch.save({"state_dict": kinds, "epoch": 3}, path, pickle_protocol=4)


def save_checkpoint(path: Path) -> None:
    import numpy as np
    import torch

    torch.save({"state_dict": make_net().state_dict(), "loss": np.float64(3)}, path)


def save_script(path: Path) -> None:
    import torch

    torch.jit.script(make_net()).save(path)


def save_trace(path: Path) -> None:
    import torch

    torch.jit.trace(make_net(), torch.zeros(2, 4)).save(path)


def save_export(path: Path) -> None:
    import torch

    axes = ({0: torch.export.Dim("batch", min=2, max=64)},)
    program = torch.export.export(make_net(), (torch.zeros(3, 4),), dynamic_shapes=axes)
    torch.export.save(program, path)


def save_export_with_branches(path: Path) -> None:
    import torch

    class Branches(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, Any]:
            z = torch.cond(x.shape[0] > 4, torch.sin, torch.cos, (x,))
            half = (x @ y)[: x.shape[0] // 2 + 1].reshape(-1)
            return {"z": [z, (x > 0) & (x < 3)], "half": half * (y.shape[1] / 2)}

    inputs = (torch.zeros(8, 4), torch.zeros(4, 6))
    axes = ({0: torch.export.Dim.AUTO}, {1: torch.export.Dim.AUTO})
    torch.export.save(torch.export.export(Branches(), inputs, dynamic_shapes=axes), path)


KINDS: dict[Save, str] = {
    save_script: "script",
    save_trace: "script",
    save_export: "export",
    save_export_with_branches: "export",
}
MODULES = (save_module, save_module_as_of_old)
WEIGHTS = (save_weights, save_weights_as_of_old, save_weights_of_kinds)
ALL = (*KINDS, *MODULES, *WEIGHTS, save_checkpoint)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Save], Path]:
    """Save once, with the deprecations that saving is full of unheard."""
    files: dict[Save, Path] = {}

    def save_once(save: Save) -> Path:
        if save not in files:
            suffix = ".pt2" if KINDS.get(save) == "export" else ".pt"
            files[save] = tmp_path_factory.mktemp("saved") / f"file{suffix}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                save(files[save])
        return files[save]

    return save_once


@pytest.mark.parametrize("save", ALL)
def test_the_backend(saved: Callable[[Save], Path], save: Save) -> None:
    assert find_backend(str(saved(save))) == "torch"


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize(("save", "kind"), KINDS.items())
def test_kinds(saved: Callable[[Save], Path], save: Save, kind: str, trust: bool) -> None:
    assert read_torch_file(saved(save), trust=trust) == kind


@pytest.mark.parametrize("save", MODULES)
def test_modules(saved: Callable[[Save], Path], save: Save) -> None:
    fail(saved(save), "is a pickled module", "(torch.nn.modules.container.Sequential, ")
    assert read_torch_file(saved(save), trust=True) == "pickle"


@pytest.mark.parametrize("save", WEIGHTS)
def test_weights(saved: Callable[[Save], Path], save: Save) -> None:
    fail(saved(save), "holds weights without a network")


def test_a_checkpoint(saved: Callable[[Save], Path]) -> None:
    fail(saved(save_checkpoint), "no network but a dict or list", "multiarray.scalar")


def test_what_is_refused_would_have_run(tmp_path: Path, saved: Callable[[Save], Path]) -> None:
    """The reason for looking into a program: torch evaluates its expressions as Python."""
    import torch

    from tests.builders.torch_archives import rewrite

    trap = tmp_path / "sprung"
    code = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    path = tmp_path / "evil.pt2"
    rewrite(saved(save_export), path, "expr_str", code)
    with pytest.raises(ModelError, match="brings code that loading or calling it would run"):
        read_torch_file(path, trust=False)
    assert not trap.exists()
    with pytest.raises(AttributeError):
        torch.export.load(path)
    assert trap.exists()


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    save=st.sampled_from(ALL),
    kept=st.just(1.0) | st.floats(0, 1),
    flips=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 7)), max_size=4),
    trust=st.booleans(),
)
def test_damage(
    tmp_path: Path,
    saved: Callable[[Save], Path],
    save: Save,
    kept: float,
    flips: list[tuple[float, int]],
    trust: bool,
) -> None:
    path = tmp_path / "damaged.pt"
    path.write_bytes(saved(save).read_bytes())
    check_damaged(path, kept, flips, trust)
