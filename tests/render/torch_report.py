"""Reports on torch models, judged from records made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from detaudit.judge.judge import judge
from detaudit.models.model import TensorInfo
from detaudit.report import Report
from detaudit.traits import OpTrait, TrainingTrait, Traits
from tests.records import (
    Facts,
    Plan,
    always,
    floats,
    make_model,
    make_torch_record,
    torch_facts,
)

_DROPPING = Traits(
    random_ops=(OpTrait("aten.bernoulli_", "drop (Dropout)"),),
    training=(TrainingTrait("drop", "Dropout", "draws a new mask at every call (p=0.5)"),),
    draws=("torch",),
    reseeded_calls=3,
    reseeded_equal=True,
)
_EXPORT = make_model("scores", path="export.onnx", sha256="cd" * 32)
_OPTIONS = {"threads": 1, "cpu_capability": "AVX512", "deterministic": "0", "compile": False}


def torch() -> Report:
    """A factory on its targets: dropout, other weights, another form of the model."""
    logits = floats(0.25, -1.5, 3.0)
    near = np.nextafter(logits, np.float32(9))
    isa = "cpu[env.ATEN_CPU_CAPABILITY=default]"
    export = "cpu[model=export.onnx]"
    digest = "3f" * 32
    told = torch_facts(digest, effective=_OPTIONS)
    model = make_model(path="net.py:make", format="torch", size=1532)
    model = replace(
        model,
        outputs=(TensorInfo("logits", "float32", (3,)),),
        inputs=(TensorInfo("x", "float32", (1, 3)),),
        score_outputs=("logits",),
        labels=(),
    )
    record = make_torch_record(
        {
            "cpu": always(logits, "logits"),
            "cpu[threads=1]": lambda _p, _s, _n, run: {"logits": logits if run % 2 else near},
            isa: always(floats(1, 2, 3), "logits"),
            export: always(near, "scores"),
            "cuda:0": "the installed torch 2.13.0 is a build without CUDA",
        },
        model=model,
        facts={
            "cpu": told,
            "cpu[threads=1]": replace(told, traits=_DROPPING),
            isa: torch_facts("5e" * 32, effective={**_OPTIONS, "cpu_capability": "DEFAULT"}),
            export: Facts(model=_EXPORT),
        },
        requirement="decimals=3",
    )
    return replace(judge(record), detaudit="0.1.0")


def unseeded() -> Report:
    """A factory that draws its weights, and nothing seeded it."""
    record = make_torch_record(
        {"cpu": lambda process, session, *_: {"y": floats(process, session)}},
        Plan(processes=3),
        facts={"cpu": torch_facts(lambda process, session: f"{process}{session}" * 32)},
        asked={"seeded": False, "evaluate": True},
        requirement="identical",
    )
    return replace(judge(record), detaudit="0.1.0")
