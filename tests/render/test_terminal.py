from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from detaudit.render.terminal import print_report, render_terminal
from detaudit.report import Finding
from tests.render.parts import differs, make, publish, repeats, rounds, target
from tests.render.reports import REPORTS

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("width", [60, 80, 100, 140, 220])
def test_no_line_is_too_wide(name: str, width: int) -> None:
    for line in render_terminal(REPORTS[name](), width).splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()


@pytest.mark.parametrize("name", REPORTS)
def test_color_adds_nothing_but_color(name: str) -> None:
    report = REPORTS[name]()
    colored = render_terminal(report, 80, color=True)
    assert ESCAPE.search(colored)
    bare = "".join(f"{ESCAPE.sub('', line).rstrip()}\n" for line in colored.splitlines())
    assert bare == render_terminal(report, 80)


@pytest.mark.parametrize("name", REPORTS)
def test_no_control_characters(name: str) -> None:
    text = render_terminal(REPORTS[name](), 80)
    assert not [c for c in text if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]
    assert "\u202e" not in text
    text.encode("utf-8")


def test_narrow_terminals_get_sixty_columns() -> None:
    assert render_terminal(REPORTS["drift"](), 20) == render_terminal(REPORTS["drift"](), 60)


def test_width_is_eighty_where_nothing_is_said() -> None:
    assert render_terminal(REPORTS["drift"]()) == render_terminal(REPORTS["drift"](), 80)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437"])
def test_streams_that_lack_the_characters_get_ascii(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    print_report(REPORTS["nasty_names"](), stream)
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert "max |d|" in text
    assert "gr\\xf6\\xdfe" in text


def test_piped_text_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    stream = io.StringIO()
    print_report(REPORTS["drift"](), stream)
    assert stream.getvalue() == render_terminal(REPORTS["drift"](), 80)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("no_color", [False, True])
def test_color_follows_the_terminal(monkeypatch: pytest.MonkeyPatch, no_color: bool) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    stream = _Terminal()
    print_report(REPORTS["drift"](), stream)
    assert stream.getvalue() == render_terminal(REPORTS["drift"](), 80, color=not no_color)


def test_many_labels_are_cut_to_the_worst() -> None:
    labels = [
        differs("cuda:0", "y", 1e-6 * (i + 1), label=f"label{i:02}", elements=1, finite=1)
        for i in range(13)
    ]
    report = make(
        [target("cpu", is_reference=True), target("cuda:0")],
        deviation=[differs("cuda:0", "y", 1e-4), *labels],
    )
    text = render_terminal(report, 80)
    shown = re.findall(r"label\d\d", text)
    assert shown == ["label08", "label09", "label10", "label11", "label12"]
    assert "… 8 more labels, 0 of them with the same bits" in text
    twelve = replace(report, deviation=report.deviation[:13])
    assert len(re.findall(r"label\d\d", render_terminal(twelve, 80))) == 12


def test_no_limit_is_claimed_only_where_nothing_differs() -> None:
    limits = dict.fromkeys(("agree", "safe_1pct", "safe_01pct"))
    report = make(
        [target("cpu", is_reference=True), target("cuda:0")],
        deviation=[differs("cuda:0", "y", 1.0, nan_pattern_changed=True, max_abs=None)],
        decimals=[publish("cuda:0", "y", **limits)],
    )
    assert "no limit" not in render_terminal(report, 80)


@pytest.mark.parametrize(
    ("units", "result", "at_most"),
    [
        ((10, 2, 2), "same bits in 40 of 40 runs", "28.4 / 95 / 95 %"),
        ((20, 1, 1), "same bits in 40 of 40 runs", "14.6 / – / –"),
        ((1, 1, 5), "same bits in 40 of 40 runs", "– / – / 52.8 %"),
        ((1, 1, 1), "not repeated (40 runs)", "–"),
    ],
)
def test_bounds_are_those_of_what_was_repeated(
    units: tuple[int, int, int], result: str, at_most: str
) -> None:
    report = make([target("cpu")], repeatability=repeats("cpu", "y", units))
    line = next(x for x in render_terminal(report, 80).splitlines() if x.startswith("    y "))
    assert result in line
    assert re.split(r"  +", line.strip())[4] == at_most


def test_emulated_numbers_are_marked_in_every_section() -> None:
    text = render_terminal(REPORTS["emulated"](), 100)
    sections = re.split(r"\n(?=\w[\w ]+ ─)", text)[1:]
    assert len(sections) == 6
    assert all("emulated, not measured" in section for section in sections)


def test_rounding_beyond_eight_decimals_takes_a_second_block() -> None:
    rows = rounds("cuda:0", "y", 1e-4)
    more = [replace(row, decimals=row.decimals + 8) for row in rows[:5]]
    report = make([target("cpu", is_reference=True), target("cuda:0")], rounding=[*rows, *more])
    heads = [
        line.split() for line in render_terminal(report, 80).splitlines() if "Decimals" in line
    ]
    assert heads == [["Decimals", *"01234567"], ["Decimals", "8", "9", "10", "11", "12"]]


def test_findings_alike_are_told_once() -> None:
    findings = [Finding("error", "unavailable", f"cuda:{i}", None, "No GPU.") for i in range(3)]
    text = render_terminal(make([target("cpu")], findings=findings), 80)
    assert "ERROR  unavailable: cuda:0; cuda:1; cuda:2" in text
    assert text.count("No GPU.") == 1


def test_versions_that_differ_stand_at_the_target() -> None:
    old = target("cpu[python=old]", versions={"python": "3.11.9", "onnxruntime": "1.17.3"})
    text = render_terminal(make([target("cpu"), old]), 80)
    assert "software  python 3.11.9\n" in text
    assert "with onnxruntime 1.17.3\n" in text
    assert "with numpy 2.4.6, onnxruntime 1.32.0\n" in text


def test_text_without_figures_tells_the_share_that_differs() -> None:
    row = differs("cuda:0", "words", 1.0, max_abs=None, mean_signed=None, changed_share=0.25)
    report = make([target("cpu", is_reference=True), target("cuda:0")], deviation=[row])
    assert "25 % of the values differ" in render_terminal(report, 80)


@pytest.mark.parametrize("name", REPORTS)
def test_the_bare_word_is_never_used(name: str) -> None:
    assert "deterministic" not in render_terminal(REPORTS[name](), 80)
