"""What only a CUDA device can prove: ``pytest -m gpu``."""

from __future__ import annotations

from pathlib import Path

import pytest

import detaudit
from detaudit.demo import model_path, voice_path
from detaudit.report import Report
from detaudit.target_row import TargetRow
from tests import builders
from tests.cases.audits import only

pytestmark = pytest.mark.gpu

ASKED, DEFAULT, PLAIN = "cuda:0", "cuda:0[cudnn_conv_algo_search=DEFAULT]", "cuda:0[use_tf32=0]"


@pytest.fixture(scope="module")
def report() -> Report:
    return detaudit.audit(model_path(), device="cpu,cuda:0", source=voice_path(), runs=5)


@pytest.fixture(scope="module")
def rows(report: Report) -> dict[str, TargetRow]:
    return {row.name: row for row in report.targets}


def test_the_standard_variants_ran(rows: dict[str, TargetRow]) -> None:
    assert list(rows) == ["cpu", ASKED, DEFAULT, PLAIN]
    assert {row.status for row in rows.values()} == {"ok"}, [row.reason for row in rows.values()]


@pytest.mark.parametrize("name", [ASKED, DEFAULT, PLAIN])
def test_nodes_ran_on_the_device(rows: dict[str, TargetRow], name: str) -> None:
    assert rows[name].placement["CUDAExecutionProvider"] > 0
    assert rows[name].effective["providers"][0] == "CUDAExecutionProvider"
    assert rows[name].hardware not in ("", rows["cpu"].hardware)


@pytest.mark.parametrize(
    ("name", "search", "tf32"),
    [(ASKED, "EXHAUSTIVE", "1"), (DEFAULT, "DEFAULT", "1"), (PLAIN, "EXHAUSTIVE", "0")],
)
def test_options_are_in_force(
    rows: dict[str, TargetRow], name: str, search: str, tf32: str
) -> None:
    options = rows[name].effective["provider_options"]["CUDAExecutionProvider"]
    assert (options["cudnn_conv_algo_search"], options["use_tf32"]) == (search, tf32)


@pytest.mark.parametrize(("name", "largest"), [(ASKED, 5e-2), (DEFAULT, 5e-2), (PLAIN, 1e-3)])
def test_deviations_have_the_size_of_other_arithmetic(
    report: Report, name: str, largest: float
) -> None:
    found = [r for r in report.deviation if r.target == name and r.label is None]
    assert {row.output for row in found} == {"prosody", "voicing"}
    assert all(row.max_abs is not None and row.max_abs < largest for row in found)


def test_a_device_that_is_not_there() -> None:
    report = detaudit.audit(model_path(), device="cpu,cuda:99", variants="none", runs=1)
    row = report.targets[1]
    assert row.status == "unavailable"
    assert row.reason is not None
    assert "there is no cuda:99; this machine has cuda:0" in row.reason
    assert not [r for r in report.deviation if r.target == row.name]


def test_too_little_memory_ends_one_target_only() -> None:
    device = "cpu,cuda:0[gpu_mem_limit=4096]"
    report = detaudit.audit(model_path(), device=device, variants="none", runs=1)
    assert [row.status == "ok" for row in report.targets] == [True, False]
    assert "memory" in str(report.targets[1].reason)


def test_without_tf32_a_long_sum_is_nearer_to_the_cpu(tmp_path: Path) -> None:
    report = detaudit.audit(builders.wide_conv(tmp_path), device="cpu,cuda:0", runs=2)
    off = [r.rel_norm for r in report.deviation if r.target == PLAIN]
    asked = [r.rel_norm for r in report.deviation if r.target == ASKED]
    # A convolution that was silently given TF32 again would lie above 1e-5.
    assert off[0] is not None
    assert asked[0] is not None
    assert off[0] < 1e-5
    assert off[0] <= asked[0]


def test_drift_is_seen_on_the_device_too(tmp_path: Path) -> None:
    report = detaudit.audit(
        builders.noisy(tmp_path), device="cuda:0", variants="none", runs=5, processes=1
    )
    row = only(report.repeatability, scope="run")
    assert (row.distinct, row.identical) == (5, False)
