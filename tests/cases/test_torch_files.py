"""Torch models in files, and a model against its export."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from detaudit.errors import ModelError, UsageError
from tests.builders.torch_models import wav2vec_tiny
from tests.cases.audits import (
    all_identical,
    audit_quickly,
    capture_quickly,
    kinds,
    message,
    only,
    statuses,
)

pytestmark = pytest.mark.torch

ZOO = Path(__file__).parent.parent / "builders" / "zoo.py"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with one network in every form."""
    import torch

    from tests.builders.zoo import Plain

    folder = tmp_path_factory.mktemp("saved")
    with torch.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        model = Plain().eval()
        x = torch.zeros(2, 8)
        torch.save(model.state_dict(), folder / "weights.pth")
        torch.save(model, folder / "whole.pt")
        batch = torch.export.Dim("batch", min=1, max=64)
        program = torch.export.export(model, (x,), dynamic_shapes={"x": {0: batch}})
        torch.export.save(program, folder / "plain.pt2")
        torch.save(model.second.state_dict(), folder / "second.pth")
        torch.jit.trace(model.second, torch.zeros(1, 16)).save(folder / "part.ts")
        for name, outputs in (("named", ["logits", "sums", "twice"]), ("other", ["a", "b", "c"])):
            torch.onnx.export(
                model,
                (x,),
                folder / f"{name}.onnx",
                input_names=["x" if name == "named" else "input_0"],
                output_names=outputs,
                dynamo=False,
            )
    return folder


def test_an_exported_program(saved: Path) -> None:
    report = audit_quickly(saved / "plain.pt2", "cpu,cpu[threads=1]", sessions=2)
    assert all_identical(report)
    assert report.model["format"] == "torch.export"
    assert {row.output for row in report.repeatability} == {
        "logits",
        'more["sums"][0]',
        'more["sums"][1][0]',
    }
    (x,) = report.model["inputs"]
    assert (x["name"], x["dtype"], x["shape"][1]) == ("x", "float32", 8)


def test_an_open_axis_of_an_exported_program_is_a_batch(saved: Path) -> None:
    record = capture_quickly(saved / "plain.pt2", "cpu,cpu[batch=4]", samples=2)
    assert [target.status for target in record.targets] == ["ok", "ok"]
    shapes = [[o.shape for o in target.outputs] for target in record.targets]
    assert shapes[0] == shapes[1]


def test_torchscript(saved: Path) -> None:
    report = audit_quickly(saved / "part.ts", shapes={"input": "3x16"}, sessions=2)
    assert report.model["format"] == "torchscript"
    assert all_identical(report)


def test_a_pickled_module_runs_only_where_it_is_trusted(saved: Path) -> None:
    with pytest.raises(ModelError, match="--trust"):
        capture_quickly(saved / "whole.pt")
    python_path = ZOO.parent.parent.parent
    device = f"cpu[env.PYTHONPATH={python_path}]"
    report = audit_quickly(saved / "whole.pt", device, trust=True)
    assert statuses(report) == {device: "ok"}
    assert report.model["format"] == "torch pickle"


def test_weights_alone_are_no_model(saved: Path) -> None:
    with pytest.raises(ModelError, match=r"holds weights without a network.*weights\.pth"):
        capture_quickly(saved / "weights.pth")


@pytest.mark.parametrize("name", ["plain.pt2", "part.ts"])
def test_a_damaged_file_is_one_line(saved: Path, tmp_path: Path, name: str) -> None:
    data = (saved / name).read_bytes()
    damaged = tmp_path / name
    damaged.write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelError) as caught:
        capture_quickly(damaged)
    assert str(caught.value).startswith(f"{damaged}: ")
    assert "\n" not in str(caught.value)


def test_one_output_can_be_looked_at(saved: Path) -> None:
    report = audit_quickly(saved / "plain.pt2", outputs="logits")
    assert {row.output for row in report.repeatability} == {"logits"}
    with pytest.raises(UsageError, match="nothing") as caught:
        audit_quickly(saved / "plain.pt2", outputs="nothing")
    assert "logits" in str(caught.value)


def test_an_export_whose_outputs_have_the_same_names(tmp_path: Path) -> None:
    """Sizes as measured: about 1e-6 on the states, less on the logits."""
    import torch

    from tests.builders.zoo import Emotion

    export = wav2vec_tiny(tmp_path)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        torch.save(Emotion().state_dict(), tmp_path / "weights.pth")
    model = f"{ZOO}:NamedEmotion:{tmp_path / 'weights.pth'}"
    target = f"cpu[model={export}]"
    report = audit_quickly(model, f"cpu,{target}", sessions=2)
    assert set(statuses(report).values()) == {"ok"}
    for output in ("hidden_states", "logits"):
        row = only(report.deviation, target=target, output=output, label=None)
        assert row.structural is None
        assert 0 < row.max_abs < 1e-5
    assert not {"matched-by-order", "not-the-same-model"} & kinds(report)


def test_an_export_whose_names_are_others_is_matched_by_order(saved: Path) -> None:
    model = f"{ZOO}:Plain:{saved / 'weights.pth'}"
    target = f"cpu[model={saved / 'other.onnx'}]"
    report = audit_quickly(model, f"cpu,{target}")
    assert all(row.max_abs < 1e-5 for row in report.deviation)
    assert {row.output for row in report.deviation} == {
        "logits",
        'more["sums"][0]',
        'more["sums"][1][0]',
    }
    assert "logits" in message(report, "matched-by-order")
    assert "input_0 takes x" in message(report, "note")


def test_a_torch_model_against_an_onnx_model(saved: Path) -> None:
    """The audited model may be the export as well."""
    target = f"cpu[model={saved / 'plain.pt2'}]"
    report = audit_quickly(saved / "named.onnx", f"cpu,{target}")
    assert statuses(report) == {"cpu": "ok", target: "ok"}
    row = only(report.deviation, target=target, output="logits", label=None)
    assert row.max_abs < 1e-5


def test_another_form_that_tells_nothing_of_its_inputs_takes_those_of_the_audit(
    saved: Path,
) -> None:
    model = f"{ZOO}:Second:{saved / 'second.pth'}"
    target = f"cpu[model={saved / 'part.ts'}]"
    report = audit_quickly(model, f"cpu,{target}", shapes={"x": "3x16"})
    assert statuses(report) == {"cpu": "ok", target: "ok"}
    assert all(row.identical for row in report.deviation)


def test_another_model_that_does_not_take_the_inputs_is_unavailable(saved: Path) -> None:
    target = f"cpu[model={saved / 'named.onnx'}]"
    report = audit_quickly(saved / "part.ts", f"cpu,{target}", shapes={"input": "3x16"})
    assert statuses(report) == {"cpu": "ok", target: "unavailable"}
    reason = only(report.targets, name=target).reason
    assert "its input x float32 [2, 8] does not take the audit's input float32 [3, 16]" in reason


def test_another_model_that_cannot_be_opened_leaves_the_rest(saved: Path) -> None:
    target = f"cpu[model={saved / 'weights.pth'}]"
    report = audit_quickly(saved / "named.onnx", f"cpu,{target}")
    assert statuses(report) == {"cpu": "ok", target: "unavailable"}
    with pytest.raises(UsageError, match="no such file"):
        audit_quickly(saved / "named.onnx", f"cpu,cpu[model={saved / 'missing.onnx'}]")
