from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings

from detaudit.render.json_report import read_schema, render_json, to_json
from detaudit.report import Finding, Report, Verdict
from detaudit.rows import (
    Classes,
    Decimals,
    Deviation,
    Latency,
    Repeatability,
    Rounding,
    Value,
    Worst,
)
from detaudit.target_row import OtherModel, TargetRow
from detaudit.traits import Traits
from tests.render.reports import REPORTS
from tests.render.strategies import reports

SCHEMA = read_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
KEYS = SCHEMA["properties"]
ROWS = {
    "targets": TargetRow,
    "repeatability": Repeatability,
    "deviation": Deviation,
    "rounding": Rounding,
    "decimals": Decimals,
    "classes": Classes,
    "latency": Latency,
    "values": Value,
    "findings": Finding,
}


def _refuse(text: str) -> None:
    raise AssertionError(f"{text} is not JSON")


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def test_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", REPORTS)
def test_made_by_hand(name: str) -> None:
    VALIDATOR.validate(_parse(render_json(REPORTS[name]())))


@given(reports())
@settings(max_examples=60)
def test_any(report: Report) -> None:
    VALIDATOR.validate(_parse(render_json(report)))


@pytest.mark.parametrize(("section", "kind"), ROWS.items())
def test_schema_has_every_field_of_a_row(section: str, kind: type) -> None:
    row = KEYS[section]["items"]
    assert list(row["properties"]) == [f.name for f in fields(kind)]
    assert row["required"] == list(row["properties"])
    assert row["additionalProperties"] is False


def test_schema_has_every_field_of_a_report() -> None:
    names = {f.name for f in fields(Report)} | {"format", "version"}
    assert set(KEYS) == set(SCHEMA["required"]) == names
    assert list(KEYS["verdict"]["properties"]) == [f.name for f in fields(Verdict)]
    worst = KEYS["deviation"]["items"]["properties"]["worst"]["anyOf"][0]
    assert list(worst["properties"]) == [f.name for f in fields(Worst)]


def _keys(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        for name, part in schema.get("properties", {}).items():
            yield f"{path}.{name}", part
        for name, part in schema.items():
            yield from _keys(part, f"{path}.{name}")
    elif isinstance(schema, list):
        for part in schema:
            yield from _keys(part, path)


def test_schema_has_every_trait() -> None:
    """Those of torch, and of the model that ran in the place of the audited one."""
    row = KEYS["targets"]["items"]["properties"]
    assert list(row["traits"]["properties"]) == [f.name for f in fields(Traits)]
    model = row["model"]["anyOf"][0]
    for schema, kind in ((row["traits"], Traits), (model, OtherModel)):
        assert schema["required"] == list(schema["properties"]) == [f.name for f in fields(kind)]
        assert schema["additionalProperties"] is False


def test_weights_and_traits_of_torch() -> None:
    rows = {row["name"]: row for row in to_json(REPORTS["torch"]())["targets"]}
    assert rows["cpu"]["weights"] == [["3f" * 32] * 2] * 2
    assert rows["cpu"]["backend"] == "torch"
    assert rows["cpu"]["placement"] == {"cpu": 3}
    ops = rows["cpu[threads=1]"]["traits"]["random_ops"]
    assert ops == [{"op": "aten.bernoulli_", "module": "drop (Dropout)"}]
    export = rows["cpu[model=export.onnx]"]
    assert (export["backend"], export["weights"]) == ("ort", [])
    assert export["model"] == {"path": "export.onnx", "format": "onnx", "sha256": "cd" * 32}


def test_every_key_is_described() -> None:
    keys = dict(_keys(SCHEMA))
    assert len(keys) > 100
    assert [
        path for path, part in keys.items() if not part.get("description", "").endswith(".")
    ] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), {"extra": 1}),
        (("version",), 2),
        (("targets", 0, "status"), "fine"),
        (("targets", 0, "plan"), [10, 2]),
        (("repeatability", 0, "modal_share"), 1.5),
        (("repeatability", 0, "instability_upper_bound"), "unknown"),
        (("deviation", 0, "max_abs"), "NaN"),
        (("deviation", 0, "worst"), {"sample": 0}),
        (("verdict", "met"), "yes"),
    ],
)
def test_schema_refuses(path: tuple[Any, ...], value: Any) -> None:
    plain = to_json(REPORTS["drift"]())
    if path:
        place: Any = plain
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
    else:
        plain.update(value)
    assert not VALIDATOR.is_valid(plain)


def test_special_values_are_texts() -> None:
    plain = to_json(REPORTS["only_nan"]())
    assert plain["deviation"][0]["max_abs"] == "nan"
    assert plain["deviation"][0]["worst"]["reference_value"] == "inf"


def test_numpy_becomes_plain() -> None:
    made = REPORTS["drift"]()
    row = replace(
        made.deviation[1],
        identical=np.bool_(False),
        elements=np.int64(3),
        max_abs=np.float32(0.5),
        mean_abs=np.float32(math.nan),
        worst=Worst(np.int32(0), tuple(np.array([0, 2])), np.float16(1.5), np.str_("x")),
    )
    report = replace(made, deviation=(row,), environment={"cores": np.array([1, 2])})
    plain = to_json(report)
    assert plain == _parse(render_json(report))
    found = plain["deviation"][0]
    assert (found["elements"], found["max_abs"], found["mean_abs"]) == (3, 0.5, "nan")
    assert found["worst"] == {"sample": 0, "index": [0, 2], "value": 1.5, "reference_value": "x"}
    assert plain["environment"] == {"cores": [1, 2]}


def test_names_come_back() -> None:
    plain = _parse(render_json(REPORTS["nasty_names"]()))
    labels = [row.label for row in REPORTS["nasty_names"]().deviation]
    assert [row["label"] for row in plain["deviation"]] == labels
