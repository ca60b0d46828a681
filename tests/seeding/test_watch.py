from __future__ import annotations

import dataclasses
import functools
import os
import pickle
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from detaudit.seeding import Event, Watch, isolated, set_seeds, watch
from detaudit.seeding.known import return_to_known
from detaudit.seeding.watching.desk import desk
from detaudit.seeding.watching.record import EARLY

CUBLAS = "CUBLAS_WORKSPACE_CONFIG"


@pytest.fixture(autouse=True)
def unseeded(contained: None) -> Iterator[None]:
    """Generators that nobody has seeded, as far as can be known."""
    own = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.MT19937())
    return_to_known(frozenset())
    yield
    np.random.set_bit_generator(own)


def here() -> int:
    """Line of the caller."""
    return sys._getframe(1).f_lineno


def tell(seen: Watch) -> list[tuple[str, str, str]]:
    return [(event.kind, event.generator, event.what) for event in seen.events]


def snapshot() -> list[tuple[Any, str, Any]]:
    """Everything that a watch may replace."""
    owners: list[Any] = [random, np.random, np.random.mtrand, random.Random, type(os.environ)]
    return [(owner, name, value) for owner in owners for name, value in vars(owner).items()]


def assert_restored(before: list[tuple[Any, str, Any]]) -> None:
    after = snapshot()
    assert len(after) == len(before)
    assert all(
        one[:2] == other[:2] and one[2] is other[2]
        for one, other in zip(before, after, strict=True)
    )


def test_first_is_a_seed_and_the_same_seed_again_a_reseed() -> None:
    with watch() as seen:
        line = here() + 1
        random.seed(3)
        random.seed(3)
        np.random.seed(np.int64(4))
        np.random.seed(seed=4)
    assert [(e.kind, e.generator, e.what, e.seed, e.line, e.count) for e in seen.events] == [
        ("seed", "python", "random.seed(3)", 3, line, 1),
        ("reseed", "python", "random.seed(3)", 3, line + 1, 1),
        ("seed", "numpy", "numpy.random.seed(4)", 4, line + 2, 1),
        ("reseed", "numpy", "numpy.random.seed(4)", 4, line + 3, 1),
    ]
    first = seen.events[0]
    assert first.file == __file__
    assert first.function == "test_first_is_a_seed_and_the_same_seed_again_a_reseed"
    assert first.thread == "MainThread"
    assert seen.seeds == (first, seen.events[2])
    assert seen.reseeds == (seen.events[1], seen.events[3])


def test_a_place_is_told_once_with_how_often() -> None:
    with watch() as seen:
        random.seed(1)
        for _ in range(3):
            random.seed(1)
    assert [event.count for event in seen.events] == [1, 3]
    assert "(3 times)" in str(seen.events[1])
    with pytest.raises(dataclasses.FrozenInstanceError):
        seen.events[0].count = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("call", "what", "seed"),
    [
        (lambda: random.seed(), "random.seed()", None),
        (lambda: random.seed(None), "random.seed(None)", None),
        (lambda: random.seed("abc"), "random.seed('abc')", "'abc'"),
        (lambda: random.seed(a=5, version=2), "random.seed(5)", 5),
        (lambda: np.random.seed(), "numpy.random.seed()", None),
        (lambda: np.random.seed([1, 2]), "numpy.random.seed([1, 2])", "[1, 2]"),
        (lambda: random.setstate(random.Random(5).getstate()), "random.setstate(...)", None),
        (
            lambda: np.random.set_state(np.random.RandomState(5).get_state()),
            "numpy.random.set_state(...)",
            None,
        ),
    ],
)
def test_seeds_of_every_form(call: Callable[[], object], what: str, seed: object) -> None:
    with watch() as seen:
        call()
    (event,) = seen.events
    assert (event.kind, event.what, event.seed) == ("seed", what, seed)


def test_what_fails_seeds_nothing_and_raises_as_ever() -> None:
    with watch() as seen, pytest.raises(ValueError, match="Seed must be between 0 and"):
        np.random.seed(-1)
    assert seen.events == ()


def test_a_state_that_is_there_already_is_no_event() -> None:
    with watch() as seen:
        random.setstate(random.getstate())
        np.random.set_state(np.random.get_state())
    assert seen.events == ()


def test_the_line_of_a_library_comes_with_the_users(tmp_path: Any) -> None:
    library = tmp_path / "library.py"
    library.write_text(
        "import random\n\ndef fit():\n    start()\n\ndef start():\n    random.seed(0)\n"
    )
    module = load(library)
    with watch() as seen:
        line = here() + 1
        module.fit()
    (event,) = seen.events
    assert (event.file, event.line, event.function) == (str(library), 7, "start")
    assert event.stack[0] == (str(library), 4, "fit")
    assert event.stack[1][:2] == (__file__, line)
    assert f"at {library}:7 in start" in seen.report()


def load(path: Any) -> Any:
    module = ModuleType(path.stem)
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    return module


def test_set_seeds_is_one_event_and_isolated_none() -> None:
    with watch() as seen:
        set_seeds(5)
        with isolated():
            random.random()
        with isolated(6):
            random.random()
        set_seeds(5)
    assert tell(seen) == [("seed", "all", "set_seeds(5)"), ("reseed", "all", "set_seeds(5)")]


def test_a_reseed_within_isolated_is_told_and_harmless() -> None:
    set_seeds(1)
    expected = np.random.rand()
    set_seeds(1)
    with watch() as seen:
        with isolated():
            np.random.seed(9)
        assert np.random.rand() == expected
    assert tell(seen) == [("reseed", "numpy", "numpy.random.seed(9)")]


def test_draws_before_a_seed() -> None:
    with watch() as seen:
        line = here() + 1
        random.random()
        np.random.rand(2)
        np.random.seed(1)
        np.random.rand(2)
        random.seed(1)
        random.random()
    assert [(e.generator, e.what, e.line) for e in seen.early_draws] == [
        ("python", "random.random", line),
        ("numpy", "numpy.random.rand", line + 1),
    ]
    assert [event.kind for event in seen.events] == ["draw", "draw", "seed", "seed"]
    assert "before a seed was seen" in seen.report()


@pytest.mark.parametrize("name", sorted({*random.__all__} - {"seed", "setstate", "getstate"}))
def test_every_function_of_random_is_a_draw(name: str) -> None:
    arguments: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(("choice", "choices", "shuffle"), ([1, 2],)),
        **dict.fromkeys(("expovariate", "paretovariate"), (1,)),
        **dict.fromkeys(("getrandbits", "randbytes", "randrange"), (9,)),
        **dict.fromkeys(("gauss", "random", "normalvariate", "triangular"), ()),
        "sample": ([1, 2], 1),
        "binomialvariate": (3, 0.5),
    }
    function = getattr(random, name)
    if isinstance(function, type):
        return
    with watch() as seen:
        getattr(random, name)(*arguments.get(name, (1, 2)))
    assert tell(seen) == [("draw", "python", f"random.{name}")]


def test_what_moves_nothing_is_no_draw() -> None:
    with watch(draws=True) as seen:
        np.random.rand(0)
        random.choices([1], k=0)
    assert seen.events == ()


@pytest.mark.parametrize(
    "draw", [np.random.permutation, np.random.normal, np.random.randint, np.random.ranf]
)
def test_aliases_made_before_the_watch_are_seen(draw: Any) -> None:
    # The module of the test holds the aliases; parameters and closures cannot be looked into.
    globals()["alias"] = draw
    try:
        with watch() as seen:
            globals()["alias"](3)
        assert globals()["alias"] is draw
    finally:
        del globals()["alias"]
    assert [event.generator for event in seen.early_draws] == ["numpy"]


def test_aliases_made_within_the_watch_are_put_back() -> None:
    module = sys.modules["alias_of_the_test"] = ModuleType("alias_of_the_test")
    try:
        original = random.seed
        with watch() as seen:
            exec("from random import seed", vars(module))
            assert module.seed is not original
            module.seed(3)
        assert module.seed is original
        assert len(seen.seeds) == 1
    finally:
        del sys.modules["alias_of_the_test"]


def test_early_draws_are_told_up_to_a_limit_and_the_wrapper_goes() -> None:
    original = random.random
    with watch() as seen:
        assert random.random is not original
        for _ in range(2 * EARLY):
            random.random()
        assert random.random is original
        assert np.random.rand is not np.random.mtrand._rand.rand
    assert [event.count for event in seen.early_draws] == [EARLY]


def test_wrappers_of_draws_go_with_the_seed() -> None:
    original = random.random
    with watch():
        random.seed(1)
        assert random.random is original


def test_every_draw_in_order_with_its_state() -> None:
    def run(extra: bool) -> Watch:
        with watch(draws=True) as seen:
            random.seed(1)
            np.random.seed(1)
            for _ in range(2):
                random.random()
                np.random.rand()
            if extra:
                random.random()
            random.random()
        return seen

    first, second, third = run(False), run(False), run(True)
    assert [draw.generator for draw in first.trace] == ["python", "numpy"] * 2 + ["python"]
    assert len({draw.state for draw in first.trace}) == 5
    assert first.trace == second.trace
    assert third.trace[:4] == first.trace[:4]
    assert third.trace[4].state == first.trace[4].state
    assert third.trace[5].state not in {draw.state for draw in first.trace}
    assert first.early_draws == ()
    counted = {event.what: event.count for event in first.events if event.kind == "draw"}
    assert counted == {"random.random": 1, "numpy.random.rand": 2}


def test_a_watch_draws_and_changes_nothing() -> None:
    def run() -> list[float]:
        return [random.random(), random.gauss(0, 1), *np.random.randn(3), np.random.rand()]

    set_seeds(1)
    expected = run()
    set_seeds(1)
    with watch(draws=True):
        inside = run()
    assert inside == expected


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: np.random.default_rng(), "numpy.random.default_rng()"),
        (lambda: np.random.default_rng(None), "numpy.random.default_rng()"),
        (lambda: np.random.RandomState(), "numpy.random.RandomState()"),
        (lambda seed=None: np.random.RandomState(seed), "numpy.random.RandomState()"),
        (lambda: np.random.SeedSequence(), "numpy.random.SeedSequence()"),
        (lambda: np.random.Generator(np.random.PCG64()), "numpy.random.PCG64()"),
        (lambda: random.Random(), "random.Random()"),
        (lambda: random.Random(x=None), "random.Random()"),
    ],
)
def test_generators_without_a_seed(make: Callable[[], object], what: str) -> None:
    with watch() as seen:
        made = make()
    (event,) = seen.unseeded
    assert seen.events == (event,)
    assert event.what == what
    assert event.file == __file__
    assert event.seed is None
    assert type(make()) is type(made)


def test_generators_with_a_seed_are_no_event() -> None:
    with watch() as seen:
        np.random.default_rng(3)
        np.random.RandomState(3)
        np.random.Generator(np.random.PCG64(3))
        np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0])
        random.Random(3)
        random.SystemRandom()
        seed = 3
        np.random.RandomState(seed)
        with tempfile.NamedTemporaryFile():
            pass
    assert seen.events == ()


def test_classes_of_generators_stay_classes() -> None:
    with watch() as seen:

        class Mine(random.Random):
            pass

        assert isinstance(np.random.RandomState(3), np.random.RandomState)
        Mine()
        sent = pickle.dumps(random.Random(3))
    (event,) = seen.unseeded
    assert event.what.endswith("Mine()")
    assert pickle.loads(sent).random() == random.Random(3).random()


@pytest.mark.parametrize(
    "change",
    [
        lambda: os.environ.__setitem__(CUBLAS, ":16:8"),
        lambda: os.environ.update({CUBLAS: ":16:8"}),
        lambda: os.environ.setdefault(CUBLAS, ":16:8"),
    ],
)
def test_the_environment_is_watched(change: Callable[[], object]) -> None:
    with watch() as seen:
        os.environ["DETAUDIT_TEST"] = "1"
        change()
        os.environ[CUBLAS] = ":16:8"
        os.environ.pop(CUBLAS)
        del os.environ["DETAUDIT_TEST"]
    assert tell(seen) == [
        ("flag", CUBLAS, f"{CUBLAS}: None -> :16:8"),
        ("flag", CUBLAS, f"{CUBLAS}: :16:8 -> None"),
    ]
    assert {event.file for event in seen.flags} == {__file__}


def test_flags_of_set_seeds_are_its_own() -> None:
    with watch() as seen:
        set_seeds(1, deterministic=True, torch=False)
        set_seeds(1, torch=False)
    assert [event.kind for event in seen.events] == ["seed", "reseed"]


def test_what_was_not_seen_is_said_to_be_so() -> None:
    """Methods of the generator itself cannot be wrapped; its state still tells."""
    with watch() as seen:
        np.random.seed(1)
        np.random.rand(3)
        random.seed(1)
        line = here() - 1
        np.random.mtrand._rand.seed(1)
        np.random.rand(1)
    unseen = seen.events[-1]
    assert (unseen.kind, unseen.generator, unseen.file, unseen.line) == ("reseed", "numpy", "", 0)
    assert unseen.what == (
        f"state went back, by something that was not seen, after {__file__}:{line}"
    )


def test_a_generator_that_cannot_be_followed_is_a_note() -> None:
    with watch() as seen:
        random.seed(1)
        random._inst.seed(2)  # type: ignore[attr-defined]
    assert [event.what for event in seen.events] == ["random.seed(1)"]
    (note,) = seen.notes
    assert note.startswith("python drew more than 1277952 numbers, or was reseeded by something")
    assert f"note: {note}" in seen.report()


@pytest.mark.parametrize("count", [0, 1, 623, 624, 625, 100_000])
def test_draws_that_were_not_seen_are_no_reseed(count: int) -> None:
    with watch() as seen:
        np.random.seed(1)
        np.random.mtrand._rand.bytes(4 * count)
    assert len(seen.events) == 1
    assert seen.notes == ()


def test_everything_is_put_back() -> None:
    before = snapshot()
    with pytest.raises(ZeroDivisionError), watch(draws=True) as seen:
        assert random.seed != random._inst.seed  # type: ignore[attr-defined]
        random.seed(1)
        _ = 1 / 0
    assert_restored(before)
    assert len(seen.events) == 1


@pytest.mark.parametrize("last", ["inner", "outer"])
def test_watches_nest_and_end_in_any_order(last: str) -> None:
    before = snapshot()
    contexts = {"outer": watch(), "inner": watch()}
    outer = contexts["outer"].__enter__()
    random.seed(1)
    inner = contexts["inner"].__enter__()
    random.seed(2)
    contexts.pop("inner" if last == "outer" else "outer").__exit__(None, None, None)
    random.seed(3)
    contexts.pop(last).__exit__(None, None, None)
    random.seed(4)
    assert_restored(before)
    seeds = {"outer": [1, 2], "inner": [2]}
    seeds[last].append(3)
    assert [event.seed for event in outer.events] == seeds["outer"]
    assert [event.seed for event in inner.events] == seeds["inner"]
    assert {event.kind for event in inner.events} == {"reseed"}


def test_a_wrapper_of_somebody_else_stays() -> None:
    original = random.seed
    calls = []

    def put_over(below: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(below)
        def over(*arguments: Any) -> None:
            calls.append(arguments)
            below(*arguments)

        return over

    try:
        with watch() as seen:
            random.seed = over = put_over(random.seed)  # type: ignore[assignment]
            random.seed(1)
        assert random.seed is over
        random.seed(2)
        with watch() as again:
            random.seed(3)
        random.seed(4)
    finally:
        random.seed = original  # type: ignore[assignment]
    assert calls == [(1,), (2,), (3,), (4,)]
    assert over.__closure__ is not None
    assert original in [cell.cell_contents for cell in over.__closure__]
    assert [event.what for event in seen.events] == ["random.seed(1)"]
    assert [event.what for event in again.events] == ["random.seed(3)"]
    assert seen.notes == (
        "random.seed was replaced by something else in the meantime and stays so",
    )


def test_a_patch_that_ends_later_brings_back_a_wrapper_that_only_passes_on() -> None:
    original = random.seed
    try:
        with watch():
            kept = random.seed
            random.seed = lambda *_: None  # type: ignore[assignment]
        random.seed = kept  # type: ignore[assignment]
        random.seed(3)
        first = random.random()
        with watch() as seen:
            random.seed(3)
        assert random.random() == first
        assert len(seen.events) == 1
    finally:
        random.seed = original  # type: ignore[assignment]


def test_metadata_and_pickles_of_wrapped_functions() -> None:
    functions = [(random, "shuffle"), (random, "seed"), (np.random, "rand"), (np.random, "seed")]
    with watch(draws=True):
        for module, name in functions:
            wrapped = getattr(module, name)
            assert wrapped.__name__ == name
            assert pickle.loads(pickle.dumps(wrapped)) is wrapped
        assert random.shuffle.__doc__ == random.Random.shuffle.__doc__
        sent = pickle.dumps(random.shuffle)
    assert pickle.loads(sent) == random.shuffle


def test_threads_are_named_and_none_is_lost() -> None:
    def work(number: int) -> None:
        for _ in range(50):
            random.seed(number)

    with watch() as seen:
        threads = [threading.Thread(target=work, args=(n,), name=f"t{n}") for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    counts = dict.fromkeys((f"t{n}" for n in range(8)), 0)
    for event in seen.events:
        assert event.file == __file__
        counts[event.thread] += event.count
    assert set(counts.values()) == {50}
    assert "thread t3" in seen.report()


def test_watches_of_many_threads_restore_all() -> None:
    before = snapshot()

    def work() -> None:
        for _ in range(5):
            with watch(draws=True):
                random.random()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_restored(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_left_alone(run_python: Callable[..., Any]) -> None:
    code = """
import os, random
from detaudit.seeding import watch
with watch() as seen:
    child = os.fork()
    random.seed(1)
    if not child:
        os._exit(len(seen.events))
    _, status = os.waitpid(child, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), len(seen.events)]))
"""
    assert run_python(code) == [0, 1]


def test_events_can_be_read_while_the_watch_goes_on() -> None:
    with watch() as seen:
        assert seen.events == ()
        random.seed(1)
        assert len(seen.events) == 1
        assert str(seen) == seen.report() == str(seen.events[0])
    assert len(seen.events) == 1


def test_many_watches_at_once() -> None:
    with ExitStack() as stack:
        watches = [stack.enter_context(watch()) for _ in range(20)]
        random.seed(1)
    assert [len(seen.events) for seen in watches] == [1] * 20


def test_events_are_equal_by_value_and_hashable() -> None:
    event = Event("seed", "numpy", "numpy.random.seed(1)", 1, "a.py", 3, "main", (), "MainThread")
    assert event.count == 1
    assert {event: 1}[dataclasses.replace(event)] == 1
    assert str(event) == "numpy seeded: numpy.random.seed(1) at a.py:3 in main"


def test_watching_does_not_import_torch() -> None:
    code = "import sys; from detaudit.seeding import watch\nwith watch(draws=True): pass\n"
    code += "print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("draws", [False, True])
def test_what_goes_wrong_in_the_watch_is_noted_and_harms_nobody(
    draws: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no more room")

    random.seed(3)
    expected = random.random()
    return_to_known(frozenset())
    with watch(draws=draws) as seen:
        with monkeypatch.context() as broken:
            broken.setattr(desk, "report", fail)
            broken.setattr(desk, "report_draw", fail)
            random.seed(3)
            assert random.random() == expected
        random.seed(4)
    assert "random.seed was not seen: OSError: no more room" in seen.notes
    assert [event.what for event in seen.events] == ["random.seed(4)"]


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize(
    ("module", "get", "put", "draw"),
    [
        (random, "getstate", "setstate", "random"),
        (np.random, "get_state", "set_state", "rand"),
    ],
)
def test_a_state_from_before_the_first_seed_is_none_when_it_is_put_back(
    module: ModuleType, get: str, put: str, draw: str, drawn: bool, draws: bool
) -> None:
    with watch(draws=draws) as seen:
        state = getattr(module, get)()
        if drawn:
            getattr(module, draw)()
        module.seed(3)
        getattr(module, draw)()
        assert len(seen.early_draws) == drawn
        getattr(module, put)(state)
        getattr(module, draw)()
        assert len(seen.early_draws) == drawn + 1
        module.seed(3)
        getattr(module, draw)()
    assert len(seen.early_draws) == drawn + 1


def test_a_state_that_a_seed_had_set_stays_one_when_it_is_put_back() -> None:
    with watch() as seen:
        random.seed(3)
        state = random.getstate()
        random.seed(4)
        random.setstate(state)
        random.random()
    assert seen.early_draws == ()


def test_numpy_that_was_seeded_unseen_is_seeded() -> None:
    with watch() as seen:
        np.random.mtrand._rand.seed(3)
        np.random.rand()
        np.random.rand()
    assert tell(seen) == [
        (
            "seed",
            "numpy",
            "state was set, by something that was not seen, after the watch began",
        )
    ]
    assert seen.notes == ()


def test_wrapped_functions_know_the_generator_that_they_belong_to() -> None:
    with watch(draws=True):
        assert random.random.__self__ is random._inst  # type: ignore[attr-defined]
        assert np.random.rand.__self__ is np.random.mtrand._rand  # type: ignore[attr-defined]
        assert random.seed.__self__.random.__self__ is random._inst  # type: ignore[attr-defined]
