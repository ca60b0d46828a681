from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from detaudit.worker.failures import Failed, Misuse
from detaudit.worker.torch.checkpoint import load_checkpoint
from tests.worker.torch.archives import Evil

pytestmark = pytest.mark.torch


def net(width: int = 3) -> Any:
    import torch

    return torch.nn.Sequential(torch.nn.Linear(width, 2), torch.nn.BatchNorm1d(2))


def save(value: Any, folder: Path) -> Path:
    import torch

    file = folder / "w.pth"
    torch.save(value, file)
    return file


@pytest.mark.parametrize("key", [None, "state_dict", "model_state_dict", "model"])
def test_weights_are_loaded_from_where_people_put_them(tmp_path: Path, key: str | None) -> None:
    import torch

    source, model = net(), net()
    weights = source.state_dict()
    load_checkpoint(model, save({key: weights, "epoch": 3} if key else weights, tmp_path))
    for name, value in source.state_dict().items():
        assert torch.equal(model.state_dict()[name], value)


def test_a_safetensors_file_is_loaded(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    source, model = net(), net()
    file = tmp_path / "w.safetensors"
    save_file(source.state_dict(), file)
    load_checkpoint(model, file)
    assert torch.equal(model[0].weight, source[0].weight)
    file.write_bytes(b"none")
    with pytest.raises(Failed, match=r"w.safetensors is damaged or no safetensors file: \S"):
        load_checkpoint(model, file)


def test_pickled_objects_are_never_unpickled(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    told = (
        r"w.pth holds pickled objects, not only weights.*torch.save\(model.state_dict\(\), FILE\)"
    )
    for value in (Evil(marker), {"state_dict": net().state_dict(), "extra": Evil(marker)}, net()):
        with pytest.raises(Failed, match=told):
            load_checkpoint(net(), save(value, tmp_path))
    assert not marker.exists()


def test_what_does_not_fit_is_counted_and_named(tmp_path: Path) -> None:
    other = net(4).state_dict()
    other["head.weight"] = other.pop("1.running_mean")
    with pytest.raises(Failed) as caught:
        load_checkpoint(net(), save(other, tmp_path))
    assert str(caught.value) == (
        "the checkpoint w.pth does not fit the model: 1 of 7 weights missing from it"
        " (1.running_mean); 1 of 7 weights in it unknown to the model (head.weight);"
        " 1 of 7 weights of another shape (0.weight is [2, 4], not [2, 3])"
    )


def test_only_a_few_are_named(tmp_path: Path) -> None:
    weights = {f"model.{name}": value for name, value in net().state_dict().items()}
    with pytest.raises(
        Failed, match=r"7 of 7 weights missing from it \(0.weight, 0.bias, 1.weight, …"
    ):
        load_checkpoint(net(), save(weights, tmp_path))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "holds no state dict: it is an empty dict"),
        ({"epoch": 3, "lr": 0.1}, "holds no state dict: its keys are epoch, lr; a state dict"),
        ([1, 2], "holds no state dict: it is a list"),
    ],
)
def test_what_is_no_state_dict_is_told(tmp_path: Path, value: Any, message: str) -> None:
    with pytest.raises(Failed, match=message):
        load_checkpoint(net(), save(value, tmp_path))


@pytest.mark.parametrize("content", [b"", b"hello" * 50, b"\x80\x02}q\x00."])
def test_what_is_no_file_of_torch_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "w.pth"
    file.write_bytes(content)
    with pytest.raises(Failed, match=r"^the checkpoint w.pth (is damaged|holds)[^\n]*$"):
        load_checkpoint(net(), file)


def test_a_file_that_is_cut_off_is_told(tmp_path: Path) -> None:
    file = save(net().state_dict(), tmp_path)
    file.write_bytes(file.read_bytes()[:-400])
    with pytest.raises(Failed, match=r"^the checkpoint w.pth is damaged or no file of torch's$"):
        load_checkpoint(net(), file)


def test_a_file_of_another_kind_is_not_called_a_pickle(tmp_path: Path) -> None:
    path = tmp_path / "w.onnx"
    # The first bytes of an ONNX model.
    path.write_bytes(b"\x08\x07\x12\x04test:\x00" * 20)
    with pytest.raises(Failed, match=r"^the checkpoint w.onnx is damaged or no file of torch's$"):
        load_checkpoint(net(), path)


def test_another_archive_is_told(tmp_path: Path) -> None:
    import torch

    path = tmp_path / "w.pt2"
    torch.export.save(torch.export.export(torch.nn.Linear(2, 1), (torch.ones(1, 2),)), path)
    with pytest.raises(Failed, match=r"^the checkpoint w.pt2 is an archive that torch.save has no"):
        load_checkpoint(net(), path)


def test_a_torchscript_model_is_told(tmp_path: Path) -> None:
    import torch

    file = tmp_path / "w.pth"
    torch.jit.save(torch.jit.script(net()), file)
    with pytest.raises(Failed, match=r"w.pth is a TorchScript model and no state dict$"):
        load_checkpoint(net(), file)


def test_a_checkpoint_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"^there is no checkpoint w.pth$"):
        load_checkpoint(net(), tmp_path / "w.pth")


def test_a_function_takes_no_checkpoint(tmp_path: Path) -> None:
    file = save(net().state_dict(), tmp_path)
    expected = re.escape("w.pth cannot be loaded into a function, which is no torch.nn.Module")
    with pytest.raises(Failed, match=expected):
        load_checkpoint(lambda x: x, file)
