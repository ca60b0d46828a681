"""Reports out of thin air, in the ranges that the rows promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from hypothesis import strategies as st

from detaudit.report import Check, Finding, Report, Verdict
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
from detaudit.spec import SCOPES
from detaudit.target_row import OtherModel, TargetRow
from detaudit.traits import OpTrait, TrainingTrait, Traits

NAMES = ("cpu", "cuda:0", "cuda:0[use_tf32=0]", "ep:X[a=[red]b[/red]]", "emulate:tf32")
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
OUTPUTS = st.sampled_from(("logits", "[bold]x[/bold]", "a\nb", "=1+1", "|y|", ""))
SHARES = st.floats(0, 1)
NUMBERS = st.floats(width=64)
VALUES = st.one_of(NUMBERS, st.integers(), st.booleans(), ANY_TEXT, st.none())

_ROWS: Mapping[str, type] = {
    "repeatability": Repeatability,
    "deviation": Deviation,
    "rounding": Rounding,
    "decimals": Decimals,
    "classes": Classes,
    "latency": Latency,
    "values": Value,
}
_BY_TYPE: Mapping[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    bool | None: st.none() | st.booleans(),
    int: st.integers(0, 2**70),
    float: NUMBERS,
    str: ANY_TEXT,
    int | None: st.none() | st.integers(0, 2**70),
    float | None: st.none() | NUMBERS,
    str | None: st.none() | ANY_TEXT,
}
_WORST = st.builds(
    Worst,
    sample=st.integers(0, 9),
    index=st.lists(st.integers(0, 99), max_size=3).map(tuple),
    value=VALUES,
    reference_value=VALUES,
)


_TEXTS = st.lists(ANY_TEXT, max_size=2).map(tuple)
_OPS = st.lists(st.builds(OpTrait, ANY_TEXT, ANY_TEXT), max_size=2).map(tuple)
_TRAITS = st.builds(
    Traits,
    random_ops=_OPS,
    unordered_ops=_OPS,
    training=st.lists(st.builds(TrainingTrait, *[ANY_TEXT] * 3), max_size=2).map(tuple),
    draws=_TEXTS,
    seeds=_TEXTS,
    reseeded_calls=st.integers(0, 9),
    reseeded_equal=st.booleans(),
    changed_weights=_TEXTS,
    nondeterministic=_TEXTS,
    notes=_TEXTS,
)


def _field(name: str, kind: Any) -> st.SearchStrategy[Any]:
    if name.endswith(("_share", "_bound")):
        return SHARES if kind is float else st.none() | SHARES
    special = {
        "output": OUTPUTS,
        "scope": st.sampled_from(SCOPES),
        "confidence": st.floats(0.5, 0.99),
        "decimals": st.integers(0, 12),
        "value": NUMBERS | st.booleans(),
        "worst": st.none() | _WORST,
        **dict.fromkeys(
            ("agree", "safe_1pct", "safe_01pct", "resolution"), st.none() | st.integers(-9, 12)
        ),
    }
    return special[name] if name in special else _BY_TYPE[kind]


def _rows(kind: type, targets: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[Any, ...]]:
    hints = get_type_hints(kind)
    parts = {f.name: _field(f.name, hints[f.name]) for f in fields(kind)}
    parts["target"] = targets
    if "reference" in parts:
        parts["reference"] = targets
    return st.lists(st.builds(kind, **parts), max_size=4).map(tuple)


def _target(name: str) -> st.SearchStrategy[TargetRow]:
    return st.builds(
        TargetRow,
        name=st.just(name),
        kind=st.sampled_from(("measured", "emulated", "reference")),
        status=st.sampled_from(("ok", "unavailable", "failed", "skipped")),
        reason=st.none() | ANY_TEXT,
        is_reference=st.booleans(),
        hardware=ANY_TEXT,
        runs=st.integers(0, 99),
        plan=st.tuples(*[st.integers(1, 9)] * 3),
        requested=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2),
        effective=st.dictionaries(ANY_TEXT, VALUES, max_size=2),
        placement=st.dictionaries(ANY_TEXT, st.integers(0, 99), max_size=2),
        versions=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2),
        backend=st.sampled_from(("ort", "torch")),
        weights=st.lists(_TEXTS, max_size=2).map(tuple),
        traits=_TRAITS,
        model=st.none() | st.builds(OtherModel, ANY_TEXT, ANY_TEXT, ANY_TEXT),
    )


def _checks(targets: st.SearchStrategy[str]) -> st.SearchStrategy[Check]:
    return st.builds(
        Check,
        requirement=ANY_TEXT,
        target=targets,
        output=st.none() | OUTPUTS,
        status=st.sampled_from(("met", "missed", "untested")),
        failures=_TEXTS,
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    some = st.sampled_from(names)
    finding = st.builds(
        Finding,
        level=st.sampled_from(("info", "warning", "error")),
        kind=ANY_TEXT,
        target=st.none() | some,
        output=st.none() | OUTPUTS,
        message=ANY_TEXT,
    )
    required = draw(st.booleans())
    return Report(
        created="2026-01-02T12:00:00Z",
        detaudit="0.1.0",
        model={
            "path": draw(ANY_TEXT),
            "sha256": "0" * 64,
            "format": "onnx",
            "inputs": [{"name": draw(ANY_TEXT), "dtype": "float32", "shape": None}],
            "outputs": [],
            "random_ops": [{"op": "RandomNormal", "node": draw(ANY_TEXT), "subgraph": "If/then"}],
        },
        inputs={"seed": 1, "samples": 1, "sha256": "1" * 64, "source": None, "arrays": []},
        seeding={"seeded": draw(st.booleans())},
        environment={draw(ANY_TEXT): draw(VALUES)},
        interrupted=draw(st.booleans()),
        targets=tuple(draw(_target(name)) for name in names),
        findings=tuple(draw(st.lists(finding, max_size=2))),
        verdict=Verdict(
            requirement=draw(ANY_TEXT) if required else None,
            met=draw(st.booleans()) if required else None,
            untested=tuple(draw(st.lists(some, max_size=2))),
            failures=tuple(draw(st.lists(ANY_TEXT, max_size=2))),
            sentence=draw(ANY_TEXT),
            origin=draw(st.none() | ANY_TEXT),
            checks=tuple(draw(st.lists(_checks(some), max_size=2))) if required else (),
        ),
        **{section: draw(_rows(kind, some)) for section, kind in _ROWS.items()},
    )
