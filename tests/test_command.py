from __future__ import annotations

import shlex
from typing import Any

import pytest

from detaudit.audit import plan_audit
from detaudit.capture import capture as capturing
from detaudit.cli import main
from detaudit.command import write_command
from detaudit.spec import AuditSpec


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a command line asks for; nothing is run."""

    class Asked(Exception):
        pass

    def note(spec: AuditSpec, progress: object) -> None:
        raise Asked(spec)

    monkeypatch.setattr(capturing, "capture", note)

    def parse(command: str) -> AuditSpec:
        with pytest.raises(Asked) as caught:
            main(shlex.split(command)[1:])
        spec: AuditSpec = caught.value.args[0]
        return spec

    return parse


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("m.onnx", {"device": "cpu"}),
        ("a model's.onnx", {"device": ["cpu", "cpu[threads=4,opt=off]", 'cpu[env.A="x,y"]']}),
        ("m.onnx", {"device": "cuda:0"}),
        ("m.onnx", {"device": "cpu,cuda:1", "variants": "none"}),
        ("net.py:make:w.pth", {"device": "cpu,cuda:0,cpu[matmul=medium]", "evaluate": True}),
        ("net.py:make", {"device": "cpu", "seeded": False, "trust": True}),
        (
            "m.onnx",
            {
                "device": "cpu,cpu[opt=off]",
                "reference": "cpu[opt=off]",
                "runs": 3,
                "sessions": 4,
                "processes": 5,
                "seed": 0,
                "samples": 7,
                "source": "some folder",
                "inputs": {"x": "uniform:-1:1", "y": "@y.npy"},
                "shapes": {"frames": 160, "mels": "1x160x40"},
                "duration": 2.5,
                "sampling_rate": 8000,
                "labels": {"y": ["a", "b"], "z": ["c"]},
                "classes": {"y": 0, "z:0": -1},
                "outputs": ["y", "z"],
                "decimals": (2, 2),
                "require": "decimals=3,y:no-class-flip",
                "confidence": 0.9,
                "seed_runtime": True,
                "timeout": 9.5,
            },
        ),
        ("m.onnx", {"device": "cpu", "labels": "a,b", "classes": {}, "outputs": "y"}),
    ],
)
def test_a_command_asks_for_the_same_audit(model: str, options: Any, read: Any) -> None:
    spec = plan_audit(model, **options)
    assert read(write_command(spec)) == spec


def test_what_is_the_default_is_left_out_unless_the_project_has_another() -> None:
    spec = plan_audit("m.onnx", "cpu")
    assert write_command(spec) == "detaudit m.onnx --device cpu"
    command = write_command(spec, explicit=("runs", "decimals", "require", "sampling_rate"))
    assert command == "detaudit m.onnx --device cpu --runs 10 --decimals 0-7"


def test_variants_that_come_with_a_device_are_left_out() -> None:
    assert write_command(plan_audit("m", "cpu,cuda:0")) == "detaudit m --device cpu,cuda:0"
    alone = plan_audit("m", "cuda:0[use_tf32=0],cuda:0", variants="none")
    assert write_command(alone) == (
        "detaudit m --device 'cuda:0[use_tf32=0],cuda:0' --variants none"
    )


def test_labels_that_no_command_line_can_hold_are_left_out() -> None:
    spec = plan_audit("m.onnx", "cpu", labels={"y": ["a,b", "c"], "z": ["d=e"], "q": ["f"]})
    assert write_command(spec) == "detaudit m.onnx --device cpu --labels q=f"
