"""Item 6, B2: an older runtime beside the installed one, in one command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import builders
from tests.builders.torch_models import lstm_from_torch
from tests.cases.audits import audit_quickly, kinds, message, only


@pytest.mark.modern
@pytest.mark.parametrize("build", [builders.lstm_final_state, lstm_from_torch])
def test_the_old_runtime_spoils_all_runs_but_the_first(
    tmp_path: Path, old_python: Path, build: Callable[[Path], Path]
) -> None:
    """B2: 1.17 differs from run 2 on, the installed one does not; only the reference is clean."""
    model = build(tmp_path)
    old, cured = f"cpu[python={old_python}]", f"cpu[mem_pattern=0,python={old_python}]"
    # The first run differs when time is 2 and the batch 3 or more.
    shapes = {"time": "2", "batch": "4"} if build is lstm_from_torch else {}
    report = audit_quickly(model, f"cpu,{old},{cured}", runs=4, sessions=2, shapes=shapes)
    assert [row.status for row in report.targets] == ["ok"] * 3
    assert report.targets[1].versions["onnxruntime"].startswith("1.17.")
    assert report.targets[1].versions["numpy"].startswith("1.26.")
    assert report.targets[1].placement.keys() == {"CPUExecutionProvider"}
    spoiled = only(report.repeatability, target=old, scope="run")
    assert spoiled.first_run_differs
    assert (spoiled.distinct, spoiled.units) == (2, 4)
    assert spoiled.max_abs > 1e-3
    assert only(report.repeatability, target=old, scope="session").identical
    for target in ("cpu", cured):
        for scope in ("run", "session"):
            assert only(report.repeatability, target=target, scope=scope).identical
    assert "mem_pattern=0" in message(report, "first-run-differs", target=old)
    assert "run-drift" not in kinds(report)
    assert f"On {old} the first run of a session differs from the rest" in report.verdict.sentence
    assert only(report.deviation, target=cured).max_abs < 1e-5
