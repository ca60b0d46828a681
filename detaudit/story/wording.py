"""The story in sentences."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence

from detaudit.render.words import count, plural
from detaudit.seeding.events import Event

from .places import (
    UNSEEN,
    find_caller,
    is_import,
    is_library,
    name_function,
    name_line,
    name_place,
)
from .seeds import (
    find_seed_before,
    has_default_seed,
    has_no_seed,
    is_entropy,
    is_ever_seeded,
    is_seeded_before,
    is_without_effect,
    list_early,
    list_unseeded,
)
from .told import Comparison, End, Moment, Run, Story, Told


def say_verdict(story: Story) -> tuple[str, ...]:
    """The answer: was everything seeded, and do the runs part."""
    run = story.runs[0]
    sentences = [*_say_seeded(run, story.folder), *_say_reseeded(run, story.folder)]
    sentences += _say_repeated(story)
    return (*sentences, *_say_ends(story))


def say_end(end: End) -> str:
    """How a script ended that did not end as it should; empty if it did."""
    ended = _say_end(end)
    if not end.cut:
        return ended
    return f"{ended or 'ended with exit code 0'}, but could not be followed until then ({end.cut})"


def _say_end(end: End) -> str:
    if end.code < 0:
        try:
            name = signal.Signals(-end.code).name
        except ValueError:
            name = f"signal {-end.code}"
        return f"was killed by {name}"
    if end.raised:
        return f"failed with {end.raised}"
    if end.code:
        return f"ended with exit code {end.code}"
    if end.complete or end.cut:
        return ""
    return "ended without shutting down, as os._exit and os.execv do"


def explain(run: Run, told: Told, folder: str) -> tuple[str, ...]:
    """What is to be known of an event beside its line.

    Args:
        run: the run
        told: an event of it
        folder: files are named from there

    """
    return tuple(_explain(run, told, folder))


def name_kind(told: Told) -> str:
    """Word for what happened."""
    return {
        "seed": "seeded",
        "reseed": "reseeded",
        "draw": "drawn",
        "unseeded-generator": "no seed",
        "flag": "flag",
    }[told.event.kind]


def say_comparison(comparison: Comparison, folder: str) -> tuple[str, ...]:
    """How far the draws of a generator are the same in two runs, and how they part."""
    name, number = comparison.generator, comparison.run
    if not comparison.kind:
        return (f"{name}: {plural(comparison.same, 'draw')}, the same in runs 1 and {number}",)
    first, other = (_name_moment(m, folder) for m in (comparison.first, comparison.other))
    head = f"Runs 1 and {number} part at draw {comparison.same + 1:,} of {name}"
    if comparison.first is None or comparison.other is None:
        here, there = (1, number) if comparison.first is not None else (number, 1)
        told = f"run {here} goes on at {first or other}, run {there} draws no more"
    elif comparison.kind == "state":
        told = f"the same call at {first}, but the generator is in another state"
    else:
        alike = comparison.first.state == comparison.other.state
        state = "the same state" if alike else "another state"
        told = f"run 1 draws at {first}, run {number} at {other}, from {state}"
    again = comparison.again
    are = "is" if again == 1 else "are"
    after = (f"the last {plural(again, 'draw')} {are} the same again",) if again else ()
    return (f"{head}: {told}", *comparison.because, *after)


def list_blind(run: Run) -> tuple[str, ...]:
    """What could not be watched in a run."""
    blind = list(run.notes)
    if run.processes:
        how = ", ".join(run.processes)
        blind.append(
            f"the script started other processes ({how}); what they draw is out of reach here"
        )
    if any(event.kind == "unseeded-generator" for event in list_unseeded(run)):
        blind.append(
            "generators that are not global: it is seen how they are made, not their draws"
        )
    return tuple(blind)


def _say_seeded(run: Run, folder: str) -> Iterator[str]:
    early, unseeded = list_early(run), list_unseeded(run)
    for name in dict.fromkeys(one.event.generator for one in early):
        found = [one for one in early if one.event.generator == name]
        draws = plural(sum(one.event.count for one in found), "draw")
        first = f"the first at {_name_call(found[0], folder)}"
        if is_seeded_before(run, found[0]):
            yield f"{draws} from {name} came from a state that no seed had set, {first}."
        elif is_ever_seeded(run, name):
            yield f"{draws} from {name} came before its first seed, {first}."
        else:
            yield f"{name} was never seeded: {draws}, {first}."
    default = [event for event in unseeded if has_default_seed(event)]
    entropy = [event for event in unseeded if not has_default_seed(event)]
    if entropy:
        yield f"{_name_first(entropy, folder)} no seed: what follows differs from run to run."
    if default:
        yield (
            f"{_name_first(default, folder)} torch's default seed: every such generator draws the "
            "same numbers."
        )
    if not early and not unseeded:
        drawn = any(one.event.kind == "draw" for one in run.told)
        whole = " in this process" if run.processes else ""
        yield (
            f"Everything that was drawn{whole} came after a seed."
            if drawn
            else f"Nothing was drawn from a global generator{whole}."
        )


def _say_reseeded(run: Run, folder: str) -> Iterator[str]:
    reseeds = [
        one for one in run.told if one.event.kind == "reseed" and not is_without_effect(run, one)
    ]
    for name in dict.fromkeys(one.event.generator for one in reseeds):
        found = [one for one in reseeds if one.event.generator == name]
        times = sum(one.event.count for one in found)
        often = "" if times == 1 else f"{times:,} times, first "
        first = f"at {name_place(found[0].event, folder) or UNSEEN}"
        yield f"{name} was seeded again {often}{first} ({found[0].event.what})."


def _say_ends(story: Story) -> Iterator[str]:
    ends = {number: say_end(run.end) for number, run in enumerate(story.runs, 1)}
    until = "this is what was seen"
    until += "" if any(run.end.cut for run in story.runs) else " until then"
    if len(set(ends.values())) > 1:
        yield from (f"Run {number} {end}: {until}." for number, end in ends.items() if end)
    elif ends[1]:
        yield f"{'Each run' if len(ends) > 1 else 'The script'} {ends[1]}: {until}."


def _say_repeated(story: Story) -> Iterator[str]:
    if len(story.runs) < 2:
        return
    parted = story.parted
    if parted is not None:
        head, *because = say_comparison(parted, story.folder)
        reason = f" ({because[0]})" if because else ""
        yield f"{head}{reason}."
        return
    first = {one.generator: one.same for one in story.comparisons if one.run == 2}
    total = sum(first.values())
    drawn = f"{plural(total, 'draw')} from {', '.join(first)} {'was' if total == 1 else 'were'}"
    yield (
        f"In {len(story.runs)} runs, {drawn} the same."
        if first
        else f"None of {len(story.runs)} runs drew from a global generator."
    )


def _explain(run: Run, told: Told, folder: str) -> Iterator[str]:
    event = told.event
    if event.count > 1:
        yield f"{count(event.count)} times"
    if told.early:
        if is_seeded_before(run, told):
            yield f"{event.generator} was put back to a state that no seed had set"
        elif is_ever_seeded(run, event.generator):
            yield f"before {event.generator} was seeded"
        else:
            yield f"{event.generator} is never seeded"
    if is_entropy(event):
        yield "from the system's entropy: never the same again"
    elif event.kind == "reseed" and event.seed is not None:
        before = find_seed_before(run, told)
        if is_without_effect(run, told):
            yield "the seed of before, with nothing drawn in between"
        elif before == event.seed:
            yield "the seed of before: the numbers that followed it follow again"
        elif before is not None:
            yield f"the seed was {before} before"
    if has_no_seed(event) and is_import(event):
        yield "by a library for itself, while it is imported"
    if has_default_seed(event):
        yield "it draws the same numbers as every such generator"
    if is_library(event.file) and event.function not in ("", "<module>"):
        yield name_function(event.function).strip()
    caller = find_caller(event)
    if caller is not None:
        file, line, function = caller
        yield f"led to by {name_line(file, line, folder)}{name_function(function)}"
    if event.thread != "MainThread":
        yield f"in thread {event.thread}"


def _name_first(events: Sequence[Event], folder: str) -> str:
    """First of the events that have something, the others counted."""
    first = f"{events[0].what} at {name_place(events[0], folder) or UNSEEN}"
    rest = len(events) - 1
    return f"{first} and {plural(rest, 'more place')} have" if rest else f"{first} has"


def _name_call(told: Told, folder: str) -> str:
    return f"{name_place(told.event, folder) or UNSEEN} ({told.event.what})"


def _name_moment(moment: Moment | None, folder: str) -> str:
    if moment is None:
        return ""
    return f"{name_line(moment.file, moment.line, folder) or UNSEEN} ({moment.what})"
