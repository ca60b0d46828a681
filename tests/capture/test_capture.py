from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from detaudit.capture.capture import capture
from detaudit.errors import ModelError, UsageError
from detaudit.plain import to_plain
from detaudit.record import Record
from detaudit.spec import AuditSpec, InputSpec
from detaudit.target import parse_targets
from tests.builders import (
    argmax,
    batch_invariant,
    classifier,
    double_conv,
    fixed_batch,
    noisy,
    noisy_with_seed,
    not_onnx,
    string_output,
    unequal_names,
    zipmap,
)
from tests.runtime import run as run_plain


def ask(model: Path, targets: str = "cpu", **changes: Any) -> AuditSpec:
    plan = {"runs": 3, "sessions": 2, "processes": 2, **changes}
    return AuditSpec(model=str(model), targets=parse_targets(targets), **plan)


def children() -> set[str]:
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Neither processes nor temporary files outlive an audit and its record."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = children()
    yield
    assert children() == before
    left = [p for p in folder.iterdir() if not p.name.startswith("detaudit-") or any(p.iterdir())]
    assert left == []


@pytest.fixture
def broken_python(tmp_path: Path) -> Callable[[str], str]:
    """Interpreter that runs other code than it is told to."""

    def write(code: str) -> str:
        path = tmp_path / "python"
        path.write_text(f"#!{sys.executable}\nimport os, sys\n{code}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return write


def test_a_steady_model(tmp_path: Path) -> None:
    path = classifier(tmp_path)
    record = capture(ask(path, inputs=InputSpec(samples=2)))
    (target,) = record.targets
    assert (target.status, target.reason) == ("ok", None)
    assert target.versions["onnxruntime"] == onnxruntime.__version__
    assert sum(target.placement.values()) > 0
    assert target.spreads == ()
    assert [o.counts for o in target.outcomes] == [(12,), (12,)]
    assert record.arrays["0/runs"].size == 24
    assert record.model.graph == path
    assert len({p.seeding["seed"] for p in target.processes}) == 1
    assert not record.interrupted
    json.dumps(to_plain(record), allow_nan=False)


def test_the_outputs_are_those_of_the_recorded_inputs(tmp_path: Path) -> None:
    path = classifier(tmp_path)
    np.save(tmp_path / "x.npy", np.random.RandomState(3).randn(2, 16).astype(np.float32))
    given = InputSpec(values=(("x", f"@{tmp_path / 'x.npy'}"),))
    record = capture(ask(path, inputs=given, runs=1, sessions=1, processes=1))
    (expected,) = run_plain(path, {"x": np.load(tmp_path / "x.npy")})
    assert record.arrays["0/0/0/0"].tobytes() == np.asarray(expected).tobytes()
    (fact,) = record.inputs
    assert (fact.name, fact.shape, fact.dtype) == ("x", (2, 16), "float32")


def scopes(record: Record) -> set[str]:
    return {spread.scope for spread in record.targets[0].spreads}


def test_where_a_run_begins_decides_what_is_seen(tmp_path: Path) -> None:
    unseeded = capture(ask(noisy(tmp_path)))
    assert scopes(unseeded) == {"run", "process"}
    assert len(unseeded.targets[0].outcomes[0].counts) == 6
    assert scopes(capture(ask(noisy_with_seed(tmp_path)))) == {"run"}
    assert scopes(capture(ask(noisy(tmp_path), seed_runtime=True))) == {"run"}


def test_every_target_gets_the_same_bytes(tmp_path: Path) -> None:
    record = capture(ask(batch_invariant(tmp_path), "cpu,cpu[opt=off],cpu[threads=2]"))
    assert [t.status for t in record.targets] == ["ok"] * 3
    assert [t.effective["opt"] for t in record.targets] == ["all", "off", "all"]
    assert record.targets[2].effective["threads"] == 2
    assert len(record.inputs) == len(record.model.inputs)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("os.abort()", "the worker crashed (SIGABRT)"),
        ("os.kill(os.getpid(), 9)", "the worker was killed (SIGKILL)"),
        ("sys.exit('no licence')", "the worker ended with exit code 1: no licence"),
        ("print('x' * 100)", "the worker wrote something that is no message"),
    ],
)
def test_a_broken_target_does_not_stop_the_others(
    tmp_path: Path, broken_python: Callable[[str], str], code: str, reason: str
) -> None:
    python = broken_python(code)
    targets = f"cpu[python={python}],cpu,cpu[opt=off,python={python}]"
    record = capture(ask(classifier(tmp_path), targets, runs=1, processes=1))
    assert [t.status for t in record.targets] == ["failed", "ok", "failed"]
    for broken in record.targets[::2]:
        assert broken.reason is not None
        assert broken.reason.startswith(reason)


def test_a_target_that_hangs_is_ended(tmp_path: Path, broken_python: Callable[[str], str]) -> None:
    python = broken_python("import time; time.sleep(600)")
    (target,) = capture(ask(classifier(tmp_path), f"cpu[python={python}]", timeout=0.5)).targets
    assert (target.status, target.reason) == (
        "failed",
        "no sign of life for 0.5 s, ended by --timeout",
    )


def test_the_last_words_of_a_broken_target_are_kept(
    tmp_path: Path, broken_python: Callable[[str], str]
) -> None:
    python = broken_python("print('line', file=sys.stderr); sys.exit('no licence')")
    (target,) = capture(ask(classifier(tmp_path), f"cpu[python={python}]")).targets
    assert target.stderr == ("line", "no licence")


def test_a_file_that_cannot_be_started(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("no program\n", encoding="utf-8")
    record = capture(ask(classifier(tmp_path), f"cpu[python={python}],cpu", runs=1))
    assert [t.status for t in record.targets] == ["unavailable", "ok"]
    assert "cannot be started" in (record.targets[0].reason or "")


def test_an_interpreter_that_is_not_there_is_a_wrong_command(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no/python is no Python interpreter \(in target 'cpu\["):
        capture(ask(classifier(tmp_path), "cpu,cpu[python=no/python]"))


def test_a_provider_that_is_missing_is_unavailable(tmp_path: Path) -> None:
    record = capture(ask(classifier(tmp_path), "ep:XnnpackExecutionProvider,cpu", runs=1))
    assert [t.status for t in record.targets] == ["unavailable", "ok"]
    assert "does not contain XnnpackExecutionProvider" in (record.targets[0].reason or "")
    assert record.targets[0].outcomes == ()


def test_a_model_that_no_target_can_load(tmp_path: Path) -> None:
    record = capture(ask(double_conv(tmp_path), "cpu,cpu[opt=off]"))
    assert [t.status for t in record.targets] == ["failed", "failed"]
    assert all("Conv" in (t.reason or "") for t in record.targets)


def test_sizes_that_must_agree_are_tried_equal(tmp_path: Path) -> None:
    shapes = (("N", "3"), ("M", "4"))
    failed = capture(ask(unequal_names(tmp_path), inputs=InputSpec(shapes=shapes), runs=1))
    assert failed.targets[0].status == "failed"
    record = capture(ask(unequal_names(tmp_path), runs=1))
    assert record.targets[0].status == "ok"
    assert len({fact.shape for fact in record.inputs}) == 1


def test_a_batch_needs_an_open_axis(tmp_path: Path) -> None:
    record = capture(ask(fixed_batch(tmp_path), "cpu,cpu[batch=4]", runs=1))
    assert [t.status for t in record.targets] == ["ok", "unavailable"]
    assert "fixed batch size" in (record.targets[1].reason or "")


def test_a_batch_gives_every_sample_its_rows(tmp_path: Path) -> None:
    plan = ask(argmax(tmp_path), "cpu,cpu[batch=4]", runs=1, inputs=InputSpec(samples=3))
    record = capture(plan)
    assert [t.status for t in record.targets] == ["ok", "ok"]
    for sample in range(3):
        alone, batched = (record.arrays[f"{t}/{sample}/0/0"] for t in range(2))
        assert alone.tolist() == batched.tolist()


def test_only_the_outputs_asked_for(tmp_path: Path) -> None:
    record = capture(ask(zipmap(tmp_path), outputs=("z",), runs=1))
    assert [o.path for o in record.targets[0].outputs] == ["z"]
    with pytest.raises(UsageError, match="the model has no output 'q'; it has: label, z"):
        capture(ask(zipmap(tmp_path), outputs=("q",)))


def test_text_and_maps(tmp_path: Path) -> None:
    record = capture(ask(zipmap(tmp_path, "strings"), runs=1))
    assert [(o.path, o.dtype, o.keys) for o in record.targets[0].outputs] == [
        ("label", "string", ()),
        ("z", "float32", ("cat", "dog", "owl")),
    ]
    record = capture(ask(string_output(tmp_path), runs=1))
    assert record.targets[0].status == "ok"


def test_progress_is_told_after_every_call(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    capture(ask(classifier(tmp_path), "cpu,cpu[opt=off]"), lambda *step: told.append(step))
    calls = [(name, done) for name, done, planned in told if planned == 12]
    assert len(calls) == len(told)
    for name in ("cpu", "cpu[opt=off]"):
        done = [done for told_name, done in calls if told_name == name]
        assert done == sorted(done)
        assert set(done) == set(range(13))


def test_ctrl_c_keeps_what_was_captured(tmp_path: Path) -> None:
    def interrupt(name: str, done: int, planned: int) -> None:
        if name == "cpu[opt=off]" and done == 4:
            raise KeyboardInterrupt

    targets = "cpu,cpu[opt=off],cpu[opt=basic]"
    record = capture(ask(classifier(tmp_path), targets), interrupt)
    assert record.interrupted
    assert [(t.status, t.reason) for t in record.targets] == [
        ("ok", None),
        ("failed", "interrupted after 4 of 12 calls"),
        ("skipped", "the audit was interrupted before"),
    ]
    assert record.arrays["0/runs"].size == 12
    assert record.arrays["1/runs"].size == 4


def test_a_file_that_is_no_model_ends_the_worker_too(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not_onnx"):
        capture(ask(not_onnx(tmp_path)))
    with pytest.raises(UsageError, match="missing"):
        capture(ask(tmp_path / "missing.onnx"))


def test_a_model_that_changes_during_the_audit_is_not_audited(
    tmp_path: Path, broken_python: Callable[[str], str]
) -> None:
    """A retrained model that is copied over the audited one must not be taken for a device."""
    path, other = classifier(tmp_path), batch_invariant(tmp_path)
    python = broken_python(
        f"import shutil; shutil.copy({str(other)!r}, {str(path)!r})\n"
        f"os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])"
    )
    before, after = capture(ask(path, f"cpu,cpu[python={python}]")).targets
    assert before.status == "ok"
    assert after.status == "failed"
    assert after.reason is not None
    assert "model" in after.reason


def test_a_model_that_is_touched_is_another_one(
    tmp_path: Path, broken_python: Callable[[str], str]
) -> None:
    path = classifier(tmp_path)
    python = broken_python(
        # Another time in every process: the first may begin before the model is opened.
        f"os.utime({str(path)!r}, (os.getpid(), os.getpid()))\n"
        f"os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])"
    )
    (target,) = capture(ask(path, f"cpu[python={python}]")).targets
    assert (target.status, target.reason) == (
        "failed",
        "the file of the model changed during the audit",
    )
