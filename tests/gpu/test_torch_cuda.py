"""What only a CUDA device can prove of torch models: ``pytest -m gpu``."""

from __future__ import annotations

from pathlib import Path

import pytest

import detaudit
from detaudit.report import Report
from detaudit.target_row import TargetRow
from tests.cases.audits import kinds, message, only

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

ZOO = Path(__file__).parent.parent / "builders" / "zoo.py"
ASKED, DETERMINISTIC = "cuda:0", "cuda:0[deterministic=1]"


def zoo(name: str) -> str:
    return f"{ZOO}:{name}"


@pytest.fixture(scope="module")
def report() -> Report:
    return detaudit.audit(zoo("Convolving"), device="cpu,cuda:0,cuda:0[tf32=1]", runs=5)


@pytest.fixture(scope="module")
def rows(report: Report) -> dict[str, TargetRow]:
    return {row.name: row for row in report.targets}


def test_the_standard_variant_ran(rows: dict[str, TargetRow]) -> None:
    assert list(rows)[:3] == ["cpu", ASKED, DETERMINISTIC]
    assert {row.status for row in rows.values()} == {"ok"}, [row.reason for row in rows.values()]


@pytest.mark.parametrize("name", [ASKED, DETERMINISTIC])
def test_what_was_in_force_is_read_back(rows: dict[str, TargetRow], name: str) -> None:
    row = rows[name]
    assert row.placement == {"cuda:0": sum(rows["cpu"].placement.values())}
    assert row.hardware not in ("", rows["cpu"].hardware)
    assert row.effective["deterministic"] == ("1" if name == DETERMINISTIC else "0")
    assert row.effective["cuda"]["multiprocessors"] > 0
    workspace = row.effective["cublas_workspace"]
    assert workspace["too_late"] is False
    if name == DETERMINISTIC:
        assert workspace["value"] == ":4096:8"


def test_the_weights_are_those_of_the_cpu(report: Report, rows: dict[str, TargetRow]) -> None:
    """They are built on the CPU and moved, so that the same seed gives the same model."""
    assert "not-the-same-model" not in kinds(report)
    assert len({digest for row in rows.values() for p in row.weights for digest in p}) == 1


def test_deterministic_mode_repeats(report: Report) -> None:
    found = [r for r in report.repeatability if r.target == DETERMINISTIC and r.comparisons]
    assert found
    assert all(row.identical for row in found)


def test_deviations_have_the_size_of_other_arithmetic(report: Report) -> None:
    sizes = {row.target: row.max_abs for row in report.deviation if row.label is None}
    assert sizes[DETERMINISTIC] < 5e-2
    assert sizes["cuda:0[tf32=1]"] < 5e-2


def test_a_device_that_is_not_there() -> None:
    report = detaudit.audit(zoo("Single"), device="cpu,cuda:99", variants="none", runs=1)
    row = report.targets[1]
    assert row.status == "unavailable"
    assert not [r for r in report.deviation if r.target == row.name]


def test_an_operation_without_a_deterministic_implementation_is_named() -> None:
    report = detaudit.audit(zoo("Counting"), device="cuda:0,cuda:0[deterministic=warn_only]")
    row = only(report.targets, name=DETERMINISTIC)
    assert row.status == "failed"
    assert "has no deterministic implementation" in row.reason
    assert message(report, "nondeterministic-ops")


def test_the_generators_of_two_devices_draw_other_numbers() -> None:
    """J15: by design, and no drift."""
    report = detaudit.audit(zoo("DrawingThere"), device="cpu,cuda:0", variants="none", runs=1)
    assert all(row.status == "ok" for row in report.targets)
    assert any(not row.identical for row in report.deviation)
