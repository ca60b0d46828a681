"""The command that writes ``reports/gpu/``, on targets that every machine has."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from detaudit.archive import open_record
from tests.builders import noisy

ROOT = Path(__file__).resolve().parents[2]
PLAN = ("--runs", "2", "--sessions", "1", "--processes", "1")


def write(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "reports" / "gpu.py", *PLAN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    noisy(folder)
    return folder


def test_a_page_a_table_and_a_record_for_every_model(tmp_path: Path, models: Path) -> None:
    out = tmp_path / "made"
    done = write("--device", "cpu,cpu[opt=off]", "--out", out, "--models", models)
    assert (done.returncode, done.stdout) == (0, f"{out}\n")
    names = {path.name for path in out.iterdir()}
    assert names == {"index.md"} | {
        f"{name}.{kind}" for name in ("bundled", "noisy") for kind in ("md", "csv", "audit")
    }
    index = (out / "index.md").read_text(encoding="utf-8")
    assert index.startswith("# No GPU: cpu,cpu[opt=off]\n")
    assert "not run: no CUDA device was asked for" in index
    page = (out / "noisy.md").read_text(encoding="utf-8")
    assert page.count("| 0.0.0 | ") == page.count("| 0.0.1 | ") == 2
    with open_record(out / "noisy.audit") as record:
        values = record.arrays["0/0/0/0"].ravel()[:6].tolist()
        sha256 = record.model.sha256
    assert f"| 0.0.0 | {' | '.join(f'{value:.8g}' for value in values)} |" in page
    assert sha256 in page
    with (out / "bundled.csv").open(encoding="utf-8", newline="") as file:
        assert {row["section"] for row in csv.DictReader(file)} >= {"deviation", "values"}
    assert "| pitch | level | noisiness |" in (out / "bundled.md").read_text(encoding="utf-8")


def test_an_earlier_report_is_replaced_as_a_whole(tmp_path: Path) -> None:
    out = tmp_path / "made"
    out.mkdir()
    (out / "stale.md").write_text("old")
    assert write("--device", "cpu", "--out", out).returncode == 0
    assert not (out / "stale.md").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_no_table_is_made_from_a_fallback(tmp_path: Path) -> None:
    out = tmp_path / "made"
    done = write("--device", "cpu,cuda:99", "--out", out)
    assert done.returncode == 3
    assert "nothing was written, because no GPU was audited: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_could_not_be_audited_has_a_reason_and_no_figures(tmp_path: Path) -> None:
    out = tmp_path / "made"
    done = write("--device", "cpu,ep:NopeExecutionProvider", "--out", out)
    assert done.returncode == 3
    (row,) = [
        line
        for line in (out / "index.md").read_text(encoding="utf-8").splitlines()
        if "Nope" in line
    ][1:]
    assert "unavailable: the installed onnxruntime" in row
    assert row.endswith("|  |  |  |  |")


def test_the_folder_of_the_gpu_is_for_gpus() -> None:
    done = write("--device", "cpu")
    assert done.returncode == 2
    assert "name another folder with --out" in done.stderr


def test_a_wrong_device_is_told_in_one_line(tmp_path: Path) -> None:
    done = write("--device", "gpu", "--out", tmp_path / "made")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
