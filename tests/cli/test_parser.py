from __future__ import annotations

import os
from pathlib import Path

import pytest

from detaudit.cli.parser import (
    Parser,
    add_judge_options,
    add_report_options,
    check_writable,
    read_classes,
    read_decimals,
    read_labels,
)
from detaudit.errors import UsageError


def make() -> Parser:
    parser = Parser(prog="detaudit show")
    parser.add_argument("record")
    add_judge_options(parser)
    add_report_options(parser)
    return parser


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: record (see detaudit show --help)"),
        (["r", "--quite"], "unknown option --quite; did you mean --quiet?"),
        (["r", "--jsn=x"], "unknown option --jsn=x; did you mean --json?"),
        (["r", "--zzzzzz"], "unknown option --zzzzzz (see"),
        (["r", "s"], "unknown argument s"),
        (["r", "--confidence", "high"], "argument --confidence: invalid float value: 'high'"),
        (["r", "--csv"], "argument --csv: expected one argument"),
        (["r", "--quie"], "unknown option --quie; did you mean --quiet?"),
    ],
)
def test_complaints_are_one_line(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        make().parse_args(arguments)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_defaults() -> None:
    options = make().parse_args(["r"])
    assert options.quiet is False
    kept = ("decimals", "confidence", "require", "csv", "json", "junit", "labels", "classes")
    assert {getattr(options, name) for name in kept} == {None}


@pytest.mark.parametrize(
    ("text", "expected"), [("0-7", (0, 7)), ("3", (3, 3)), ("0", (0, 0)), ("2-12", (2, 12))]
)
def test_decimals(text: str, expected: tuple[int, int]) -> None:
    assert read_decimals(text) == expected


@pytest.mark.parametrize("text", ["", "-", "3-", "-3", "a", "1-b", "1.5", "0:7", " 1", "1-2-3"])
def test_no_decimals(text: str) -> None:
    with pytest.raises(UsageError, match="is not of the form 0-7"):
        read_decimals(text)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (None, None),
        ([], None),
        (["a,b,c"], {"": ("a", "b", "c")}),
        (["a, b"], {"": ("a", "b")}),
        (["y=a,b"], {"y": ("a", "b")}),
        (["y=a,b", "z=c"], {"y": ("a", "b"), "z": ("c",)}),
        (["Identity:0=a"], {"Identity:0": ("a",)}),
    ],
)
def test_labels(texts: list[str] | None, expected: object) -> None:
    assert read_labels(texts) == expected


@pytest.mark.parametrize("texts", [["a", "b"], ["y=a", "y=b"]])
def test_labels_that_are_given_twice(texts: list[str]) -> None:
    with pytest.raises(UsageError, match="given twice"):
        read_labels(texts)


@pytest.mark.parametrize("text", ["a,,b", "y=", "", "a,"])
def test_a_label_that_is_empty(text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        read_labels([text])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("labels.txt", "cat\ndog\n\n"),
        ("labels.yaml", "- cat\n- dog\n"),
        ("labels.json", '["cat", "dog"]'),
    ],
)
def test_labels_of_a_file(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_labels([str(tmp_path / name)]) == {"": ("cat", "dog")}
    assert read_labels([f"y={tmp_path / name}"]) == {"y": ("cat", "dog")}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (None, None),
        ([], None),
        (["none"], {}),
        (["y"], {"y": -1}),
        (["y:1"], {"y": 1}),
        (["y:-2"], {"y": -2}),
        (["Identity:0:1"], {"Identity:0": 1}),
        (["y", "z:0"], {"y": -1, "z": 0}),
    ],
)
def test_classes(texts: list[str] | None, expected: object) -> None:
    assert read_classes(texts) == expected


def test_none_is_no_output_beside_others() -> None:
    with pytest.raises(UsageError, match="none"):
        read_classes(["none", "y"])


@pytest.mark.parametrize("name", ["new.json", "old.json", "-", None])
def test_files_that_can_be_written(name: str | None, tmp_path: Path) -> None:
    (tmp_path / "old.json").touch()
    check_writable(json=name if name in ("-", None) else str(tmp_path / str(name)))
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]


def test_tables_of_a_folder_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for name in ("old", "old/", "new/", "rows.csv"):
        check_writable(csv=f"{tmp_path}/{name}")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("option", ["json", "save"])
def test_a_folder_is_no_file(option: str, tmp_path: Path) -> None:
    for path in (str(tmp_path), f"{tmp_path}/", f"{tmp_path}/new/"):
        with pytest.raises(UsageError, match=f"cannot write --{option} {path}"):
            check_writable(**{option: path})


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    with pytest.raises(UsageError, match="cannot write --csv"):
        check_writable(csv=f"{tmp_path}/old/")
    with pytest.raises(UsageError, match="there is no folder"):
        check_writable(json=f"{tmp_path}/old/r.json")


@pytest.mark.parametrize("option", ["json", "save", "csv"])
def test_a_folder_that_is_missing(option: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"there is no folder {tmp_path / 'none'}"):
        check_writable(**{option: f"{tmp_path}/none/file"})


@pytest.mark.parametrize("option", ["json", "save", "csv"])
def test_a_name_that_is_empty(option: str) -> None:
    with pytest.raises(UsageError, match=f"--{option} names no file"):
        check_writable(**{option: ""})


@pytest.mark.parametrize("option", ["json", "save", "csv"])
def test_a_folder_that_may_not_be_written_to(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(UsageError, match="no permission to write to"):
        check_writable(**{option: f"{tmp_path}/file"})


def test_no_two_results_go_to_one_file(tmp_path: Path) -> None:
    path = f"{tmp_path}/out"
    with pytest.raises(UsageError, match="--json and --save both name"):
        check_writable(json=path, save=path)
