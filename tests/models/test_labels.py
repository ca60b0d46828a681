"""Labels that a user gives, as text or as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from detaudit.errors import UsageError
from detaudit.models.labels import assign_labels, read_labels
from detaudit.models.model import Labels, TensorInfo


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("l.yaml", "- a\n- 1.0\n- no\n", ["a", "1.0", "no"]),
        ("l.yml", "out: [a, b]\n", {"out": ["a", "b"]}),
        ("l.json", '["a", "b, c"]', ["a", "b, c"]),
        ("l.txt", "first one\nsecond\n", ["first one", "second"]),
        ("names", "a\nb", ["a", "b"]),
        ("config.json", '{"id2label": {"10": "k", "0": "a", "2": "c"}}', ["a", "c", "k"]),
    ],
)
def test_files(tmp_path: Path, name: str, content: str, expected: object) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert read_labels(str(path)) == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.yaml", "a"),
        ("l.yaml", ""),
        ("l.yaml", "[a, [b]]"),
        ("l.yaml", "[a"),
        ("l.json", '{"a": 1}'),
        ("l.txt", ""),
        ("l.txt", b"\xff\xfe"),
        ("l.yaml", "[" * 1000),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str | bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError, match=r"^labels: ") as caught:
        read_labels(str(path))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", ["missing.yaml", "some/where", "labels.txt"])
def test_missing_files(given: str) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_labels(given)


def test_text_and_lists() -> None:
    assert read_labels("a, b ,c d") == ["a", "b", "c d"]
    assert read_labels("single") == ["single"]
    assert read_labels(("a", "b")) == ("a", "b")
    assert read_labels({"y": ["a"]}) == {"y": ["a"]}


@pytest.mark.parametrize(
    ("shape", "axis", "size"),
    [
        ((1, 3), -1, 3),
        ((1, 3, "n"), -2, 3),
        ((3, None, None), -3, 3),
        (("n", 1), -1, 1),
        ((), -1, 1),
    ],
)
def test_the_axis_is_the_last_of_fixed_size(
    shape: tuple[int | str | None, ...], axis: int, size: int
) -> None:
    outputs = [TensorInfo("y", "float32", shape)]
    names = tuple(f"l{index}" for index in range(size))
    assert assign_labels(outputs, names, dict, defaults=False) == (Labels("y", names, axis),)
    default = tuple(f"y-{index}" for index in range(size)) if size > 1 else ("y",)
    assert assign_labels(outputs, None, dict, defaults=True) == (Labels("y", default, axis),)
    assert assign_labels(outputs, None, dict, defaults=False) == ()
    with pytest.raises(ValueError, match="do not fit"):
        assign_labels(outputs, (*names, "more"), dict, defaults=False)


@pytest.mark.parametrize("shape", [None, ("n",), (None, "m")])
def test_sizes_that_nobody_knows(shape: tuple[str | None, ...] | None) -> None:
    outputs = [TensorInfo("y", "float32", shape)]
    assert assign_labels(outputs, None, dict, defaults=True) == ()
    assert assign_labels(outputs, ["a", "b"], dict, defaults=True)[0].axis == -1


def test_inference_is_asked_only_when_needed() -> None:
    closed = [TensorInfo("y", "float32", (2,))]

    def fail() -> dict[str, TensorInfo]:
        raise AssertionError("asked")

    assert assign_labels(closed, None, fail, defaults=True)
    with pytest.raises(AssertionError, match="asked"):
        assign_labels([TensorInfo("y", "float32", ("n",))], None, fail, defaults=True)
