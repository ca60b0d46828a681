"""One worker process: fresh sessions, each run again and again on every sample.

The job arrives as JSON on stdin; what happens goes to the parent as messages:
``hello``, then per session ``session`` and its ``run`` messages, then ``done``; or
``unavailable`` or ``failed`` with the reason.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import platform
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from detaudit.seeding import get_seeds_state, set_seeds
from detaudit.worker.channel import send, take_stdout
from detaudit.worker.failures import Unavailable, reason
from detaudit.worker.feeds import Batch, Feeds
from detaudit.worker.install import describe_runtime
from detaudit.worker.leaves import Leaf, leaves
from detaudit.worker.session import Runtime

_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Run the job that arrives on stdin."""
    channel = take_stdout()
    _die_with_parent()
    described = None
    # Loaded while the parent is still busy with the model; what is missing is told later.
    with contextlib.suppress(ImportError):
        described = describe_runtime(importlib.import_module("onnxruntime"))
    job = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        for message, arrays in _work(job, described):
            send(channel, message, arrays)
    except Unavailable as error:
        _tell(channel, {"event": "unavailable", "reason": reason(error)})
    except BrokenPipeError:
        return 1
    except Exception as error:
        _tell(channel, {"event": "failed", "reason": reason(error)})
    # Runtimes may crash while they are unloaded, after all has been said.
    channel.close()
    sys.stderr.flush()
    os._exit(0)


def _tell(channel: BinaryIO, message: Mapping[str, Any]) -> None:
    try:
        send(channel, message)
    except BrokenPipeError:
        os._exit(1)


def _die_with_parent() -> None:
    """Let Linux end this process with its parent, even while it is stopped."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_with_parent() -> None:
    """Leave as soon as the parent is gone, even in the middle of a run."""
    sys.stdin.buffer.read()
    os._exit(1)


Step = tuple[dict[str, Any], list[np.ndarray]]


def _work(job: Mapping[str, Any], described: dict[str, Any] | None) -> Iterator[Step]:
    runtime = Runtime(job, Path(job["log"]), described)
    seeding = set_seeds(job["seed"], runtimes=job["seed_runtime"])
    yield _hello(runtime, seeding), []
    model = _Model(job, runtime)
    anchors: set[tuple[int, str]] = set()
    placement: dict[str, int] | None = None
    for session in range(job["sessions"]):
        begin = time.perf_counter()
        live = model.open()
        seconds = time.perf_counter() - begin
        placement = runtime.placement(live.session)
        runtime.check_ran(live.session, placement)
        effective = runtime.effective(live.session)
        yield (
            {
                "event": "session",
                "session": session,
                "seconds": seconds,
                "effective": effective,
                "placement": placement,
            },
            [],
        )
        for sample in range(len(job["inputs"])):
            yield from _runs(job, live, session, sample, anchors)
        del live
        gc.collect()
    yield {"event": "done", **_afterwards(job, runtime, model, placement)}, []


def _hello(runtime: Runtime, seeding: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "event": "hello",
        "pid": os.getpid(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            **{k: v for k, v in runtime.described.items() if k in ("onnxruntime", "package")},
        },
        "runtime": runtime.described,
        "hardware": runtime.hardware,
        "seeding": seeding,
    }


def _runs(
    job: Mapping[str, Any], live: Any, session: int, sample: int, anchors: set[tuple[int, str]]
) -> Iterator[tuple[dict[str, Any], list[np.ndarray]]]:
    """All runs of one sample in one session; arrays travel once per new digest."""
    feeds = _feeds(job, sample)
    sent: set[tuple[str, str]] = set()
    before: dict[str, tuple[Leaf, str]] = {}
    for run in range(job["runs"]):
        begin = time.perf_counter()
        values = live.run(feeds.values)
        seconds = time.perf_counter() - begin
        feeds.check()
        described, arrays = [], []
        for leaf in _leaves(job, values, feeds):
            known = before.get(leaf.path)
            digest = known[1] if known and leaf.equals(known[0]) else leaf.digest()
            before[leaf.path] = leaf, digest
            anchor = (sample, f"{leaf.path}\0{digest}")
            payload = anchor not in anchors and (leaf.path, digest) not in sent
            described.append(
                {"path": leaf.path, "digest": digest, "keys": leaf.keys, "payload": payload}
            )
            if payload:
                arrays.append(leaf.array)
                sent.add((leaf.path, digest))
            if session == 0 and run == 0:
                anchors.add(anchor)
        yield (
            {
                "event": "run",
                "session": session,
                "sample": sample,
                "run": run,
                "seconds": seconds,
                "outputs": described,
            },
            arrays,
        )


def _feeds(job: Mapping[str, Any], sample: int) -> Feeds | Batch:
    batch = job["batch"]
    count = len(job["inputs"])

    def load(index: int) -> Feeds:
        entry = job["inputs"][index % count]
        return Feeds(entry["files"], entry["digests"])

    if not batch:
        return load(sample)
    return Batch([load(sample + offset) for offset in range(batch["size"])], batch["axes"])


def _leaves(
    job: Mapping[str, Any], values: Mapping[str, Any], feeds: Feeds | Batch
) -> Iterator[Leaf]:
    for name, value in values.items():
        if isinstance(feeds, Batch):
            value = feeds.own_rows(value, job["batch"]["outputs"].get(name))
        yield from leaves(name, value)


def _afterwards(
    job: Mapping[str, Any], runtime: Runtime, model: _Model, placement: dict[str, int] | None
) -> dict[str, Any]:
    """What is looked up once all runs are over, so that it disturbs none of them."""
    found: dict[str, Any] = {"state": get_seeds_state()}
    if not job["probe"]:
        return found
    feeds = _feeds(job, 0).values
    if job["transform"]:
        # Its session cannot be opened once more with a profile.
        runtime.check_known(placement)
    elif placement is None:
        with tempfile.TemporaryDirectory() as folder:
            placement = runtime.profile(job["graph"], feeds, Path(folder))
        found["placement"] = placement
        runtime.check_placed(placement)
    if runtime.provider == "OpenVINOExecutionProvider":
        found["precision"] = runtime.precision(job["graph"], feeds)
    return found


class _Model:
    """The model of the job, opened afresh for every session."""

    def __init__(self, job: Mapping[str, Any], runtime: Runtime) -> None:
        self._job = job
        self._runtime = runtime

    def open(self) -> Any:
        if self._job["transform"]:
            from detaudit.worker.transformed import TransformedModel

            return TransformedModel(self._job, self._runtime)
        return _PlainModel(self._job, self._runtime)


class _PlainModel:
    def __init__(self, job: Mapping[str, Any], runtime: Runtime) -> None:
        self.session = runtime.open(job["graph"])
        self._names = list(job["outputs"])

    def run(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        return dict(zip(self._names, self.session.run(self._names, feeds), strict=True))
