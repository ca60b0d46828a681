"""One worker process: fresh sessions, each run again and again on every sample.

The job arrives as JSON on stdin; what happens goes to the parent as messages:
``hello``, then per session ``session`` and its ``run`` messages, then ``done``; or
``described`` where a model is to be described; or ``unavailable`` or ``failed`` with the reason.
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
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from detaudit.seeding import get_seeds_state
from detaudit.worker.backend import Backend, Live
from detaudit.worker.channel import send, take_stdout
from detaudit.worker.failures import Misuse, Unavailable, reason
from detaudit.worker.feeds import Batch, Feeds
from detaudit.worker.leaves import Leaf, tell_apart

_PR_SET_PDEATHSIG = 1


def main(library: str) -> int:
    """Run the job that arrives on stdin.

    Args:
        library: folder of this package that drives the target: ``ort`` or ``torch``

    """
    channel = take_stdout()
    _die_with_parent()
    backend = importlib.import_module(f"detaudit.worker.{library}.backend")
    loaded = None
    # Loaded while the parent is still busy with the model; what is missing is told later.
    with contextlib.suppress(ImportError):
        loaded = backend.load()
    job = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        if job.get("describe"):
            send(channel, {"event": "described", **backend.describe(job)})
        else:
            log = Path(job["log"])
            for message, arrays in _work(job, lambda: backend.make(job, log, loaded)):
                send(channel, message, arrays)
    except Unavailable as error:
        _tell(channel, {"event": "unavailable", "reason": reason(error)})
    except BrokenPipeError:
        return 1
    except Exception as error:
        wrong = isinstance(error, Misuse)
        _tell(channel, {"event": "failed", "reason": reason(error), "misuse": wrong})
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
    # Not through sys.stdin, whose lock a forked process would find taken when it closes it.
    while os.read(0, 1):
        pass
    os._exit(1)


Step = tuple[dict[str, Any], list[np.ndarray]]


def _work(job: Mapping[str, Any], make: Callable[[], Backend]) -> Iterator[Step]:
    backend = make()
    seeding = backend.seed()
    yield _hello(backend, seeding), []
    anchors: set[tuple[int, str]] = set()
    live: Live | None = None
    for session in range(job["sessions"]):
        # Two models at once may not fit into memory.
        del live
        gc.collect()
        begin = time.perf_counter()
        live = backend.open()
        opened = {
            "event": "session",
            "session": session,
            "seconds": time.perf_counter() - begin,
            "effective": live.effective,
            "placement": live.placement,
            "weights": live.weights,
        }
        yield opened, []
        for sample in range(len(job["inputs"])):
            yield from _runs(job, live, session, sample, anchors)
    done: dict[str, Any] = {"event": "done", "state": get_seeds_state()}
    if job["probe"]:
        assert live is not None
        done |= backend.look_back(live, _feeds(job, 0).values)
    yield done, []


def _hello(backend: Backend, seeding: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "event": "hello",
        "pid": os.getpid(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            **backend.versions,
        },
        "runtime": backend.described,
        "hardware": backend.hardware,
        "seeding": seeding,
    }


def _runs(
    job: Mapping[str, Any], live: Live, session: int, sample: int, anchors: set[tuple[int, str]]
) -> Iterator[Step]:
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
        for leaf in tell_apart(live.leaves(values, feeds)):
            known = before.get(leaf.path)
            digest = known[1] if known and leaf.equals(known[0]) else leaf.digest()
            before[leaf.path] = leaf, digest
            anchor = (sample, f"{leaf.path}\0{digest}")
            payload = anchor not in anchors and (leaf.path, digest) not in sent
            described.append(
                {
                    "path": leaf.path,
                    "digest": digest,
                    "keys": leaf.keys,
                    "declared": leaf.declared,
                    "payload": payload,
                }
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
