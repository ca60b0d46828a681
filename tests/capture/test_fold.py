from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from detaudit.capture import fold as module
from detaudit.capture.fold import Folding
from detaudit.metrics.spread_summary import SpreadSummary
from detaudit.record import RUN_COLUMNS, Outcomes, OutputFacts, TargetRecord
from detaudit.target import parse_target
from detaudit.worker.leaves import Leaf
from tests.records import Call, Plan, always, by_run, floats, fold, tell

A, B, C = floats(1, 2), floats(1, 2.5), floats(1.25, 2)


def digest(array: np.ndarray, path: str = "y") -> str:
    return Leaf(path, np.asarray(array)).digest()


def make(call: Call, plan: Plan | None = None) -> tuple[TargetRecord, dict[str, np.ndarray]]:
    """Record and arrays, which are the same however often an array travels."""
    plan = plan or Plan()
    arrays: dict[str, np.ndarray] = {}
    lavish: dict[str, np.ndarray] = {}
    record = fold(call, plan, arrays)
    assert fold(call, plan, lavish, thrifty=False) == record
    assert list(lavish) == list(arrays)
    for key in arrays:
        np.testing.assert_array_equal(lavish[key], arrays[key])
    return record, arrays


def summary(record: TargetRecord, scope: str, output: int = 0) -> SpreadSummary:
    (found,) = [s for s in record.spreads if (s.scope, s.output) == (scope, output)]
    return found.summary


def scopes(record: TargetRecord, output: int = 0) -> set[str]:
    return {s.scope for s in record.spreads if s.output == output}


def test_facts_of_the_worker_are_kept() -> None:
    record, _ = make(always(A), Plan(runs=1, sessions=2, processes=2))
    assert record.target == parse_target("cpu")
    assert (record.status, record.reason, record.stderr) == ("ok", None, ())
    assert record.hardware == "Abacus 9000"
    assert record.effective == {"threads": 1}
    assert record.placement == {"CPUExecutionProvider": 3}
    assert record.versions == {"onnxruntime": "1.2.3"}
    assert [p.process for p in record.processes] == [0, 1]
    assert [p.sessions for p in record.processes] == [(0.5, 1.5)] * 2
    assert [p.state for p in record.processes] == [{"numpy": "state 0"}, {"numpy": "state 1"}]
    assert [p.seeding for p in record.processes] == [{"seed": 1}] * 2
    assert record.outputs == (OutputFacts("y", "float32", (2,)),)


def test_every_call_has_a_row() -> None:
    plan = Plan(runs=2, sessions=2, processes=2, samples=2)
    _, arrays = make(always(A), plan)
    assert arrays["0/runs"].dtype == RUN_COLUMNS
    assert arrays["0/runs"][:5].tolist() == [
        (0, 0, 0, 0, 0.25),
        (0, 0, 0, 1, 0.125),
        (0, 0, 1, 0, 0.25),
        (0, 0, 1, 1, 0.125),
        (0, 1, 0, 0, 0.25),
    ]
    assert len(arrays["0/runs"]) == 16
    assert arrays["0/outcome"].tolist() == [[0]] * 16
    assert arrays["0/outcome"].dtype == np.int32


def test_steady_results_keep_one_array() -> None:
    record, arrays = make(always(A))
    assert record.outcomes == (Outcomes(0, 0, (digest(A),), (16,), (0,), varies=False),)
    assert record.spreads == ()
    assert set(arrays) == {"0/0/0/0", "0/runs", "0/outcome"}
    assert arrays["0/0/0/0"].tobytes() == A.tobytes()


def test_only_the_first_run_differs() -> None:
    record, arrays = make(by_run(A, B))
    assert record.outcomes == (
        Outcomes(0, 0, (digest(A), digest(B)), (4, 12), (0, 1), varies=True),
    )
    assert arrays["0/outcome"].ravel().tolist() == [0, 1, 1, 1] * 4
    assert arrays["0/0/0/low"].tolist() == [1, 2]
    assert arrays["0/0/0/high"].tolist() == [1, 2.5]
    assert scopes(record) == {"run"}
    # Four sessions of four runs, three of which lie 0.5 away in one of two elements.
    assert summary(record, "run") == SpreadSummary(
        comparisons=12,
        identical=False,
        elements=8,
        changed=4,
        changed_share=0.5,
        max_abs=0.5,
        mean_abs=0.25,
        pairs=24,
        max_ulp=2**21,
        nan_pattern_changed=False,
        structural=None,
    )


def test_every_result_is_another() -> None:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"y": floats(process * 100 + session * 10 + run)}

    record, arrays = make(call)
    (outcomes,) = record.outcomes
    assert outcomes.counts == (1,) * 16
    assert outcomes.kept == tuple(range(16))
    assert arrays["0/outcome"].ravel().tolist() == list(range(16))
    assert [arrays[f"0/0/0/{i}"].item() for i in (0, 3, 4, 15)] == [0, 3, 10, 113]
    assert (arrays["0/0/0/low"].item(), arrays["0/0/0/high"].item()) == (0, 113)
    assert summary(record, "run").max_abs == 3
    assert summary(record, "run").mean_abs == 2
    assert summary(record, "session").max_abs == 10
    assert summary(record, "process").max_abs == 100
    assert [summary(record, s).comparisons for s in ("run", "session", "process")] == [12, 2, 1]


def test_sessions_replay_what_the_runs_draw() -> None:
    """A random model looks steady from session to session: each scope sees its own."""
    record, _ = make(by_run(A, B, C, A))
    assert scopes(record) == {"run"}


@pytest.mark.parametrize(
    "results",
    [
        # Per session: the first result of all comes again behind another one, without its array.
        ("AA", "BA"),
        ("AB", "BA"),
        ("AB", "CA", "BA"),
        ("A-", "-A"),
        ("-A", "BA"),
        ("AA", "-A", "BA"),
    ],
)
def test_the_first_result_comes_again_in_a_later_session(results: tuple[str, ...]) -> None:
    values = {"A": A, "B": B, "C": C}

    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        result = results[session][run]
        return {"x": A} if result == "-" else {"x": A, "y": values[result]}

    record, arrays = make(call, Plan(runs=2, sessions=len(results), processes=2))
    row = [o.path for o in record.outputs].index("y")
    numbers = arrays["0/outcome"][:, row]
    order = [letter for letter in dict.fromkeys("".join(results)) if letter != "-"]
    told = "".join("-" if n < 0 else order[n] for n in numbers)
    assert told == "".join(results) * 2


def test_a_drift_of_processes_only() -> None:
    record, arrays = make(lambda process, *_: {"y": B if process else A})
    assert scopes(record) == {"process"}
    assert summary(record, "process").max_abs == 0.5
    assert summary(record, "process").comparisons == 1
    assert arrays["0/outcome"].ravel().tolist() == [0] * 8 + [1] * 8


def test_a_drift_of_sessions_only() -> None:
    record, _ = make(lambda _p, session, *_: {"y": B if session else A})
    assert scopes(record) == {"session"}
    assert summary(record, "session").comparisons == 2
    assert summary(record, "session").mean_abs == 0.25


def test_samples_are_never_compared_with_each_other() -> None:
    record, arrays = make(lambda _p, _s, sample, _r: {"y": floats(sample)}, Plan(samples=3))
    assert record.spreads == ()
    assert [o.sample for o in record.outcomes] == [0, 1, 2]
    assert [arrays[f"0/{n}/0/0"].item() for n in range(3)] == [0, 1, 2]


def test_one_sample_of_two_drifts() -> None:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"y": B if sample == 1 and run == 2 else A}

    record, _ = make(call, Plan(samples=2))
    assert [o.varies for o in record.outcomes] == [False, True]
    assert summary(record, "run").comparisons == 12


def test_outputs_do_not_mix() -> None:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"steady": A, "moving": B if run == 1 else A}

    record, arrays = make(call)
    assert [o.path for o in record.outputs] == ["steady", "moving"]
    assert scopes(record, 0) == set()
    assert scopes(record, 1) == {"run"}
    assert arrays["0/outcome"].tolist() == [[0, 0], [0, 1], [0, 0], [0, 0]] * 4


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2, 1), (1, 2)), ((0,), (1,)), ((), (1,))])
def test_shapes_that_change(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    one, other = (np.ones(shape, np.float32) for shape in shapes)
    record, arrays = make(by_run(one, other))
    assert record.outputs[0].shape == shapes[0]
    assert summary(record, "run").structural == f"shape {shapes[0]} against {shapes[1]}"
    assert arrays["0/0/0/1"].shape == shapes[1]
    assert arrays["0/outcome"].ravel().tolist() == [0, 1, 1, 1] * 4


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (np.float32([1]), np.float64([1]), "type float32 against float64"),
        (np.int64([1]), np.int32([1]), "type int64 against int32"),
        (np.float32([1]), np.array(["a"]), "type float32 against string"),
    ],
)
def test_types_that_change(one: np.ndarray, other: np.ndarray, words: str) -> None:
    record, _ = make(by_run(one, other))
    assert summary(record, "run").structural == words


def test_an_output_that_is_sometimes_absent() -> None:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"y": A} if run == 2 else {"y": A, "z": A}

    record, arrays = make(call)
    assert arrays["0/outcome"].tolist() == [[0, 0], [0, 0], [0, -1], [0, 0]] * 4
    assert summary(record, "run", 1).structural == "the output was absent in some runs"
    assert scopes(record, 0) == set()
    assert scopes(record, 1) == {"run"}


@pytest.mark.parametrize(
    ("absent", "expected"),
    [
        (lambda _p, _s, run: run == 0, {"run"}),
        (lambda _p, session, _r: session == 0, {"session"}),
        (lambda process, _s, _r: process == 0, {"process"}),
        (lambda _p, session, run: session == 0 and run == 0, {"run", "session"}),
    ],
)
def test_an_output_that_is_absent_at_first(absent: Any, expected: set[str]) -> None:
    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"y": A} if absent(process, session, run) else {"y": A, "z": A}

    record, _ = make(call)
    assert scopes(record, 1) == expected
    for scope in expected:
        assert summary(record, scope, 1).structural == "the output was absent in some runs"


def test_lists_that_grow() -> None:
    record, arrays = make(by_run([A], [A, B]))
    assert [o.path for o in record.outputs] == ["len(y)", "y[0]", "y[1]"]
    assert arrays["0/outcome"].tolist() == [[0, 0, -1], [1, 0, 0], [1, 0, 0], [1, 0, 0]] * 4
    assert summary(record, "run", 0).max_abs == 1
    assert summary(record, "run", 2).structural == "the output was absent in some runs"


def test_maps_whose_keys_change() -> None:
    record, _ = make(by_run({"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}))
    assert record.outputs[0].keys == ("a", "b")
    assert summary(record, "run").structural == "the keys were others in some runs"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array(["a", "b"]), np.array(["a", "long text"])),
        (np.array([True, False]), np.array([True, True])),
        (np.array([1 + 2j], np.complex64), np.array([1 - 2j], np.complex64)),
        (np.array([2**64 - 1], np.uint64), np.array([0], np.uint64)),
        (np.array([np.nan, 1]), np.array([1, np.inf])),
        (np.array([0.0]), np.array([-0.0])),
    ],
)
def test_every_type_can_vary(one: np.ndarray, other: np.ndarray) -> None:
    record, arrays = make(by_run(one, other))
    assert record.outcomes[0].counts == (4, 12)
    assert not summary(record, "run").identical
    assert arrays["0/0/0/1"].tolist() == other.tolist() or np.isnan(one).any()


def test_no_array_needs_a_pickle() -> None:
    text = np.array(["a", "b"]), np.array(["a", "long text"])
    for values in (text, (np.array([1j]), np.array([2j])), (np.array(True), np.array(False))):
        _, arrays = make(by_run(*values))
        assert all(array.dtype.kind != "O" for array in arrays.values())


def test_results_beyond_the_limit_still_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_BYTES", 3 * 400)
    rng = np.random.RandomState(0)
    values = rng.standard_normal((16, 100)).astype(np.float32)

    def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
        return {"y": values[process * 8 + session * 4 + run]}

    record, arrays = make(call)
    (outcomes,) = record.outcomes
    assert outcomes.kept == (0, 1, 2)
    assert sum(outcomes.counts) == 16
    assert len(outcomes.digests) == 16
    np.testing.assert_array_equal(arrays["0/0/0/low"], values.min(axis=0))
    np.testing.assert_array_equal(arrays["0/0/0/high"], values.max(axis=0))


def test_the_first_result_is_kept_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_BYTES", 0)
    record, arrays = make(by_run(A, B))
    assert record.outcomes[0].kept == (0,)
    assert arrays["0/0/0/0"].tolist() == A.tolist()


def test_a_target_that_failed_keeps_what_it_gave() -> None:
    arrays: dict[str, np.ndarray] = {}
    folding = Folding(3, parse_target("cpu[opt=off]"), arrays)
    told = list(tell(by_run(A, B), Plan()))
    for message in told[:5]:
        folding.add(*message)
    assert folding.calls == 3
    record = folding.end("failed", {"reason": "it broke"}, ("last", "words"))
    assert (record.status, record.reason) == ("failed", "it broke")
    assert record.stderr == ("last", "words")
    assert record.outcomes[0].counts == (1, 2)
    assert arrays["3/outcome"].ravel().tolist() == [0, 1, 1]
    assert record.processes == ()


def test_a_target_that_said_nothing() -> None:
    arrays: dict[str, np.ndarray] = {}
    folding = Folding(0, parse_target("cuda:0"), arrays)
    record = folding.end("unavailable", {"reason": "no driver"}, ("noise",))
    assert (record.status, record.reason, record.hardware) == ("unavailable", "no driver", "")
    assert record.stderr == ()
    assert arrays["0/runs"].shape == (0,)
    assert arrays["0/outcome"].shape == (0, 0)


def test_what_is_looked_up_at_the_end_is_kept() -> None:
    told = list(tell(always(A), Plan(processes=2)))
    first = next(message for _, message, _ in told if message["event"] == "done")
    first.update({"placement": {"X": 7}, "precision": "bf16"})
    for _, message, _ in told:
        if message["event"] == "session":
            message["placement"] = None
    folding = Folding(0, parse_target("openvino"), {})
    for message in told:
        folding.add(*message)
    record = folding.end("ok")
    assert record.placement == {"X": 7}
    assert record.effective == {"threads": 1, "precision": "bf16"}


class Discarding(dict[str, np.ndarray]):
    """Arrays that lie on disk as far as memory goes: each is held by size only."""

    def __setitem__(self, key: str, array: np.ndarray) -> None:
        super().__setitem__(key, np.broadcast_to(array.ravel()[:1], array.shape))


@pytest.mark.parametrize("drifting", [False, True])
def test_memory_does_not_grow_with_the_number_of_runs(
    drifting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT_BYTES", 4 << 20)
    size = 1 << 18

    def peak(runs: int) -> int:
        def call(process: int, session: int, sample: int, run: int) -> dict[str, Any]:
            return {"y": np.full(size, run * drifting, np.float32)}

        tracemalloc.start()
        fold(call, Plan(runs=runs, sessions=1, processes=1), Discarding())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = peak(10), peak(60)
    assert many < few + 2 * size
