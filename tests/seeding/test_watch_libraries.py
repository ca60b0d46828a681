"""Libraries that reseed the global generators behind one's back."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from detaudit.seeding import Event, get_seeds_state, isolated, watch
from detaudit.seeding.known import return_to_known
from tests.seeding.test_watch import here

pytestmark = pytest.mark.modern


@pytest.fixture
def torch(contained: None) -> Iterator[Any]:
    import torch

    with isolated():
        torch.seed()
        return_to_known(frozenset())
        yield torch


def fit(torch: Any, seed: int | None, starts: int = 1) -> None:
    from tgmm import GaussianMixture

    data = torch.linspace(-1, 1, 40).reshape(20, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianMixture(
            n_components=2, n_features=2, random_state=seed, n_init=starts, max_iter=2
        )
        model.fit(data)


def is_of(event: Event, package: str) -> bool:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent in Path(event.file).parents


def test_tgmm_reseeds_torch_when_it_fits(torch: Any) -> None:
    with watch() as seen:
        torch.manual_seed(1)
        fit(torch, 5)
    (event,) = seen.reseeds
    assert (event.generator, event.what, event.seed) == ("torch", "torch.manual_seed(5)", 5)
    assert is_of(event, "tgmm")
    assert (
        "manual_seed" in Path(event.file).read_text(encoding="utf-8").splitlines()[event.line - 1]
    )
    assert __file__ in [file for file, _, _ in event.stack]


def test_tgmm_does_not_reseed_when_it_is_made(torch: Any) -> None:
    from tgmm import GaussianMixture

    with watch() as seen:
        torch.manual_seed(1)
        GaussianMixture(n_components=2, n_features=2, random_state=5)
    assert seen.reseeds == ()


def test_tgmm_reseeds_for_every_start(torch: Any) -> None:
    with watch() as seen:
        torch.manual_seed(1)
        fit(torch, 5, starts=3)
    assert [event.seed for event in seen.reseeds] == [5, 6, 7]
    assert all(is_of(event, "tgmm") for event in seen.reseeds)


def test_tgmm_is_caught_with_the_seed_that_is_set_already(torch: Any) -> None:
    torch.manual_seed(5)
    with watch() as seen:
        fit(torch, 5)
    assert torch.initial_seed() == 5
    assert [(event.kind, event.seed) for event in seen.events] == [("reseed", 5)]


def test_tgmm_is_contained_by_isolated(torch: Any) -> None:
    torch.manual_seed(1)
    before = get_seeds_state()
    with watch() as seen, isolated():
        fit(torch, 5)
    assert get_seeds_state() == before
    assert [event.seed for event in seen.reseeds] == [5]
    fit(torch, 5)
    assert get_seeds_state() != before


def test_a_trainer_of_transformers_reseeds_when_it_is_made(torch: Any, tmp_path: Path) -> None:
    from transformers import Trainer, TrainingArguments

    model = torch.nn.Linear(2, 2)
    arguments = TrainingArguments(output_dir=str(tmp_path), report_to=[], use_cpu=True, seed=42)
    with watch() as seen:
        torch.manual_seed(1)
        line = here() + 1
        Trainer(model=model, args=arguments)
    seeds = {event.what: event for event in seen.events if event.seed == 42}
    assert {
        "random.seed(42)",
        "numpy.random.seed(42)",
        "torch.manual_seed(42)",
    } <= set(seeds)
    assert seeds["torch.manual_seed(42)"].kind == "reseed"
    for event in seeds.values():
        assert is_of(event, "transformers")
        assert (__file__, line) in [frame[:2] for frame in event.stack]


def test_deterministic_mode_of_transformers_is_a_change_of_flags(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import enable_full_determinism

    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    # Variables that it sets beside that one.
    for name in ("CUDA_LAUNCH_BLOCKING", "ASCEND_LAUNCH_BLOCKING", "HCCL_DETERMINISTIC"):
        monkeypatch.setenv(name, "0")
    monkeypatch.setenv("FLASH_ATTENTION_DETERMINISTIC", "0")
    benchmark, deterministic = (
        torch.backends.cudnn.benchmark,
        torch.backends.cudnn.deterministic,
    )
    try:
        with watch() as seen:
            enable_full_determinism(7)
    finally:
        torch.use_deterministic_algorithms(False)
        torch.backends.cudnn.benchmark = benchmark
        torch.backends.cudnn.deterministic = deterministic
        monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    changed = {event.generator: event for event in seen.flags}
    assert {
        "CUBLAS_WORKSPACE_CONFIG",
        "deterministic_algorithms",
        "cudnn_deterministic",
    } <= set(changed)
    assert all(is_of(event, "transformers") for event in changed.values())
    assert {event.seed for event in (*seen.seeds, *seen.reseeds)} == {7}
