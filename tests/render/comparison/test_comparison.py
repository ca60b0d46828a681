from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from detaudit.comparison import Comparison, Level
from detaudit.judge.comparing import compare_records
from detaudit.record import Record
from detaudit.render.comparison.csv_comparison import write_csv_comparison
from detaudit.render.comparison.json_comparison import (
    read_comparison_schema,
    render_json_comparison,
)
from detaudit.render.comparison.letters import name_class
from detaudit.render.comparison.terminal import render_comparison
from detaudit.render.json_report import to_json
from detaudit.report import COLUMNS
from tests.judge.named import name, on
from tests.records import Call, Plan, always, by_run, floats, make_record


def made(call: Call | str, plan: Plan | None = None, **environment: Any) -> Record:
    return on(make_record({"cpu": call}, plan), **environment)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    records = {
        "new": made(always(floats(0.25))),
        "o\x1bd": made(always(floats(0.2504)), Plan(runs=2), machine="=1+1"),
        "varies": made(by_run(floats(0.25), floats(0.75))),
        "gone": made("no driver"),
    }
    named = [name(record, called) for called, record in records.items()]
    return compare_records(named, {}, allowed=["plan"])


def test_json_follows_its_schema(comparison: Comparison) -> None:
    schema = read_comparison_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    plain = json.loads(render_json_comparison(comparison))
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(plain)
    assert plain["report"] == json.loads(json.dumps(to_json(comparison.report)))
    assert plain["agreement"][0] == {
        "decimals": None,
        "classes": [["new:cpu"], ["o\x1bd:cpu"]],
        "varying": ["varies:cpu"],
    }
    assert plain["differing"] == [
        {"name": "plan", "values": ["4 x 2 x 2", "2 x 2 x 2", "4 x 2 x 2", "4 x 2 x 2"]}
    ]
    for broken in ({**plain, "more": 1}, {**plain, "report": {}}, {**plain, "agreement": [{}]}):
        assert not validator.is_valid(broken)


def test_every_key_of_the_schema_is_described() -> None:
    def walk(node: dict[str, Any]) -> None:
        for key, value in node.get("properties", {}).items():
            assert value.get("description"), key
            walk(value.get("items", value))

    walk(read_comparison_schema())


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("ascii", [False, True])
def test_the_terminal_holds_everything(comparison: Comparison, width: int, ascii: bool) -> None:
    text = render_comparison(comparison, width, ascii=ascii)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert text.isascii() or not ascii
    assert "\x1b" not in text
    said = " ".join(text.split())
    assert "4 records compared" in said
    assert "plan new, varies, gone: 4 x 2 x 2" in said
    assert "architecture new, varies, gone: " in said
    heads = next(line.split() for line in lines if line.split()[:2] == ["Target", "bits"])
    assert heads == ["Target", "bits", *"01234567"]
    start = lines.index(next(line for line in lines if line.split()[:2] == ["Target", "bits"]))
    table = {line.split()[0]: line.split()[1:] for line in lines[start + 1 : start + 4]}
    assert table["new:cpu"] == ["A"] * 9
    assert [*table.values()][1] == ["B", "A", "B", "A", "A", "B", "B", "B", "B"]
    assert table["varies:cpu"] == ["~"] * 9
    assert "gone:cpu" not in table
    assert "no driver" in said
    assert said.index("What should be the same") < said.index("What else") < said.index("Which")


def test_the_tidy_table(comparison: Comparison, tmp_path: Path) -> None:
    write_csv_comparison(comparison, tmp_path / "c.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "c.csv").read_text(encoding="utf-8"))))
    assert list(rows[0]) == list(COLUMNS)
    sections = list(dict.fromkeys(row["section"] for row in rows))
    assert sections[:5] == ["differing", "environments", "agreement", "targets", "repeatability"]
    machine = {r["target"]: r["value"] for r in rows if r["measure"] == "architecture"}
    assert list(machine.values())[1] == "'=1+1"
    bits = {r["target"]: r["value"] for r in rows if r["measure"] == "bits_class"}
    assert list(bits.values()) == ["1", "2", "varies"]


def test_tables_for_documentation(comparison: Comparison, tmp_path: Path) -> None:
    write_csv_comparison(comparison, tmp_path / "tables", directory=True)
    agreement = (tmp_path / "tables/agreement.csv").read_text(encoding="utf-8").splitlines()
    assert agreement[0].startswith("Target,Bits,Decimals: 0,")
    assert agreement[1] == "new:cpu," + ",".join("A" * 9)
    for section in ("differing", "environments", "targets", "deviation"):
        assert (tmp_path / "tables" / f"{section}.csv").stat().st_size


def test_letters_go_on_after_z() -> None:
    level = Level(0, tuple((str(n),) for n in range(704)), ())
    letters = {n: name_class(level, str(n)) for n in (0, 25, 26, 51, 52, 701, 702, 703)}
    assert [*letters.values()] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA", "AAB"]
    assert len({name_class(level, str(n)) for n in range(704)}) == 704
