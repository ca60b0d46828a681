from __future__ import annotations

import pytest

from detaudit.errors import UsageError
from detaudit.judge.labels import Axis, check_names, find_class_axis, find_labels
from detaudit.models.model import Labels, Model
from detaudit.record import OutputFacts
from detaudit.spec import JudgeSpec
from tests.records import make_model


def output(*shape: int, path: str = "y", dtype: str = "float32", keys: tuple[str, ...] = ()):
    return OutputFacts(path, dtype, shape, keys)


FILE = make_model("y", labels=(Labels("y", ("a", "b", "c")),))
TWO = make_model("y", "z", labels=(Labels("y", ("a", "b", "c")), Labels("z", ("u", "v"), -2)))


def said(**labels: tuple[str, ...]) -> JudgeSpec:
    return JudgeSpec(labels=tuple((name.strip("_"), names) for name, names in labels.items()))


@pytest.mark.parametrize(
    ("facts", "model", "judging", "expected"),
    [
        (output(1, 3), FILE, JudgeSpec(), Axis(-1, ("a", "b", "c"))),
        (output(1, 4), FILE, JudgeSpec(), None),
        (output(), FILE, JudgeSpec(), None),
        (output(1, 3, path="x"), FILE, JudgeSpec(), None),
        (output(2, 5, path="z"), TWO, JudgeSpec(), Axis(-2, ("u", "v"))),
        (output(1, 3), FILE, said(y=("p", "q", "r")), Axis(-1, ("p", "q", "r"))),
        (output(1, 3), FILE, said(_=("p", "q", "r")), Axis(-1, ("p", "q", "r"))),
        (output(1, 3), TWO, said(_=("p", "q", "r")), Axis(-1, ("a", "b", "c"))),
        (output(3, 7), FILE, said(y=("p", "q", "r")), Axis(-2, ("p", "q", "r"))),
        (output(3, 3), FILE, said(y=("p", "q", "r")), Axis(-1, ("p", "q", "r"))),
        (output(1, 3), FILE, said(y=("p", "q")), None),
        (output(1, 2, keys=("0", "1")), make_model("y"), JudgeSpec(), Axis(-1, ("0", "1"))),
        (
            output(1, 2, keys=("0", "1")),
            make_model("y"),
            said(y=("no", "yes")),
            Axis(-1, ("no", "yes")),
        ),
        (output(1, 3), make_model("y"), JudgeSpec(), None),
    ],
)
def test_labels(
    facts: OutputFacts, model: Model, judging: JudgeSpec, expected: Axis | None
) -> None:
    assert find_labels(facts, model, judging) == expected


def numbered(count: int) -> Model:
    names = tuple(f"y-{i}" for i in range(count))
    return make_model("y", labels=(Labels("y", names),), score_outputs=())


def test_names_that_only_count_tell_little() -> None:
    assert find_labels(output(1, 3), numbered(3), JudgeSpec()) is not None
    assert find_labels(output(1, 1024), numbered(1024), JudgeSpec()) is None
    assert find_class_axis(output(1, 3), numbered(3), JudgeSpec()) is None


SCORES = make_model("y", score_outputs=("y",))


@pytest.mark.parametrize(
    ("facts", "model", "judging", "expected"),
    [
        (output(1, 3), FILE, JudgeSpec(), -1),
        (output(2, 5, path="z"), TWO, JudgeSpec(), -2),
        (output(1, 3), SCORES, JudgeSpec(), -1),
        (output(1, 1), SCORES, JudgeSpec(), None),
        (output(), SCORES, JudgeSpec(), None),
        (
            output(
                0,
            ),
            SCORES,
            JudgeSpec(),
            None,
        ),
        (output(1, 3, dtype="int64"), SCORES, JudgeSpec(), None),
        (output(1, 3), make_model("y"), JudgeSpec(), None),
        (output(1, 3), make_model("y"), JudgeSpec(classes=(("y", -1),)), -1),
        (output(1, 3), make_model("y"), JudgeSpec(classes=(("y", 0),)), -2),
        (output(1, 3), FILE, JudgeSpec(classes=()), None),
        (output(1, 3), FILE, JudgeSpec(classes=(("z", -1),)), None),
        (output(1, 3), make_model("y"), said(y=("p", "q", "r")), -1),
        (
            output(1, 3),
            make_model("y", score_outputs=("y",), squashed_outputs=("y",)),
            JudgeSpec(),
            None,
        ),
    ],
)
def test_classes(facts: OutputFacts, model: Model, judging: JudgeSpec, expected: int) -> None:
    assert find_class_axis(facts, model, judging) == expected


OUTPUTS = (output(1, 3), output(1, 2, path="z"))


@pytest.mark.parametrize(
    "judging",
    [
        JudgeSpec(),
        said(y=("a", "b", "c"), z=("u", "v")),
        JudgeSpec(classes=(("y", -1), ("z", 0))),
        JudgeSpec(classes=(("y", -2),)),
    ],
)
def test_names_that_fit(judging: JudgeSpec) -> None:
    check_names(OUTPUTS, TWO, judging)


@pytest.mark.parametrize(
    ("judging", "message"),
    [
        (said(q=("a",)), "the model has no output 'q'; it has: y, z"),
        (said(_=("a", "b", "c")), "labels of which output? write NAME=…; it has: y, z"),
        (said(y=("a", "b")), r"2 labels do not fit output 'y', whose shape is \(1, 3\)"),
        (JudgeSpec(classes=(("q", -1),)), "the model has no output 'q'; it has: y, z"),
        (JudgeSpec(classes=(("y", 2),)), r"output 'y' of shape \(1, 3\) has no axis 2"),
        (JudgeSpec(classes=(("y", -3),)), r"output 'y' of shape \(1, 3\) has no axis -3"),
    ],
)
def test_names_that_do_not_fit(judging: JudgeSpec, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        check_names(OUTPUTS, TWO, judging)


def test_the_only_output_that_is_looked_at_needs_no_name() -> None:
    """With --output y, labels without a name are those of y."""
    judging = said(_=("p", "q", "r"))
    check_names((output(1, 3),), FILE, judging)
