from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from detaudit.capture.launch import _ENTRY
from detaudit.worker.channel import receive
from tests.builders import (
    classifier,
    identity,
    noisy,
    split_to_sequence,
    string_output,
    unknown_domain,
    zipmap,
)
from tests.builders.inputs import equal_names
from tests.jobs import make_job
from tests.runtime import run as run_plain

X = np.linspace(-1, 1, 4, dtype=np.float32).reshape(1, 4)

Message = tuple[dict[str, Any], list[np.ndarray]]


class Live:
    """A worker whose stdin stays open."""

    def __init__(self, job: dict[str, Any], log: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, _ENTRY, "ort"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("wb"),
        )
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({**job, "log": str(log)}).encode() + b"\n")
        self.process.stdin.flush()

    def messages(self) -> list[Message]:
        assert self.process.stdout is not None
        found = []
        while True:
            try:
                found.append(receive(self.process.stdout))
            except EOFError:
                self.process.wait()
                return found


@pytest.fixture
def talk(tmp_path: Path) -> Callable[[dict[str, Any]], list[Message]]:
    """All messages of a worker."""

    def run_worker(job: dict[str, Any]) -> list[Message]:
        live = Live(job, tmp_path / "stderr.txt")
        try:
            return live.messages()
        finally:
            live.process.kill()
            live.process.wait()

    return run_worker


def events(messages: list[Message]) -> list[str]:
    return [message["event"] for message, _ in messages]


def test_every_run_of_every_session_and_sample_is_told(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    samples = [{"x": X}, {"x": 2 * X}]
    messages = talk(make_job(classifier_of_four(tmp_path), samples, outputs=["y"]))
    expected = ["hello", *(["session"] + ["run"] * 6) * 2, "done"]
    assert events(messages) == expected
    runs = [message for message, _ in messages if message["event"] == "run"]
    assert [(r["session"], r["sample"], r["run"]) for r in runs] == [
        (session, sample, run) for session in range(2) for sample in range(2) for run in range(3)
    ]
    assert all(r["seconds"] > 0 for r in runs)


def classifier_of_four(folder: Path) -> Path:
    return identity(folder, shape=("n", 4))


def test_the_values_are_those_of_a_plain_session(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    graph = classifier(tmp_path)
    x = np.random.RandomState(0).standard_normal((2, 16)).astype(np.float32)
    messages = talk(make_job(graph, [{"x": x}], outputs=["logits"]))
    (expected,) = run_plain(graph, {"x": x})
    (array,) = next(arrays for message, arrays in messages if message["event"] == "run")
    assert array.tobytes() == np.asarray(expected).tobytes()


def test_an_array_travels_once_per_new_digest(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    messages = talk(make_job(classifier_of_four(tmp_path), [{"x": X}, {"x": 2 * X}]))
    carried = [len(arrays) for message, arrays in messages if message["event"] == "run"]
    assert carried == [1, 0, 0, 1, 0, 0] + [0] * 6


def test_every_new_result_travels(tmp_path: Path, talk: Callable[..., list[Message]]) -> None:
    messages = talk(make_job(noisy(tmp_path), [{"x": X}], runs=3))
    runs = [(message, arrays) for message, arrays in messages if message["event"] == "run"]
    digests = [message["outputs"][0]["digest"] for message, _ in runs]
    assert len(set(digests[:3])) == 3
    assert digests[:3] == digests[3:]
    # A later session brings its own arrays, but for the first result of all.
    assert [len(arrays) for _, arrays in runs] == [1, 1, 1, 0, 1, 1]


def test_hello_says_who_speaks(tmp_path: Path, talk: Callable[..., list[Message]]) -> None:
    hello = talk(make_job(classifier_of_four(tmp_path), [{"x": X}], seed=7))[0][0]
    assert hello["versions"]["onnxruntime"] == onnxruntime.__version__
    assert hello["versions"]["numpy"] == np.__version__
    assert hello["pid"] != os.getpid()
    assert hello["seeding"]["seed"] == 7
    assert hello["runtime"]["providers"]


def test_only_the_outputs_asked_for_come_back(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    x = np.zeros((1, 4), np.float32)
    messages = talk(make_job(zipmap(tmp_path), [{"x": x}], outputs=["label"]))
    paths = {
        leaf["path"]
        for message, _ in messages
        if message["event"] == "run"
        for leaf in message["outputs"]
    }
    assert paths == {"label"}


def test_maps_sequences_and_text_come_back(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    x = np.zeros((2, 4), np.float32)
    job = make_job(zipmap(tmp_path, "strings"), [{"x": x}], outputs=["label", "z"], sessions=1)
    message, arrays = next(m for m in talk(job) if m[0]["event"] == "run")
    assert [leaf["path"] for leaf in message["outputs"]] == ["label", "z"]
    assert message["outputs"][1]["keys"] == ["cat", "dog", "owl"]
    assert arrays[0].dtype.kind == "U"
    assert arrays[1].shape == (2, 3)

    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    job = make_job(split_to_sequence(tmp_path), [{"x": rows}], sessions=1)
    message, arrays = next(m for m in talk(job) if m[0]["event"] == "run")
    assert [leaf["path"] for leaf in message["outputs"]] == ["len(y)", "y[0]", "y[1]", "y[2]"]
    assert [array.tolist() for array in arrays] == [3, [0, 1], [2, 3], [4, 5]]


def test_text_of_the_runtime(tmp_path: Path, talk: Callable[..., list[Message]]) -> None:
    index = np.array([2, 0, 7])
    job = make_job(string_output(tmp_path), [{"index": index}], outputs=["name"])
    arrays = next(arrays for message, arrays in talk(job) if message["event"] == "run")
    assert arrays[0].tolist() == ["owl", "cat", "none"]


def test_a_model_that_cannot_be_loaded_fails_in_one_line(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    messages = talk(make_job(unknown_domain(tmp_path), [{"x": X[0]}]))
    assert events(messages) == ["hello", "failed"]
    assert "my.ops" in messages[-1][0]["reason"]
    assert "Nope" in messages[-1][0]["reason"]
    assert "\n" not in messages[-1][0]["reason"]
    assert "ONNXRuntimeError" not in messages[-1][0]["reason"]


def test_a_call_that_raises_fails_in_one_line(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    wrong = {"x": np.zeros((1, 5), np.float32)}
    messages = talk(make_job(classifier_of_four(tmp_path), [wrong]))
    assert events(messages) == ["hello", "session", "failed"]
    assert "\n" not in messages[-1][0]["reason"]


def test_a_provider_that_is_missing_is_unavailable(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    job = make_job(classifier_of_four(tmp_path), [{"x": X}], target="ep:XnnpackExecutionProvider")
    messages = talk(job)
    assert events(messages) == ["unavailable"]
    assert "does not contain XnnpackExecutionProvider" in messages[0][0]["reason"]


def test_an_input_that_was_damaged_on_its_way(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    job = make_job(classifier_of_four(tmp_path), [{"x": X}])
    np.save(job["inputs"][0]["files"]["x"], X + 1)
    messages = talk(job)
    assert messages[-1][0]["event"] == "failed"
    assert "input 'x' was damaged on its way to the worker" in messages[-1][0]["reason"]


def test_a_batch_gives_the_rows_of_each_sample(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    samples = [{"x": X}, {"x": 2 * X}]
    batch = {"size": 3, "axes": {"x": 0}, "outputs": {"y": 0}}
    job = make_job(classifier_of_four(tmp_path), samples, batch=batch, runs=1, sessions=1)
    arrays = [arrays for message, arrays in talk(job) if message["event"] == "run"]
    assert arrays[0][0].tolist() == X.tolist()
    assert arrays[1][0].tolist() == (2 * X).tolist()


@pytest.mark.modern
def test_the_openvino_plugin_runs_on_intel_or_says_why_not(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    graph = classifier(tmp_path)
    x = {"x": np.ones((1, 16), np.float32)}
    target = "openvino[precision=f32]"
    messages = talk(make_job(graph, [x], target=target, outputs=["logits"], sessions=1))
    if "GenuineIntel" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        assert events(messages) == ["unavailable"]
        assert "it accepts Intel processors only" in messages[0][0]["reason"]
        return
    assert events(messages) == ["hello", "session", *["run"] * 3, "done"]
    assert messages[1][0]["placement"]["OpenVINOExecutionProvider"] > 0
    assert messages[-1][0]["precision"] == "f32 (as asked)"
    (array,) = next(arrays for message, arrays in messages if message["event"] == "run")
    np.testing.assert_allclose(array, np.asarray(run_plain(graph, x)[0]), atol=1e-5)


@pytest.mark.modern
def test_a_device_that_the_openvino_plugin_lacks(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    target = "openvino[device_type=NPU]"
    messages = talk(make_job(classifier_of_four(tmp_path), [{"x": X}], target=target))
    assert events(messages) == ["unavailable"]
    assert "offers no NPU device on this machine (offered: " in messages[0][0]["reason"]


def test_two_inputs_arrive_under_their_names(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    graph = equal_names(tmp_path)
    names = [i.name for i in onnxruntime.InferenceSession(str(graph)).get_inputs()]
    feeds = {name: np.full((2, 3), 10.0**i, np.float32) for i, name in enumerate(names)}
    messages = talk(make_job(graph, [feeds], sessions=1, runs=1))
    (array,) = next(arrays for message, arrays in messages if message["event"] == "run")
    (expected,) = run_plain(graph, feeds)
    assert array.tolist() == np.asarray(expected).tolist()


def test_only_the_probe_looks_at_placement_afterwards(
    tmp_path: Path, talk: Callable[..., list[Message]]
) -> None:
    graph = classifier_of_four(tmp_path)
    for probe in (True, False):
        done = talk(make_job(graph, [{"x": X}], probe=probe))[-1][0]
        assert done["event"] == "done"
        assert done["state"]
        assert "precision" not in done


def is_alive(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def test_a_worker_leaves_when_its_parent_is_gone(tmp_path: Path) -> None:
    job = make_job(classifier_of_four(tmp_path), [{"x": X}], runs=10**7)
    live = Live(job, tmp_path / "stderr.txt")
    try:
        assert live.process.stdin is not None
        assert live.process.stdout is not None
        assert receive(live.process.stdout)[0]["event"] == "hello"
        live.process.stdin.close()
        drained: Counter[str] = Counter()
        while live.process.poll() is None:
            try:
                drained[receive(live.process.stdout)[0]["event"]] += 1
            except EOFError:
                break
        assert not is_alive(live.process, 30)
        assert drained["done"] == 0
    finally:
        live.process.kill()
        live.process.wait()


def test_a_worker_whose_reader_is_gone_leaves(tmp_path: Path) -> None:
    job = make_job(classifier_of_four(tmp_path), [{"x": X}], runs=10**7)
    live = Live(job, tmp_path / "stderr.txt")
    try:
        assert live.process.stdout is not None
        receive(live.process.stdout)
        live.process.stdout.close()
        assert not is_alive(live.process, 30)
    finally:
        live.process.kill()
        live.process.wait()


PARENT = """
import json, subprocess, sys, time
from tests.worker.test_main import Live
from pathlib import Path
live = Live(json.loads(sys.argv[1]), Path(sys.argv[2]))
print(live.process.pid, flush=True)
live.messages()
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_outlives_no_parent(tmp_path: Path, how: signal.Signals) -> None:
    job = make_job(classifier_of_four(tmp_path), [{"x": X}], runs=10**7)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, json.dumps(job), str(tmp_path / "stderr.txt")],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    os.kill(pid, 0)
    parent.send_signal(how)
    parent.wait(30)
    end = time.monotonic() + 30
    while time.monotonic() < end and Path(f"/proc/{pid}/stat").exists():
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.05)
    else:
        assert not Path(f"/proc/{pid}/stat").exists()


def test_an_old_interpreter_is_refused_in_words() -> None:
    code = (
        "import runpy, sys; sys.version_info = (3, 9, 0, 'final', 0);"
        f" runpy.run_path({str(_ENTRY)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "detaudit's workers need Python 3.10 or newer\n"


def test_the_worker_needs_no_installed_detaudit(tmp_path: Path) -> None:
    code = (
        f"import runpy, sys; sys.path.insert(0, {str(_ENTRY.parent)!r})\n"
        f"namespace = runpy.run_path({str(_ENTRY)!r})\n"
        "namespace['_expose_package']()\n"
        "import detaudit.worker.main\n"
        "others = {m.split('.')[1] for m in sys.modules if m.startswith('detaudit.')}\n"
        "print(sorted(others), 'main' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.strip() == "['seeding', 'worker'] False"
