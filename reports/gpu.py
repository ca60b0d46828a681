"""Writes the table of CPU against GPU for real models into ``reports/gpu/``.

    python reports/gpu.py --models DIR

For the bundled model and every model in DIR: the CPU, the first CUDA device as asked, with
``cudnn_conv_algo_search=DEFAULT`` and with ``use_tf32=0``; the outputs of each run to eight digits,
the deviation from the CPU per label, repeatability per scope, and the decimals that agree. The
tests that need a GPU run too, and their result is in the index. Where no CUDA device was audited,
nothing is written and the exit code is 3: a fallback to the CPU never makes a table.

On a machine with a network, DIR is filled by ``python reports/gpu.py --fill DIR`` (the wav2vec
network needs the extras torch and test) and the environment by ``pip install .[gpu]``.

A machine without a network, with Python 3.12 and torch for CUDA 13, needs carried along:

- this repository, and the folder DIR, filled elsewhere
- wheels, fetched elsewhere by ``pip download --python-version 3.12 --only-binary :all: -d WHEELS``
  and installed by ``pip install --no-index --find-links WHEELS``: onnxruntime-gpu, onnx, numpy,
  pandas, rich, scipy, pyyaml; pytest and hypothesis for the tests. Torch brings CUDA 13 and cuDNN
  9, and ONNX Runtime finds them there through its ``preload_dlls``; without torch,
  ``onnxruntime-gpu[cuda,cudnn]`` and what it requires

No detaudit has to be installed. Neither audonnx nor onnxruntime may be: the files of the CPU build
would lie over those of the GPU build.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A checkout needs no installation.
sys.path.insert(0, str(ROOT))

from models import Entry, fill_folder, find_models  # noqa: E402
from pages import make_index, make_page  # noqa: E402

from detaudit.archive import save_record  # noqa: E402
from detaudit.audit import plan_audit  # noqa: E402
from detaudit.capture.capture import capture  # noqa: E402
from detaudit.errors import DetauditError  # noqa: E402
from detaudit.judge.judge import judge  # noqa: E402
from detaudit.record import Record  # noqa: E402
from detaudit.render.csv_tables import write_csv  # noqa: E402
from detaudit.report import Report  # noqa: E402
from detaudit.target import parse_targets  # noqa: E402

_LARGEST_RECORD = 1_000_000
"""Bytes of a record that is kept; of a larger one, the digest tells that it is the same."""


def main() -> int:
    """Audit, test, write; 1 where a test failed, 3 where something could not be audited."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", metavar="DIR", type=Path, help="more models, see above")
    parser.add_argument("--fill", metavar="DIR", type=Path, help="bring models to DIR and end")
    parser.add_argument("--device", metavar="LIST", default="cpu,cuda:0", help="targets")
    parser.add_argument("--out", metavar="DIR", type=Path, help="default reports/gpu")
    for name, count in (("runs", 10), ("sessions", 2), ("processes", 2)):
        parser.add_argument(f"--{name}", metavar="N", type=int, default=count)
    options = parser.parse_args()
    if options.fill:
        fill_folder(options.fill)
        return 0
    cuda = any(target.family == "cuda" for target in parse_targets(options.device))
    if not cuda and options.out is None:
        parser.error("no CUDA device is asked for: name another folder with --out")
    out = (options.out or ROOT / "reports" / "gpu").resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        audits = []
        for entry in find_models(options.models):
            print(f"{entry.name} …", file=sys.stderr, flush=True)
            audits.append(_audit(entry, options))
            if cuda and len(audits) == 1 and (why := _why_no_gpu(audits[0][1])):
                print(f"nothing was written, because no GPU was audited: {why}", file=sys.stderr)
                return 3
            _write(Path(folder), *audits[-1])
        passed, result = _test() if cuda else (True, "not run: no CUDA device was asked for")
        title = "CPU against GPU" if cuda else f"No GPU: {options.device}"
        made = (
            f"Written by `reports/gpu.py` with detaudit {audits[0][1].detaudit},"
            f" begun {audits[0][1].created}; not to be edited by hand."
        )
        index = make_index(title, [made, f"Tests that need a GPU: {result}."], audits)
        (Path(folder) / "index.md").write_text(index, encoding="utf-8")
        _put(Path(folder), out)
    print(out)
    if any(row.status != "ok" for _, report, _ in audits for row in report.targets):
        return 3
    return 0 if passed else 1


def _audit(entry: Entry, options: argparse.Namespace) -> tuple[str, Report, Record]:
    plan = plan_audit(
        entry.path,
        options.device,
        runs=options.runs,
        sessions=options.sessions,
        processes=options.processes,
        **entry.options,
    )
    record = capture(plan)
    return entry.name, judge(record), record


def _why_no_gpu(report: Report) -> str | None:
    """Reason of the first CUDA target where none was audited."""
    rows = [row for row in report.targets if row.name.startswith("cuda")]
    return None if any(row.status == "ok" for row in rows) else f"{rows[0].reason}"


def _write(folder: Path, name: str, report: Report, record: Record) -> None:
    path = folder / f"{name}.audit"
    save_record(record, path)
    size, digest = path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
    kept = f"Record: [{path.name}]({path.name})."
    if size > _LARGEST_RECORD:
        path.unlink()
        kept = f"The record of {size / 1e6:.1f} MB is not kept; its sha256 is `{digest}`."
    write_csv(report, folder / f"{name}.csv")
    page = make_page(name, report, record, kept)
    (folder / f"{name}.md").write_text(page, encoding="utf-8")


def _test() -> tuple[bool, str]:
    """Run the tests that need a GPU; whether they passed, and pytest's last line."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "tests"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return done.returncode == 0, lines[-1].strip("= ") if lines else "no result"


def _put(folder: Path, out: Path) -> None:
    """Put a folder in the place of an earlier one, which stays whole until then."""
    made = folder / "made"
    made.mkdir()
    for path in folder.iterdir():
        if path != made:
            path.rename(made / path.name)
    if out.exists():
        out.rename(folder / "earlier")
    made.rename(out)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DetauditError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
