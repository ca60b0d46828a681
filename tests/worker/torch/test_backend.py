"""Whole worker processes that drive torch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.worker.torch.archives import export
from tests.worker.torch.jobs import Message, last, make_job, talk

pytestmark = pytest.mark.torch

Write = Callable[..., Path]
X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)

CHANGES = "normalises by the batch, and changes its running statistics at every call"
PROGRAM = (
    "--eval has no effect: an exported program keeps the mode that it was exported in, since"
    " torch.export refuses eval()"
)
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
    def forward(self, x):
        y = self.layer(x)
        return {"logits": y, "aux": {"a": [x * 2, y.bfloat16()]}}
"""


class Run:
    """One worker on one sample, and what it said."""

    def __init__(self, folder: Path, reference: Path | str, **changes: Any) -> None:
        samples = changes.pop("samples", [{"x": X}])
        variables = changes.pop("variables", {})
        job = make_job(reference, samples, folder=folder, **changes)
        self.messages: list[Message] = talk(job, folder / "stderr.txt", **variables)
        self.events = [message["event"] for message, _ in self.messages]
        self.reason = last(self.messages).get("reason", "")
        self.traits = last(self.messages).get("traits", {})

    def first(self, event: str) -> Message:
        return next(found for found in self.messages if found[0]["event"] == event)

    def each(self, event: str) -> list[dict[str, Any]]:
        return [message for message, _ in self.messages if message["event"] == event]


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Run]:
    def run(reference: Path | str, **changes: Any) -> Run:
        return Run(tmp_path, reference, **changes)

    return run


def test_outputs_arrive_by_path_with_the_values_of_a_plain_call(
    write: Write, start: Callable[..., Run]
) -> None:
    import torch

    file = write(NET + "    example = None\nmake = Net")
    found = start(f"{file}:make", probe=True)
    assert found.events == ["hello", *(["session"] + ["run"] * 2) * 2, "done"], found.reason
    message, arrays = found.first("run")
    leaves = {leaf["path"]: leaf["declared"] for leaf in message["outputs"]}
    assert leaves == {"logits": "", 'aux["a"][0]': "", 'aux["a"][1]': "bfloat16"}
    torch.manual_seed(1)
    expected = torch.nn.Linear(4, 3)(torch.from_numpy(X)).detach()
    assert arrays[0].tobytes() == expected.numpy().tobytes()
    assert arrays[2].tolist() == expected.bfloat16().float().tolist()


def test_hello_and_session_tell_what_is_in_force(write: Write, start: Callable[..., Run]) -> None:
    import torch

    options = {"threads": "1", "inter_threads": "1", "deterministic": "1", "matmul": "medium"}
    found = start(f"{write(NET)}:Net", options=options)
    hello = found.first("hello")[0]
    assert hello["versions"]["torch"] == torch.__version__
    assert hello["seeding"]["seed"] == 1
    assert hello["seeding"]["flags"]["deterministic_algorithms"] is True
    session = found.first("session")[0]
    assert {key: session["effective"][key] for key in options} == {
        "threads": 1,
        "inter_threads": 1,
        "deterministic": "1",
        "matmul": "medium",
    }
    assert session["placement"] == {"cpu": 2}
    assert re.fullmatch("[0-9a-f]{64}", session["weights"])


def test_every_session_and_process_builds_the_same_model(
    write: Write, start: Callable[..., Run]
) -> None:
    # The file draws before the factory does, and more at every call.
    file = write(
        NET + "torch.rand(3)\ndef make():\n    net = Net()\n    torch.rand(7)\n    return net"
    )
    runs = [start(f"{file}:make") for _ in range(2)]
    weights = {s["weights"] for run in runs for s in run.each("session")}
    digests = {m["outputs"][0]["digest"] for run in runs for m in run.each("run")}
    assert (len(weights), len(digests)) == (1, 1)


def test_without_a_seed_every_session_draws_other_weights(
    write: Write, start: Callable[..., Run]
) -> None:
    found = start(f"{write(NET)}:Net", seeded=False)
    assert found.first("hello")[0]["seeding"]["seed"] is None
    assert len({session["weights"] for session in found.each("session")}) == 2


def test_evaluation_mode_is_switched_only_when_asked(
    write: Write, start: Callable[..., Run]
) -> None:
    file = write("make = lambda: nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(4))")
    call = {"args": [{"input": "x"}], "kwargs": {}}
    found = start(f"{file}:make", call=call, probe=True)
    assert len({run["outputs"][0]["digest"] for run in found.each("run")}) > 1
    assert found.traits == {
        "random_ops": [{"op": "aten.bernoulli_", "module": "0 (Dropout)"}],
        "unordered_ops": [],
        "training": [
            {
                "module": "0",
                "type": "Dropout",
                "effect": "draws a new mask at every call (p=0.5)",
            },
            {
                "module": "1",
                "type": "BatchNorm1d",
                "effect": CHANGES,
            },
        ],
        "draws": ["torch"],
        "seeds": [],
        "reseeded_calls": 3,
        "reseeded_equal": True,
        "changed_weights": ["1.num_batches_tracked", "1.running_mean", "1.running_var"],
        "nondeterministic": [],
        "notes": [],
    }
    found = start(f"{file}:make", call=call, probe=True, evaluate=True)
    assert len({run["outputs"][0]["digest"] for run in found.each("run")}) == 1
    assert not any(value for value in found.traits.values())


def test_draws_of_every_generator_are_seen(write: Write, start: Callable[..., Run]) -> None:
    code = """
    import random, numpy
    own = numpy.random.default_rng()
    class Net(nn.Module):
        def forward(self, x):
            return x + torch.rand(4) + numpy.random.rand() + random.random()
    class Own(nn.Module):
        def forward(self, x):
            return x + torch.rand(4) + own.random()
    """
    file = write(code)
    traits = start(f"{file}:Net", probe=True).traits
    assert traits["draws"] == ["numpy", "python", "torch"]
    assert (traits["reseeded_calls"], traits["reseeded_equal"]) == (3, True)
    traits = start(f"{file}:Own", probe=True).traits
    assert traits["draws"] == ["torch"]
    assert (traits["reseeded_calls"], traits["reseeded_equal"]) == (3, False)


PUT = """
class Net(nn.Module):
    def forward(self, x):
        y = torch.zeros(4).put_(torch.tensor([0, 0]), x[0, :2])
        pooled = nn.functional.max_pool1d(x, 2, return_indices=True)
        return nn.functional.max_unpool1d(*pooled, 2) + y
"""


def test_an_operator_without_a_deterministic_kind_ends_its_target(
    write: Write, start: Callable[..., Run]
) -> None:
    import torch

    file = write(PUT)
    found = start(f"{file}:Net", options={"deterministic": "1"})
    assert found.events == ["hello", "session", "failed"]
    assert found.reason == (
        f"put_ has no deterministic implementation in torch {torch.__version__}"
        " (also: max_unpooling2d_forward_out); deterministic=warn_only runs it all the same"
    )
    found = start(f"{file}:Net", options={"deterministic": "warn_only"}, probe=True)
    assert found.traits["nondeterministic"] == ["put_", "max_unpooling2d_forward_out"]
    assert found.traits["unordered_ops"] == [{"op": "aten.put_", "module": ""}]


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("return x @ x", "net.py:5: RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x4"),
        ("return {1, 2}", "the output is of the type set; what can be compared is tensors"),
        ("raise SystemExit(3)", "net.py:5: SystemExit: 3"),
        ("return x.mul_(2)", "input 'x' was changed by the run: later results mean nothing"),
        ("raise MemoryError", "out of memory: net.py:5: MemoryError: out of memory"),
        ("raise ValueError('a\\nb')", "net.py:5: ValueError: a"),
    ],
)
def test_a_call_that_cannot_be_used_fails_in_one_line(
    write: Write, start: Callable[..., Run], forward: str, reason: str
) -> None:
    file = write(f"class Net(nn.Module):\n    def forward(self, x):\n        {forward}\n")
    found = start(f"{file}:Net")
    assert found.events[-1] == "failed"
    assert found.reason.startswith(reason)
    assert "\n" not in found.reason


def test_outputs_may_be_chosen_and_a_wrong_one_is_misuse(
    write: Write, start: Callable[..., Run]
) -> None:
    file = write(NET)
    found = start(f"{file}:Net", outputs=["logits"])
    assert [leaf["path"] for leaf in found.first("run")[0]["outputs"]] == ["logits"]
    found = start(f"{file}:Net", outputs=["nope"])
    assert last(found.messages) == {
        "event": "failed",
        "reason": "the model returns no output 'nope'; it returns: logits, aux",
        "misuse": True,
    }


def test_a_batch_gives_the_rows_of_each_sample(write: Write, start: Callable[..., Run]) -> None:
    file = write(
        "class Net(nn.Module):\n    def forward(self, x):"
        " return {'y': x * 2, 'sum': x.sum(), 't': x.t()}"
    )
    batch = {"size": 2, "axes": {"x": 0}, "outputs": {"t": 1}}
    samples = [{"x": X}, {"x": 3 * X}]
    found = start(f"{file}:Net", samples=samples, batch=batch, runs=1, sessions=1)
    first, second = (arrays for message, arrays in found.messages if message["event"] == "run")
    assert first[0].tolist() == (2 * X).tolist()
    assert second[0].tolist() == (6 * X).tolist()
    assert first[2].tolist() == X.T.tolist()


def test_a_device_that_is_missing_is_unavailable(write: Write, start: Callable[..., Run]) -> None:
    import torch

    name = f"cuda:{torch.cuda.device_count()}"
    found = start(f"{write(NET)}:Net", device=name)
    assert found.events == ["unavailable"]
    assert re.search("build without CUDA|cannot use CUDA|there is no cuda", found.reason)


def test_a_model_that_runs_elsewhere_is_unavailable(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from detaudit.worker.failures import Unavailable
    from detaudit.worker.feeds import Feeds
    from detaudit.worker.torch import backend

    # The device of another machine, as far as this one can have it.
    job = make_job(f"{write('make = lambda: lambda x: torch.ones(2)')}:make")
    made = backend.TorchBackend(job, backend.load())
    live = made.open()
    live._device = torch.device("meta")
    feeds = Feeds({}, {})
    with pytest.raises(Unavailable, match=r"^the model ran on cpu and not on meta$"):
        list(live.leaves(torch.ones(2), feeds))
    with pytest.raises(Unavailable, match=r"^nothing tells that the model ran on meta: it holds"):
        list(live.leaves({"score": 0.5}, feeds))


def test_types_of_model_and_inputs_are_cast(write: Write, start: Callable[..., Run]) -> None:
    code = NET.replace("y.bfloat16()", "x.dtype.itemsize")
    found = start(f"{write(code)}:Net", options={"dtype": "float64"}, probe=True)
    _, arrays = found.first("run")
    assert arrays[0].dtype == np.float64
    assert arrays[2].tolist() == 8
    assert found.first("session")[0]["effective"]["dtypes"] == {"float64": 2}
    assert found.traits["changed_weights"] == []
    plain = start(f"{write(code)}:Net").first("session")[0]["weights"]
    # The weights are told as they were built.
    assert found.first("session")[0]["weights"] == plain


def test_autocast_is_in_force_during_the_call(write: Write, start: Callable[..., Run]) -> None:
    found = start(f"{write(NET)}:Net", options={"autocast": "bfloat16"})
    message, _ = found.first("run")
    assert message["outputs"][0]["declared"] == "bfloat16"
    assert found.first("session")[0]["effective"]["autocast"] == "bfloat16"


def test_no_gradient_is_kept_unless_the_model_asks(write: Write, start: Callable[..., Run]) -> None:
    code = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(2.0))
        def forward(self, x):
            y = self.scale * x
            with torch.enable_grad():
                z = (self.scale * x).sum()
                (gradient,) = torch.autograd.grad(z, self.scale)
            return {"inside": y.requires_grad, "gradient": gradient}
    """
    _, arrays = start(f"{write(code)}:Net").first("run")
    assert arrays[0].tolist() is False
    assert arrays[1].tolist() == pytest.approx(float(X.sum()), abs=1e-6)


def test_compiled_models_run_and_a_compiler_that_is_missing_is_told(
    write: Write, start: Callable[..., Run], tmp_path: Path
) -> None:
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    file = write(NET)
    options = {"compile": "1"}
    found = start(f"{file}:Net", options=options, variables=cache, probe=True)
    assert found.events[-1] == "done", found.reason
    assert found.first("session")[0]["effective"]["compile"] is True
    assert found.traits["notes"] == []
    missing = {"CXX": "/no/such/g++", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "other")}
    found = start(f"{file}:Net", options=options, variables=missing)
    assert re.fullmatch(
        r"torch.compile failed: [^\n]*No working C\+\+ compiler[^\n]*", found.reason
    )
    wrong = [{"x": np.ones((2, 5), np.float32)}]
    found = start(f"{file}:Net", options=options, variables=cache, samples=wrong)
    assert found.reason.startswith("net.py:9: RuntimeError: mat1 and mat2 shapes cannot be multi")


def test_what_nothing_was_compiled_of_is_told(write: Write, start: Callable[..., Run]) -> None:
    code = """
    class Net(nn.Module):
        @torch.compiler.disable
        def forward(self, x):
            return x * 2
    """
    found = start(f"{write(code)}:Net", options={"compile": "1"}, probe=True)
    assert found.traits["notes"] == [
        "torch.compile found nothing to compile: the model ran as it is"
    ]


def test_settings_that_the_code_overrides_are_restored_or_told(
    write: Write, start: Callable[..., Run]
) -> None:
    code = """
    torch.set_num_threads(2)
    class Net(nn.Module):
        def forward(self, x):
            torch.backends.cudnn.benchmark = True
            return x * 2
    """
    found = start(f"{write(code)}:Net", options={"threads": "1"}, probe=True)
    assert found.first("session")[0]["effective"]["threads"] == 1
    assert found.traits["notes"] == [
        "cudnn_benchmark was False when the model was loaded and is True after the runs"
    ]


@pytest.mark.parametrize(
    "change", ["torch.set_default_dtype(torch.float64)", "torch.set_default_device('meta')"]
)
def test_no_session_begins_with_the_defaults_that_another_has_set(
    write: Write, start: Callable[..., Run], change: str
) -> None:
    code = f"{NET}def make():\n    net = Net()\n    {change}\n    return net"
    found = start(f"{write(code)}:make")
    assert found.events[-1] == "done", found.reason
    one, two = found.each("session")
    assert one["weights"] == two["weights"]


def test_defaults_that_the_code_sets_when_imported_stay(
    write: Write, start: Callable[..., Run]
) -> None:
    file = write("torch.set_default_dtype(torch.float64)\ndef make():\n    return nn.Linear(4, 3)")
    call = {"args": [{"input": "x"}], "kwargs": {}}
    found = start(f"{file}:make", samples=[{"x": X.astype(np.float64)}], call=call)
    assert [s["effective"]["dtypes"] for s in found.each("session")] == [{"float64": 2}] * 2


@pytest.mark.parametrize("seeded", [True, False])
def test_weights_of_lazy_modules_are_drawn_before_they_are_recorded(
    write: Write, start: Callable[..., Run], seeded: bool
) -> None:
    file = write("def make():\n    return nn.LazyLinear(3).eval()")
    call = {"args": [{"input": "x"}], "kwargs": {}}
    found = start(f"{file}:make", call=call, seeded=seeded, probe=True)
    digests = {message["weights"] for message in found.each("session")}
    assert len(digests) == (1 if seeded else 2)
    assert found.traits["changed_weights"] == []
    assert found.traits["notes"] == ["one call before the first gave lazy modules their weights"]


def test_a_model_that_cannot_be_switched_is_told(write: Write, start: Callable[..., Run]) -> None:
    code = f"{NET}    def train(self, mode=True):\n        raise ValueError('no modes')"
    found = start(f"{write(code)}:Net", evaluate=True)
    assert re.fullmatch(
        r"switching to evaluation mode raised net.py:\d+: ValueError: no modes", found.reason
    )


def test_a_program_runs_and_keeps_its_mode(tmp_path: Path, start: Callable[..., Run]) -> None:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.5))
    file = export(tmp_path, model, (torch.from_numpy(X),))
    call = {"args": [{"input": "x"}], "kwargs": {}}
    found = start(file, call=call, evaluate=True, probe=True)
    assert found.events[-1] == "done", found.reason
    assert [row["op"] for row in found.traits["random_ops"]] == ["aten.bernoulli_"]
    assert found.traits["training"] == []
    assert found.traits["notes"] == [PROGRAM]


def test_a_scripted_model_runs_in_the_mode_asked_for(
    tmp_path: Path, start: Callable[..., Run]
) -> None:
    import torch

    file = tmp_path / "m.pt"
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.5))
    torch.jit.save(torch.jit.script(model), file)
    call = {"args": [{"input": "x"}], "kwargs": {}}
    found = start(file, call=call, evaluate=True, probe=True)
    _, arrays = found.first("run")
    model.eval()
    assert np.allclose(arrays[0], model(torch.from_numpy(X)).detach().numpy(), atol=1e-6)
    assert not any(found.traits.values())


def test_eval_of_a_plain_function_is_told(write: Write, start: Callable[..., Run]) -> None:
    file = write("make = lambda: lambda x: x + 1")
    found = start(f"{file}:make", evaluate=True, probe=True)
    assert found.traits["notes"] == [
        "--eval has no effect: the model is a function without modules, which has no mode to switch"
    ]
    assert found.first("session")[0]["placement"] == {}


def test_what_the_users_code_prints_disturbs_nothing(
    write: Write, start: Callable[..., Run], tmp_path: Path
) -> None:
    file = write("print('hello')\n" + NET.replace("y = self", "print('call'); y = self"))
    assert start(f"{file}:Net").events[-1] == "done"
    assert "hello" in (tmp_path / "stderr.txt").read_text()


def test_a_model_is_described(write: Write, start: Callable[..., Run]) -> None:
    found = start(f"{write(NET)}:Net", describe=True)
    assert found.events == ["described"]
    assert last(found.messages)["inputs"][0]["name"] == "x"
    found = start(f"{write(NET)}:Nett", describe=True)
    assert last(found.messages) == {
        "event": "failed",
        "reason": "net.py has no 'Nett'; it has: Net",
        "misuse": True,
    }


def test_a_model_without_forward_is_told(write: Write, start: Callable[..., Run]) -> None:
    found = start(f"{write('make = lambda: nn.ModuleList([nn.ReLU()])')}:make")
    assert found.reason == "the model is a ModuleList, which has no forward to call"


def test_a_look_that_fails_is_a_note(write: Write, start: Callable[..., Run]) -> None:
    code = """
    class Net(nn.Module):
        calls = 0
        def forward(self, x):
            Net.calls += 1
            if Net.calls > 4:
                raise ValueError("no more")
            return x * 2
    """
    found = start(f"{write(code)}:Net", probe=True)
    assert found.events[-1] == "done"
    assert found.traits["notes"] == [
        "the random numbers that it draws could not be looked at: net.py:9: ValueError: no more",
        "its operators could not be looked at: net.py:9: ValueError: no more",
    ]
