from __future__ import annotations

import pytest

from detaudit.story.parting import compare_runs
from detaudit.story.told import Comparison, Moment, Run
from tests.story.runs import FOLDER, draw, make_run, make_story, seed, unseeded

TRAIN = f"{FOLDER}/train.py"


def compare(*runs: Run) -> tuple[Comparison, ...]:
    return compare_runs(runs, FOLDER)


def test_one_run_is_compared_with_nothing() -> None:
    assert compare(make_run(draw("numpy", 3))) == ()


def test_equal_draws_are_counted_generator_by_generator() -> None:
    run = make_run(draw("numpy", 3, "a"), draw("torch", 4, "x"), draw("numpy", 3, "b"))
    assert compare(run, run, run) == (
        Comparison("numpy", 2, 2),
        Comparison("torch", 2, 1),
        Comparison("numpy", 3, 2),
        Comparison("torch", 3, 1),
    )
    assert make_story(run, run).parted is None


def test_the_order_between_generators_says_nothing() -> None:
    one = make_run(draw("numpy", 3, "a"), draw("torch", 4, "x"))
    two = make_run(draw("torch", 4, "x"), draw("numpy", 3, "a"))
    assert [found.kind for found in compare(one, two)] == ["", ""]


def test_runs_part_in_state() -> None:
    one = make_run(draw("numpy", 3, "a"), draw("numpy", 3, "b"), draw("numpy", 4, "c"))
    two = make_run(draw("numpy", 3, "a"), draw("numpy", 3, "B"), draw("numpy", 4, "c"))
    (found,) = compare(one, two)
    assert (found.kind, found.same, found.again, found.before) == ("state", 1, 1, 1)
    assert found.first == Moment("numpy.rand", TRAIN, 3, "<module>", "b")
    assert found.other == Moment("numpy.rand", TRAIN, 3, "<module>", "B")


def test_a_draw_more_in_one_run_leaves_the_rest_the_same() -> None:
    rest = [draw("numpy", 4, "b"), draw("numpy", 5, "c")]
    one = make_run(draw("numpy", 2, "a"), draw("numpy", 3, "b"), *rest)
    two = make_run(draw("numpy", 2, "a"), *rest)
    for runs in ((one, two), (two, one)):
        (found,) = compare(*runs)
        assert (found.kind, found.same, found.again) == ("place", 1, 2)


def test_runs_part_in_place() -> None:
    one = make_run(draw("numpy", 3, "a"), draw("numpy", 4, "b"))
    two = make_run(draw("numpy", 3, "a"), draw("numpy", 5, "b"))
    (found,) = compare(one, two)
    assert (found.kind, found.same, found.again) == ("place", 1, 0)
    assert (found.first and found.first.line, found.other and found.other.line) == (4, 5)


@pytest.mark.parametrize("swap", [False, True])
def test_one_run_goes_on(swap: bool) -> None:
    runs = [make_run(draw("numpy", 3, "a"), draw("numpy", 4, "b")), make_run(draw("numpy", 3, "a"))]
    (found,) = compare(*reversed(runs) if swap else runs)
    assert (found.kind, found.same) == ("length", 1)
    assert (found.first is None) is swap
    assert (found.other is None) is not swap


def test_a_generator_that_only_one_run_draws_from_is_compared() -> None:
    found = compare(make_run(), make_run(draw("numpy", 3, "a")))
    assert [(one.generator, one.kind, one.same) for one in found] == [("numpy", "length", 0)]


def test_states_that_cannot_be_read_leave_the_place_to_compare() -> None:
    one, two = (make_run(draw("mps", 3, "")) for _ in range(2))
    assert [found.kind for found in compare(one, two)] == [""]


def test_threads_and_callers_make_no_other_draw() -> None:
    one = make_run(draw("numpy", 3, "a"))
    two = make_run(draw("numpy", 3, "a", thread="w", stack=((TRAIN, 9, "main"),)))
    assert [found.kind for found in compare(one, two)] == [""]


def test_the_first_parting_of_a_story_is_the_earliest_one() -> None:
    one = make_run(draw("torch", 3, "x"), draw("numpy", 4, "a"), draw("torch", 5, "y"))
    two = make_run(draw("torch", 3, "x"), draw("numpy", 4, "A"), draw("torch", 5, "Y"))
    parted = make_story(one, two).parted
    assert parted is not None
    assert (parted.generator, parted.before) == ("numpy", 1)


def reasons(one: Run, two: Run) -> tuple[str, ...]:
    (found,) = compare(one, two)
    return found.because


def test_the_reason_is_a_generator_that_was_not_seeded() -> None:
    one, two = (make_run(draw("numpy", 3, state), seed("numpy", 1, 4)) for state in "ab")
    assert reasons(one, two) == ("numpy was not seeded by then",)


def test_the_reason_is_another_seed() -> None:
    one, two = (make_run(seed("numpy", n, 2), draw("numpy", 3, str(n))) for n in (7, 8))
    (reason,) = reasons(one, two)
    assert reason == (
        "numpy was seeded by numpy.seed(7) at train.py:2 in run 1, by numpy.seed(8) at "
        "train.py:2 in the other"
    )


def test_the_reason_is_a_seed_from_the_system() -> None:
    one, two = (make_run(seed("numpy", None, 2), draw("numpy", 3, state)) for state in "ab")
    assert reasons(one, two)[0] == (
        "numpy was seeded by numpy.seed() at train.py:2, which may differ in each run"
    )


def test_the_reason_is_a_seeding_that_one_run_has_more() -> None:
    one = make_run(seed("numpy", 1, 2), draw("numpy", 3, "a"), draw("numpy", 5, "b"))
    two = make_run(
        seed("numpy", 1, 2), draw("numpy", 3, "a"), seed("numpy", 1, 4), draw("numpy", 5, "a")
    )
    assert reasons(one, two) == ("numpy was seeded at 1 place by then in run 1, at 2 in the other",)


def test_the_reason_is_an_unseeded_generator_that_decides_on_sizes() -> None:
    one, two = (
        make_run(seed("numpy", 1, 2), unseeded(9), draw("numpy", 3, "a"), draw("numpy", 3, state))
        for state in "bc"
    )
    assert reasons(one, two) == (
        "the draw before took more numbers in one of the runs, or some were drawn unseen",
        "numpy.random.default_rng() at train.py:9 has no seed",
    )


def test_what_happened_later_is_no_reason() -> None:
    one, two = (
        make_run(draw("numpy", 3, state), draw("numpy", 4), seed("numpy", n, 5), unseeded(9))
        for n, state in enumerate("ab")
    )
    assert reasons(one, two) == ("numpy was not seeded by then",)


def test_seeds_of_torch_and_of_all_reach_the_devices() -> None:
    for generator in ("torch", "all", "cuda"):
        one, two = (make_run(seed(generator, n, 2), draw("cuda", 3, str(n))) for n in (1, 2))
        assert f"{generator}.seed(1)" in reasons(one, two)[0]
    one, two = (make_run(seed("cuda", n, 2), draw("torch", 3, str(n))) for n in (1, 2))
    assert reasons(one, two) == ("torch was not seeded by then",)


@pytest.mark.parametrize("fixed", [False, True])
def test_the_reason_is_the_way_that_the_code_took(fixed: bool) -> None:
    one, two = (
        make_run(seed("numpy", 1, 2), draw("numpy", line, "a"), hash_fixed=fixed) for line in (3, 4)
    )
    sets = "" if fixed else ", or a set, as PYTHONHASHSEED is not set to a number"
    assert reasons(one, two) == (
        f"the code took another way, which no seed decides: it may ask the time or a file{sets}",
    )


def test_threads_may_change_the_order_though_all_is_seeded() -> None:
    draws = [draw("numpy", 3, "a", thread="w1"), draw("numpy", 4, "a", thread="w2")]
    one = make_run(seed("numpy", 1, 2), *draws)
    two = make_run(seed("numpy", 1, 2), *reversed(draws))
    (reason,) = reasons(one, two)
    assert reason == (
        "2 threads draw from numpy, in an order that the system chooses: it can change from run "
        "to run though everything is seeded"
    )


def test_generators_of_libraries_and_with_a_default_seed_are_no_reason() -> None:
    library = "/env/lib/python3.12/site-packages/sympy/random.py"
    imported = unseeded(4, file=library)
    one, two = (make_run(imported, seed("numpy", n, 2), draw("numpy", 3, str(n))) for n in (1, 2))
    assert len(reasons(one, two)) == 1


def test_many_reasons_are_counted() -> None:
    made = [unseeded(line) for line in range(20, 26)]
    one, two = (make_run(*made, draw("numpy", 3, state)) for state in "ab")
    assert reasons(one, two)[1:] == (
        *(f"numpy.random.default_rng() at train.py:{line} has no seed" for line in (20, 21, 22)),
        "nor is there one at 3 more places",
    )
