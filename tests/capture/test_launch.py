from __future__ import annotations

import os
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detaudit.capture.launch import Worker
from tests.builders import identity
from tests.jobs import make_job

ROOT = Path(__file__).resolve().parents[2]
X = np.arange(4, dtype=np.float32).reshape(1, 4)
HELLO = """
from detaudit.worker.channel import send, take_stdout
channel = take_stdout()
send(channel, {"event": "hello", "pid": os.getpid()})
"""


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], str]:
    """Interpreter that runs other code than it is told to; it notes its pid."""

    def write(code: str, shebang: str = sys.executable) -> str:
        path = tmp_path / "bin" / "python"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f"#!{shebang}\n"
            "import os, signal, sys, time\n"
            f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
            f"sys.path.insert(0, {str(ROOT)!r})\n"
            f"{code}\n",
            encoding="utf-8",
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return write


def has_gone(pid: int) -> bool:
    """Whether a process runs no more; an orphan may wait for init to collect it."""
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def listen(
    python: str | None, job: dict[str, Any] | None = None, timeout: float = 60.0, **env: str
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    with Worker(python, env, timeout) as worker:
        messages = [message for message, _ in worker.messages(job or {})]
        return messages, worker.last_words()


def last(python: str | None, timeout: float = 60.0) -> dict[str, Any]:
    return listen(python, timeout=timeout)[0][-1]


def check_nothing_is_left(tmp_path: Path) -> None:
    assert has_gone(int((tmp_path / "pid").read_text()))
    assert not list((tmp_path / "temporary").iterdir())
    assert not [t for t in threading.enumerate() if "_read" in t.name]


@pytest.fixture
def job(tmp_path: Path) -> dict[str, Any]:
    return make_job(identity(tmp_path, shape=("n", 4)), [{"x": X}])


def test_a_worker_works(job: dict[str, Any], tmp_path: Path) -> None:
    with Worker(None, {}, 60.0) as worker:
        pid = worker._process.pid
        messages = list(worker.messages(job))
    assert [m["event"] for m, _ in messages] == [
        "hello",
        *["session", "run", "run", "run"] * 2,
        "done",
    ]
    assert messages[0][0]["pid"] == pid
    assert messages[2][1][0].tolist() == X.tolist()
    assert has_gone(pid)
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize("when", ["before", "amid"])
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "the worker crashed (SIGSEGV)"),
        ("os.abort()", "the worker crashed (SIGABRT)"),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            "the worker was killed (SIGKILL), as the system does when memory runs out",
        ),
        ("os.kill(os.getpid(), signal.SIGTERM)", "the worker crashed (SIGTERM)"),
        ("os.kill(os.getpid(), 40)", "the worker crashed (signal 40)"),
        ("sys.exit(7)", "the worker ended with exit code 7"),
        ("sys.exit(0)", "the worker ended with exit code 0"),
        ("sys.exit('no licence')", "the worker ended with exit code 1: no licence"),
        (
            "raise ImportError('no numpy here')",
            "the worker ended with exit code 1: ImportError: no numpy here",
        ),
    ],
)
def test_a_worker_that_ends_on_its_own(
    fake: Callable[[str], str], tmp_path: Path, when: str, code: str, reason: str
) -> None:
    messages, _ = listen(fake(code if when == "before" else f"{HELLO}\n{code}"))
    assert [m["event"] for m in messages] == [*["hello"] * (when == "amid"), "failed"]
    assert messages[-1]["reason"] == reason
    check_nothing_is_left(tmp_path)


@pytest.mark.parametrize("before", ["", HELLO])
def test_a_worker_that_falls_silent(
    fake: Callable[[str], str], tmp_path: Path, before: str
) -> None:
    reason = last(fake(f"{before}\ntime.sleep(600)"), timeout=1.0)["reason"]
    assert reason == "no sign of life for 1 s, ended by --timeout"
    check_nothing_is_left(tmp_path)


def test_a_worker_that_ignores_every_request_to_end(
    fake: Callable[[str], str], tmp_path: Path
) -> None:
    code = "for s in signal.SIGTERM, signal.SIGINT: signal.signal(s, signal.SIG_IGN)"
    assert "ended by --timeout" in last(fake(f"{code}\ntime.sleep(600)"), timeout=1.0)["reason"]
    check_nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    "garbage",
    [
        "print('Hello, I am a library', flush=True)",
        "os.write(1, (5).to_bytes(8, 'big') + b'hello')",
        "os.write(1, (2).to_bytes(8, 'big') + b'[]')",
        "os.write(1, (2).to_bytes(8, 'big') + b'{}')",
        "os.write(1, (1).to_bytes(8, 'big') + b'\\xff' * 100)",
        "os.write(1, b'\\xff' * 12)",
        'os.write(1, (39).to_bytes(8, \'big\') + b\'{"arrays":[{"dtype":"O","shape":[3]}]}   \')',
        "os.close(1)",
    ],
)
@pytest.mark.parametrize("then", ["sys.exit(0)", "time.sleep(600)"])
@pytest.mark.parametrize("before", ["", HELLO.replace("take_stdout()", "sys.stdout.buffer")])
def test_garbage_on_the_channel_never_hangs(
    fake: Callable[[str], str], tmp_path: Path, before: str, garbage: str, then: str
) -> None:
    timeout = 2.0 if then == "time.sleep(600)" else 60.0
    final = last(fake(f"{before}\n{garbage}\n{then}"), timeout=timeout)
    assert final["event"] == "failed"
    assert final["reason"] in (
        "the worker ended with exit code 0",
        "no sign of life for 2 s, ended by --timeout",
        "the worker wrote something that is no message",
    )
    check_nothing_is_left(tmp_path)


def test_noise_on_stderr_is_kept_as_last_words(fake: Callable[[str], str], tmp_path: Path) -> None:
    code = "for i in range(40): print('line', i, file=sys.stderr)\nos.write(2, b'caf\\xe9  \\n\\n')"
    messages, words = listen(fake(f"{HELLO}\n{code}\nsys.exit(3)"))
    assert messages[-1]["reason"] == "the worker ended with exit code 3: caf�"
    assert words == (*(f"line {i}" for i in range(29, 40)), "caf�")
    check_nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("warnings.warn('old')", ""),
        ("warnings.warn('old', DeprecationWarning)", ""),
        ("print('gone', file=sys.stderr)\nwarnings.warn('old')", ": gone"),
        ("warnings.warn('old')\nprint('gone', file=sys.stderr)", ": gone"),
        ("print('    quoted()', file=sys.stderr)", ""),
    ],
)
@pytest.mark.parametrize("code", [0, 3])
def test_a_warning_is_no_reason_for_an_end(
    fake: Callable[[str], str], tmp_path: Path, last: str, told: str, code: int
) -> None:
    noisy = f"import warnings\nwarnings.simplefilter('always')\n{last}\nsys.stderr.flush()"
    messages, _ = listen(fake(f"{HELLO}\n{noisy}\nos._exit({code})"))
    assert messages[-1]["reason"] == f"the worker ended with exit code {code}{told}"
    check_nothing_is_left(tmp_path)


def test_much_noise_does_not_block(fake: Callable[[str], str], tmp_path: Path) -> None:
    code = (
        "os.write(2, b'x' * (1 << 20))\nprint('y' * (1 << 20))\n"
        "send(channel, {'event': 'done', 'state': {}})"
    )
    messages, _ = listen(fake(f"{HELLO}\n{code}"))
    assert [m["event"] for m in messages] == ["hello", "done"]
    check_nothing_is_left(tmp_path)


@pytest.mark.parametrize("text", ["", "\0\1\2", "#!/no/such/interpreter\n", "just words\n"])
def test_a_file_that_is_no_program(tmp_path: Path, text: str) -> None:
    path = tmp_path / "python"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    final = last(str(path))
    assert final["event"] == "unavailable"
    assert final["reason"].startswith(f"{path} cannot be started: ")
    assert not list((tmp_path / "temporary").iterdir())


def test_a_program_that_is_no_python(tmp_path: Path) -> None:
    final = last("/bin/cat")
    assert final["event"] == "failed"
    assert final["reason"] == "the worker wrote something that is no message"
    assert last("/bin/false")["reason"] == "the worker ended with exit code 1"
    assert not list((tmp_path / "temporary").iterdir())


def test_an_interpreter_that_is_too_old(fake: Callable[[str], str], tmp_path: Path) -> None:
    code = (
        "import runpy\nsys.version_info = (3, 9, 18, 'final', 0)\n"
        "runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    final = last(fake(code))
    assert final["reason"] == (
        "the worker ended with exit code 1: detaudit's workers need Python 3.10 or newer"
    )
    check_nothing_is_left(tmp_path)


def test_an_interpreter_without_a_runtime(
    fake: Callable[[str], str], tmp_path: Path, job: dict[str, Any]
) -> None:
    code = (
        "import runpy\nsys.modules['onnxruntime'] = None\ndel sys.argv[0]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    messages, _ = listen(fake(code), job)
    assert messages[-1]["event"] == "unavailable"
    assert messages[-1]["reason"].endswith("; install detaudit[cpu] or detaudit[gpu]")
    assert "\n" not in messages[-1]["reason"]
    check_nothing_is_left(tmp_path)


def test_the_environment_reaches_the_worker(fake: Callable[[str], str]) -> None:
    code = "send(channel, {'event': 'failed', 'reason': os.environ['OMP_NUM_THREADS']})"
    messages, _ = listen(fake(f"{HELLO}\n{code}"), OMP_NUM_THREADS="3")
    assert messages[-1]["reason"] == "3"


def test_an_environment_that_cannot_be_set(tmp_path: Path) -> None:
    messages, _ = listen(None, A="b\0c")
    assert messages[-1]["event"] == "unavailable"
    assert not list((tmp_path / "temporary").iterdir())


def test_the_job_arrives_with_the_place_of_the_log(fake: Callable[[str], str]) -> None:
    code = (
        "import json\njob = json.loads(sys.stdin.buffer.readline())\n"
        "send(channel, {'event': 'failed', 'reason': job['name'] + os.path.basename(job['log'])})"
    )
    assert listen(fake(f"{HELLO}\n{code}"), {"name": "ü "})[0][-1]["reason"] == "ü stderr.txt"


def test_leaving_early_ends_the_worker(job: dict[str, Any], tmp_path: Path) -> None:
    with Worker(None, {}, 60.0) as worker:
        pid = worker._process.pid
        next(worker.messages({**job, "runs": 10**7}))
    assert has_gone(pid)
    assert not list((tmp_path / "temporary").iterdir())


def test_a_worker_that_never_got_a_job_ends_too(tmp_path: Path) -> None:
    with Worker(None, {}, 60.0) as worker:
        pid = worker._process.pid
    assert has_gone(pid)
    assert not list((tmp_path / "temporary").iterdir())


def test_an_error_of_the_parent_ends_the_worker(job: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Worker(None, {}, 60.0) as worker:
        for message, _ in worker.messages({**job, "runs": 10**7}):
            if message["event"] == "run":
                raise KeyboardInterrupt
    assert has_gone(worker._process.pid)
    assert not list((tmp_path / "temporary").iterdir())


def test_ctrl_c_on_the_terminal_does_not_reach_the_worker(fake: Callable[[str], str]) -> None:
    code = "send(channel, {'event': 'failed', 'reason': str(os.getpgid(0) == os.getpid())})"
    assert last(fake(f"{HELLO}\n{code}"))["reason"] == "True"
    assert os.getpgid(0) != 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_worker_killed_from_outside(fake: Callable[[str], str], tmp_path: Path) -> None:
    python = fake(f"{HELLO}\ntime.sleep(600)")
    with Worker(python, {}, 60.0) as worker:
        messages = worker.messages({})
        pid = next(messages)[0]["pid"]
        killer = threading.Thread(
            target=lambda: (time.sleep(0.1), os.kill(pid, signal.SIGKILL)), daemon=True
        )
        killer.start()
        assert "SIGKILL" in next(messages)[0]["reason"]
        killer.join()
    check_nothing_is_left(tmp_path)


def test_a_worker_that_never_reads_a_long_job_is_ended(fake: Callable[[str], str]) -> None:
    with Worker(fake("import time\ntime.sleep(600)"), {}, 1.0) as worker:
        (message, _), *more = worker.messages({"inputs": "x" * 1_000_000})
    assert more == []
    assert "no sign of life" in message["reason"]


def test_what_an_interpreter_started_goes_with_it(
    fake: Callable[[str], str], tmp_path: Path
) -> None:
    pid = tmp_path / "grandchild"
    code = (
        "import subprocess\n"
        f"child = subprocess.Popen(['sleep', '600'])\nopen({str(pid)!r}, 'w').write(str(child.pid))"
    )
    with Worker(fake(code), {}, 5.0) as worker:
        (message, _), *_ = worker.messages({})
    assert message["event"] == "failed"
    assert has_gone(int(pid.read_text()))
