from __future__ import annotations

import pytest

from detaudit.story.seeds import is_unseeded
from detaudit.story.told import End, Run
from detaudit.story.wording import explain, list_blind, say_comparison, say_end, say_verdict
from tests.story.runs import FOLDER, draw, early, make_event, make_run, make_story, seed, unseeded

LIBRARY = "/env/lib/python3.12/site-packages/tgmm/gmm.py"
GENERATOR = make_event(
    "unseeded-generator", "torch", "torch.rand(generator=...) with a torch.Generator()", 8
)


def verdict(*runs: Run) -> list[str]:
    return list(say_verdict(make_story(*runs)))


def test_everything_came_after_a_seed() -> None:
    assert verdict(make_run(seed("numpy", 1, 2), draw("numpy", 3))) == [
        "Everything that was drawn came after a seed."
    ]
    assert verdict(make_run(seed("numpy", 1, 2))) == ["Nothing was drawn from a global generator."]


def test_other_processes_limit_what_is_said() -> None:
    run = make_run(seed("numpy", 1, 2), draw("numpy", 3), processes=("fork", "spawn"))
    assert verdict(run) == ["Everything that was drawn in this process came after a seed."]
    assert list_blind(run) == (
        "the script started other processes (fork, spawn); what they draw is out of reach here",
    )
    assert verdict(make_run(processes=("fork",))) == [
        "Nothing was drawn from a global generator in this process."
    ]


def test_draws_before_a_seed_and_without_any() -> None:
    run = make_run(early("numpy", 1), early("numpy", 1), early("torch", 3), seed("torch", 1, 4))
    assert verdict(run) == [
        "numpy was never seeded: 2 draws, the first at train.py:1 (numpy.rand).",
        "1 draw from torch came before its first seed, the first at train.py:3 (torch.rand).",
    ]
    assert is_unseeded(run)


def test_draws_after_a_seed_from_a_state_of_before_it() -> None:
    run = make_run(seed("numpy", 1, 2), draw("numpy", 3), early("numpy", 4))
    assert verdict(run) == [
        (
            "1 draw from numpy came from a state that no seed had set, "
            "the first at train.py:4 (numpy.rand)."
        )
    ]
    back = "numpy was put back to a state that no seed had set"
    assert explain(run, run.told[2], FOLDER) == (back,)


def test_a_seed_that_was_not_seen_is_in_no_function() -> None:
    run = make_run(make_event("seed", "torch", "seed became 4", 0, file="", function="", seed=4))
    assert explain(run, run.told[0], FOLDER) == ()


def test_a_seed_of_all_generators_is_a_seed_of_each() -> None:
    run = make_run(early("cuda", 3), seed("all", 1, 4))
    assert verdict(run) == [
        "1 draw from cuda came before its first seed, the first at train.py:3 (cuda.rand)."
    ]


def test_generators_without_a_seed() -> None:
    made = [unseeded(line) for line in (3, 4, 5)]
    assert verdict(make_run(made[0])) == [
        (
            "numpy.random.default_rng() at train.py:3 has no seed: "
            "what follows differs from run to run."
        )
    ]
    assert verdict(make_run(*made))[0].startswith(
        "numpy.random.default_rng() at train.py:3 and 2 more places have no seed:"
    )
    assert is_unseeded(make_run(made[0]))


def test_a_seed_from_the_system_is_none() -> None:
    run = make_run(seed("numpy", None, 2), draw("numpy", 3))
    assert verdict(run)[0].startswith("numpy.seed() at train.py:2 has no seed")
    assert explain(run, run.told[0], FOLDER) == ("from the system's entropy: never the same again",)
    assert is_unseeded(run)


def test_a_torch_generator_without_a_seed_draws_the_same_everywhere() -> None:
    run = make_run(GENERATOR)
    assert verdict(run) == [
        (
            f"{GENERATOR.what} at train.py:8 has torch's default seed: "
            "every such generator draws the same numbers."
        )
    ]


def test_what_a_library_makes_for_itself_is_told_and_not_held_against_the_script() -> None:
    stack = ((LIBRARY, 1, "<module>"), (f"{FOLDER}/train.py", 1, "<module>"))
    run = make_run(unseeded(9, file=LIBRARY, function="Dummy", stack=stack))
    assert verdict(run) == ["Nothing was drawn from a global generator."]
    assert explain(run, run.told[0], FOLDER) == (
        "by a library for itself, while it is imported",
        "in Dummy",
        "led to by train.py:1",
    )
    assert not is_unseeded(run)
    stack = ((f"{FOLDER}/train.py", 1, "<module>"),)
    assert is_unseeded(make_run(unseeded(9, file=LIBRARY, function="fit", stack=stack)))


def test_reseeding_names_both_lines_and_says_whether_the_seed_is_the_same() -> None:
    stack = ((LIBRARY, 90, "fit"), (f"{FOLDER}/train.py", 30, "main"))
    again = seed("torch", 3, 120, "reseed", file=LIBRARY, function="seed_all", stack=stack)
    other = seed("torch", 4, 7, "reseed")
    run = make_run(seed("all", 3, 2), again, again, other)
    assert verdict(run) == [
        "Nothing was drawn from a global generator.",
        "torch was seeded again 3 times, first at tgmm/gmm.py:120 in seed_all (torch.seed(3)).",
    ]
    assert explain(run, run.told[1], FOLDER) == (
        "2 times",
        "the seed of before: the numbers that followed it follow again",
        "in seed_all",
        "led to by train.py:30 in main",
    )
    assert explain(run, run.told[2], FOLDER) == ("the seed was 3 before",)


@pytest.mark.parametrize("first", ["all", "torch"])
def test_a_seed_that_is_set_twice_in_a_row_is_no_second_one(first: str) -> None:
    again = seed("cuda", 3, 3, "reseed")
    run = make_run(seed(first, 3, 2), again, draw("cuda", 4))
    assert verdict(run) == ["Everything that was drawn came after a seed."]
    assert explain(run, run.told[1], FOLDER) == (
        "the seed of before, with nothing drawn in between",
    )
    for one in (
        make_run(seed(first, 3, 2), draw("cuda", 4), again),
        make_run(seed(first, 4, 2), again),
        make_run(seed(first, None, 2), seed("cuda", None, 3, "reseed")),
        make_run(seed(first, 3, 2), again, draw("cuda", 4), seed(first, 3, 2), again),
    ):
        assert any(text.startswith("cuda was seeded again") for text in verdict(one))


def test_a_single_draw_is_one() -> None:
    one, other = (make_run(seed("numpy", 1, 2), draw("numpy", 3)) for _ in range(2))
    assert verdict(one, other)[-1] == "In 2 runs, 1 draw from numpy was the same."
    parted = [
        make_run(seed("numpy", 1, 2), draw("numpy", 3, state), draw("numpy", 4)) for state in "ab"
    ]
    (comparison,) = make_story(*parted).comparisons
    assert say_comparison(comparison, FOLDER)[-1] == "the last 1 draw is the same again"


def test_draws_in_threads_name_them() -> None:
    run = make_run(early("numpy", 1), (draw("numpy", 2, thread="w")[0], "b", True))
    assert explain(run, run.told[0], FOLDER) == ("numpy is never seeded",)
    assert explain(run, run.told[1], FOLDER) == ("numpy is never seeded", "in thread w")


def test_runs_that_are_the_same() -> None:
    run = make_run(seed("numpy", 1, 2), draw("numpy", 3), draw("torch", 4))
    assert verdict(run, run, run)[1:] == ["In 3 runs, 2 draws from numpy, torch were the same."]
    empty = make_run()
    assert verdict(empty, empty)[1:] == ["None of 2 runs drew from a global generator."]


def test_runs_that_part() -> None:
    seeded = seed("numpy", 1, 2)
    one = make_run(seeded, draw("numpy", 3, "a"), draw("numpy", 3, "b"))
    for other, told in (
        (
            make_run(seeded, draw("numpy", 3, "a"), draw("numpy", 3, "c")),
            (
                "the same call at train.py:3 (numpy.rand), but the generator is in another state "
                "(the draw before took more numbers in one of the runs, or some were drawn unseen)."
            ),
        ),
        (
            make_run(seeded, draw("numpy", 3, "a"), draw("numpy", 5, "b")),
            (
                "run 1 draws at train.py:3 (numpy.rand), run 2 at train.py:5 (numpy.rand), "
                "from the same state (the code took another way, which no seed decides: "
                "it may ask the time or a file)."
            ),
        ),
        (
            make_run(seeded, draw("numpy", 3, "a")),
            (
                "run 1 goes on at train.py:3 (numpy.rand), run 2 draws no more "
                "(the code took another way, which no seed decides: it may ask the time or a file)."
            ),
        ),
    ):
        assert verdict(one, other)[-1] == f"Runs 1 and 2 part at draw 2 of numpy: {told}"


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (End(0), ""),
        (End(-11), "was killed by SIGSEGV"),
        (End(-99), "was killed by signal 99"),
        (End(1, raised="ValueError: bad"), "failed with ValueError: bad"),
        (End(7), "ended with exit code 7"),
        (End(0, complete=False), "ended without shutting down, as os._exit and os.execv do"),
        (
            End(0, complete=False, cut="full"),
            "ended with exit code 0, but could not be followed until then (full)",
        ),
        (End(7, cut="full"), "ended with exit code 7, but could not be followed until then (full)"),
    ],
)
def test_ends(end: End, words: str) -> None:
    assert say_end(end) == words
    until = f"{words}: this is what was seen{'' if end.cut else ' until then'}."
    story = verdict(make_run(end=end))
    assert story[1:] == ([f"The script {until}"] if words else [])
    both = verdict(make_run(end=end), make_run(end=end))
    assert both[2:] == ([f"Each run {until}"] if words else [])
    if words:
        assert verdict(make_run(), make_run(end=end))[2:] == [f"Run 2 {until}"]
