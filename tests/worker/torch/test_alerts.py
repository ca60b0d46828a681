from __future__ import annotations

import warnings
from typing import Any

import pytest

from detaudit.worker.torch.alerts import collect_alerts, explain_alert, read_alert

pytestmark = pytest.mark.torch


def use_both() -> Any:
    import torch

    torch.zeros(4).put_(torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))
    pooled = torch.nn.functional.max_pool1d(torch.rand(1, 1, 8), 2, return_indices=True)
    return torch.nn.functional.max_unpool1d(*pooled, 2)


def test_the_operator_is_read_from_the_error() -> None:
    import torch

    torch.use_deterministic_algorithms(True)
    with pytest.raises(RuntimeError) as caught:
        use_both()
    assert read_alert(str(caught.value)) == "put_"
    assert read_alert("something else") == ""


def test_all_operators_of_a_call_are_collected_and_the_mode_is_put_back() -> None:
    import torch

    for mode in (0, 1, 2):
        torch.set_deterministic_debug_mode(mode)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert collect_alerts(use_both) == ["put_", "max_unpooling2d_forward_out"]
        assert torch.get_deterministic_debug_mode() == mode


def test_what_was_seen_before_an_error_counts() -> None:
    def fail() -> None:
        use_both()
        raise ValueError("no")

    assert collect_alerts(fail) == ["put_", "max_unpooling2d_forward_out"]
    assert collect_alerts(lambda: None) == []


def test_an_alert_is_explained_with_the_others() -> None:
    import torch

    version = torch.__version__
    assert explain_alert("put_", ["put_", "b"]) == (
        f"put_ has no deterministic implementation in torch {version} (also: b);"
        " deterministic=warn_only runs it all the same"
    )
    assert explain_alert("put_", []) == (
        f"put_ has no deterministic implementation in torch {version};"
        " deterministic=warn_only runs it all the same"
    )
