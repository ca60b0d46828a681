"""A worker process as its parent sees it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detaudit.target import Target

if TYPE_CHECKING:
    import numpy as np

_ENTRY = Path(__file__).resolve().parent.parent / "worker" / "__main__.py"
_TAIL = 12
_PATIENCE = 5.0
"""Seconds that the end of a killed worker's pipe is waited for."""

_BY_THE_WAY = re.compile(r"^\s|:\d+: \w*Warning: ")

_LAST = ("done", "described", "unavailable", "failed")
"""Events after which a worker has nothing more to say."""

Message = tuple[dict[str, Any], "list[np.ndarray]"]


def launch(target: Target, timeout: float) -> Worker:
    """Start a worker process for a target.

    Args:
        target: where it is to run
        timeout: seconds that it may stay silent

    """
    return Worker(target.option("python"), target.environment, timeout, library=target.backend)


class Worker:
    """A worker process, ended when the ``with`` block is left.

    Args:
        python: interpreter to use, None for this one
        environment: variables to set beside those of this process
        timeout: seconds that the worker may stay silent
        library: folder of ``worker`` with the library that drives the target

    """

    def __init__(
        self,
        python: str | None,
        environment: Mapping[str, str],
        timeout: float,
        library: str = "ort",
    ) -> None:
        self._timeout = timeout
        self._folder = tempfile.TemporaryDirectory(prefix="detaudit-worker-")
        self.log = Path(self._folder.name) / "stderr.txt"
        self._process: subprocess.Popen[bytes] | None = None
        self._refusal = ""
        python = python or sys.executable
        with self.log.open("wb") as stderr:
            try:
                self._process = subprocess.Popen(
                    [python, str(_ENTRY), library],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
                    # Ctrl-C is for the parent alone, which then ends its workers.
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                self._refusal = f"{python} cannot be started: {why}"
        self._garbled = False
        self._messages: queue.Queue[Message | None] = queue.Queue(maxsize=2)
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Worker:
        """The worker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._stop(self._process)
        self._folder.cleanup()

    def _stop(self, process: subprocess.Popen[bytes]) -> None:
        if hasattr(os, "killpg"):
            # What the interpreter started may hold the pipe open.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        give_up = time.monotonic() + _PATIENCE
        while self._reader.is_alive() and time.monotonic() < give_up:
            # The reader may wait for room, with an array that nobody wants any more.
            with contextlib.suppress(queue.Empty):
                self._messages.get(timeout=0.05)
        if self._reader.is_alive():
            return  # A pipe that is being read cannot be closed.
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def messages(self, job: Mapping[str, Any]) -> Iterator[Message]:
        """Give the worker its job and receive what happens.

        Args:
            job: what ``detaudit.worker.main`` takes

        Yields:
            every message with its arrays; at the end always one of the events ``done``,
            ``unavailable`` and ``failed``

        """
        process = self._process
        if process is None:
            yield {"event": "unavailable", "reason": self._refusal}, []
            return
        self._reader.start()
        # A worker that never reads must not keep the clock from running.
        text = json.dumps({**job, "log": str(self.log)}).encode() + b"\n"
        threading.Thread(target=self._write, args=(process, text), daemon=True).start()
        while True:
            try:
                received = self._messages.get(timeout=self._timeout)
            except queue.Empty:
                yield _failed(self._silence())
                return
            if received is None:
                yield _failed(self._death(process))
                return
            yield received
            if received[0]["event"] in _LAST:
                return

    def last_words(self) -> tuple[str, ...]:
        """Last lines that the worker wrote to stderr."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return tuple(line.rstrip() for line in text.splitlines() if line.strip())[-_TAIL:]

    def _parting_word(self) -> str:
        """Last line on stderr that may tell why it ended: no warning, and no code quoted by one."""
        told = [line for line in self.last_words() if not _BY_THE_WAY.search(line)]
        return told[-1] if told else ""

    @staticmethod
    def _write(process: subprocess.Popen[bytes], text: bytes) -> None:
        assert process.stdin is not None
        # It may die before it listens; its exit tells why.
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write(text)
            process.stdin.flush()

    def _read(self) -> None:
        # NumPy comes with it; the process is started before that is loaded.
        from detaudit.worker.channel import receive

        assert self._process is not None
        assert self._process.stdout is not None
        try:
            while True:
                received = receive(self._process.stdout)
                if "event" not in received[0]:
                    raise ValueError("this is no message")
                self._messages.put(received)
        except (EOFError, OSError):
            pass  # It is gone.
        except Exception:
            # Bytes that are no message can fail in any way, and must not leave the parent waiting.
            self._garbled = True
        self._messages.put(None)

    def _silence(self) -> str:
        return f"no sign of life for {self._timeout:g} s, ended by --timeout"

    def _death(self, process: subprocess.Popen[bytes]) -> str:
        """Why no more messages come although none said so."""
        if self._garbled:
            return "the worker wrote something that is no message"
        try:
            code = process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            return self._silence()
        if code >= 0:
            why = self._parting_word()
            return f"the worker ended with exit code {code}" + (f": {why}" if why else "")
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        if name == "SIGKILL":
            return "the worker was killed (SIGKILL), as the system does when memory runs out"
        return f"the worker crashed ({name})"


def _failed(why: str) -> Message:
    return {"event": "failed", "reason": why}, []
