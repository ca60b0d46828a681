from __future__ import annotations

import io
import json
import re

import pytest

from detaudit.story.json_story import render_json, to_json
from detaudit.story.terminal import print_story, render_story
from detaudit.version import __version__
from tests.story.runs import FOLDER, draw, early, make_event, make_run, make_story, seed, unseeded

FLAG = make_event("flag", "cudnn_benchmark", "cudnn_benchmark: False -> True", 5)
ONE = make_run(
    early("torch", 1, "a"), seed("torch", 3, 2), unseeded(4), FLAG, *[draw("torch", 7, "b")] * 1200
)
TWO = make_run(
    early("torch", 1, "x"), seed("torch", 3, 2), unseeded(4), FLAG, *[draw("torch", 7, "b")] * 1200
)
STORY = make_story(ONE, TWO)

EXPECTED = f"""\
detaudit {__version__} · seeds
script    train.py --epochs 3
software  python 3.12.1, numpy 2.4.6
runs      2, each ended with exit code 0

Seeds and flags, in order (run 1) ──────────────────────────────────────────────
           generator  call                            place
  drawn    torch      torch.rand                      train.py:1
    before torch was seeded
  seeded   torch      torch.seed(3)                   train.py:2
  no seed  numpy      numpy.random.default_rng()      train.py:4
  flag                cudnn_benchmark: False -> True  train.py:5

Draws (run 1) ──────────────────────────────────────────────────────────────────
    call        place       draws
  torch: 1,201 draws at 2 places
    torch.rand  train.py:7  1,200
    torch.rand  train.py:1      1

Run against run ────────────────────────────────────────────────────────────────
  Runs 1 and 2 part at draw 1 of torch: the same call at train.py:1
  (torch.rand), but the generator is in another state
    torch was not seeded by then
    the last 1,200 draws are the same again

Not watched ────────────────────────────────────────────────────────────────────
  generators that are not global: it is seen how they are made, not their draws

┏━ Verdict ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┓
┃ 1 draw from torch came before its first seed, the first at train.py:1        ┃
┃ (torch.rand).                                                                ┃
┃ numpy.random.default_rng() at train.py:4 has no seed: what follows differs   ┃
┃ from run to run.                                                             ┃
┃ Runs 1 and 2 part at draw 1 of torch: the same call at train.py:1            ┃
┃ (torch.rand), but the generator is in another state (torch was not seeded by ┃
┃ then).                                                                       ┃
┗━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┛
"""


def test_the_whole_story() -> None:
    assert render_story(STORY) == EXPECTED


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("ascii", [False, True])
def test_no_line_is_too_long_and_nothing_is_lost(width: int, ascii: bool) -> None:
    long = make_event(
        "reseed", "torch", "torch.manual_seed(3)", 12, seed=3, file=f"/{'x' * 150}.py"
    )
    text = render_story(make_story(make_run(long, draw("torch", 7))), width, ascii=ascii)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("x") >= 150
    assert text.isascii() is ascii


def test_colour_is_nothing_but_colour() -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", render_story(STORY, color=True))
    assert "\n".join(line.rstrip() for line in text.split("\n")) == EXPECTED


def test_a_stream_gets_what_it_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    print_story(STORY, stream)
    stream.flush()
    assert raw.getvalue().decode("ascii") == render_story(STORY, ascii=True)


def test_names_cannot_rewrite_the_story() -> None:
    evil = early("torch", 1)[0], "a", True
    run = make_run((make_event("draw", "torch", "x", 1, file="/a\x1b[2J.py"), "a", True), evil)
    assert "\x1b" not in render_story(make_story(run))


def test_many_events_and_places_are_counted() -> None:
    seeds = [seed("numpy", 1, line, "reseed") for line in range(50)]
    text = render_story(make_story(make_run(*seeds, *[draw("numpy", n) for n in range(60, 70)])))
    assert "… 10 more, all of them in --json" in text
    assert "… 5 more places" in text
    assert "numpy: 10 draws at 10 places" in text


def test_the_json_is_strict_and_holds_all_but_the_trace() -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    text = render_json(STORY)
    assert text.isascii()
    story = json.loads(text, parse_constant=refuse)
    assert story == to_json(STORY)
    assert (story["format"], story["version"]) == ("detaudit-story", 1)
    assert story["command"] == ["train.py", "--epochs", "3"]
    assert story["folder"] == FOLDER
    assert [set(run) for run in story["runs"]] == [
        {"end", "versions", "hash_fixed", "told", "processes", "notes"}
    ] * 2
    assert story["runs"][0]["versions"] == {"python": "3.12.1", "numpy": "2.4.6"}
    (comparison,) = story["comparisons"]
    assert comparison["kind"] == "state"
    assert comparison["first"]["line"] == 1
    assert story["verdict"]["unseeded"] is True
    assert story["verdict"]["parted"] is True
    assert to_json(make_story(ONE))["verdict"]["parted"] is None
