from __future__ import annotations

import os
import pickle
import random
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from detaudit.seeding import get_seeds_state, isolated, set_seeds, watch
from detaudit.seeding.known import return_to_known
from tests.seeding.test_watch import CUBLAS, here, tell

pytestmark = pytest.mark.torch


@pytest.fixture
def torch(contained: None) -> Iterator[Any]:
    """Torch as it is when nobody has seeded it; flags are put back."""
    import torch

    with isolated():
        torch.seed()
        return_to_known(frozenset())
        dtype, benchmark = torch.get_default_dtype(), torch.backends.cudnn.benchmark
        yield torch
        torch.set_default_dtype(dtype)
        torch.backends.cudnn.benchmark = benchmark


def list_attributes(torch: Any) -> dict[tuple[str, str], int]:
    """Addresses of everything that a watch may replace."""
    owners = {
        **{name: sys.modules[name] for name in ("torch", "torch.random", "torch.cuda", "os")},
        "functional": torch.nn.functional,
        "tensor": torch.Tensor,
        "cudnn": type(torch.backends.cudnn),
        "matmul": type(torch.backends.cuda.matmul),
        "python": random,
        "Random": random.Random,
        "environ": type(os.environ),
    }
    return {
        (owner, name): id(value)
        for owner, module in owners.items()
        for name, value in vars(module).items()
    }


@pytest.mark.parametrize("draws", [False, True])
def test_torch_is_put_back_exactly(torch: Any, draws: bool) -> None:
    table = dict(torch.jit._builtins._get_builtin_table())
    before = list_attributes(torch)
    with watch(draws=draws):
        assert "uniform_" in vars(torch.Tensor)
        assert list_attributes(torch) != before
        torch.rand(1)
    assert list_attributes(torch) == before
    assert "uniform_" not in vars(torch.Tensor)
    assert torch.jit._builtins._get_builtin_table() == table


def test_every_way_to_seed_torch(torch: Any) -> None:
    with watch() as seen:
        line = here() + 1
        torch.manual_seed(3)
        torch.manual_seed(3)
        torch.random.manual_seed(seed=4)
        torch.seed()
        torch.set_rng_state(torch.Generator().manual_seed(5).get_state())
        torch.cuda.manual_seed(6)
        torch.cuda.manual_seed_all(torch.tensor(7))
    assert [(e.kind, e.generator, e.what, e.seed) for e in seen.events] == [
        ("seed", "torch", "torch.manual_seed(3)", 3),
        ("reseed", "torch", "torch.manual_seed(3)", 3),
        ("reseed", "torch", "torch.manual_seed(4)", 4),
        ("reseed", "torch", "torch.seed()", None),
        ("reseed", "torch", "torch.set_rng_state(...)", None),
        ("reseed", "cuda", "torch.cuda.manual_seed(6)", 6),
        ("reseed", "cuda", "torch.cuda.manual_seed_all(7)", 7),
    ]
    assert [event.line for event in seen.events] == list(range(line, line + 7))


def test_set_seeds_is_one_event(torch: Any) -> None:
    with watch() as seen:
        set_seeds(3, deterministic=True)
        with isolated(4):
            torch.rand(1)
        set_seeds(3)
    assert tell(seen) == [("seed", "all", "set_seeds(3)"), ("reseed", "all", "set_seeds(3)")]


def test_a_generator_seeded_before_the_watch_is_known(torch: Any) -> None:
    torch.manual_seed(3)
    with watch() as seen:
        torch.rand(1)
        torch.manual_seed(3)
    assert tell(seen) == [("reseed", "torch", "torch.manual_seed(3)")]


def test_seeds_of_the_generator_itself_are_said_not_to_be_seen(torch: Any) -> None:
    with watch() as seen:
        torch.manual_seed(3)
        line = here() - 1
        torch.default_generator.manual_seed(4)
        torch.manual_seed(5)
    assert tell(seen) == [
        ("seed", "torch", "torch.manual_seed(3)"),
        (
            "reseed",
            "torch",
            f"seed became 4, by something that was not seen, after {__file__}:{line}",
        ),
        ("reseed", "torch", "torch.manual_seed(5)"),
    ]
    assert seen.events[1].seed == 4
    assert seen.events[1].file == ""


def test_the_same_seed_of_the_generator_itself_is_found_in_its_state(torch: Any) -> None:
    with watch() as seen:
        torch.manual_seed(3)
        torch.rand(2000)
        random.seed(1)
        torch.default_generator.manual_seed(3)
        torch.rand(1)
    assert [event.generator for event in seen.events] == ["torch", "python", "torch"]
    assert seen.events[2].what.startswith("state went back, by something that was not seen")


DRAWS: dict[str, Callable[[Any], object]] = {
    "torch.rand": lambda torch: torch.rand(2),
    "torch.randn": lambda torch: torch.randn(2),
    "torch.randint": lambda torch: torch.randint(9, (2,)),
    "torch.randperm": lambda torch: torch.randperm(3),
    "torch.rand_like": lambda torch: torch.rand_like(torch.ones(2)),
    "torch.normal": lambda torch: torch.normal(torch.zeros(2), 1.0),
    "torch.bernoulli": lambda torch: torch.bernoulli(torch.full((2,), 0.5)),
    "torch.multinomial": lambda torch: torch.multinomial(torch.ones(3), 2),
    "torch.poisson": lambda torch: torch.poisson(torch.ones(2)),
    "torch.Tensor.uniform_": lambda torch: torch.empty(2).uniform_(),
    "torch.Tensor.normal_": lambda torch: torch.nn.init.normal_(torch.empty(2)),
    "torch.Tensor.random_": lambda torch: torch.empty(2).random_(),
    "torch.Tensor.exponential_": lambda torch: torch.empty(2).exponential_(),
    "torch.Tensor.bernoulli": lambda torch: torch.full((2,), 0.5).bernoulli(),
    "torch.nn.functional.dropout": lambda torch: torch.nn.Dropout()(torch.ones(2)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_before_a_seed(torch: Any, name: str) -> None:
    with watch() as seen:
        DRAWS[name](torch)
    (event,) = seen.early_draws
    assert (event.kind, event.generator, event.what) == ("draw", "torch", name)
    assert event.file == __file__
    assert event.function == "<lambda>"


def test_a_layer_built_before_the_seed_is_caught_with_the_users_line(torch: Any) -> None:
    with watch() as seen:
        line = here() + 1
        torch.nn.Linear(2, 2)
        torch.manual_seed(1)
        torch.nn.Linear(2, 2)
    (event,) = seen.early_draws
    assert (event.what, event.file, event.line) == ("torch.Tensor.uniform_", __file__, line)
    assert event.count == 2  # weight and bias
    assert [event.kind for event in seen.events] == ["draw", "seed"]


def test_what_draws_nothing_from_the_global_generator_is_no_draw(torch: Any) -> None:
    seeded = torch.Generator().manual_seed(3)
    with watch(draws=True) as seen:
        torch.rand(2, generator=seeded)
        torch.rand(0)
        torch.nn.Dropout().eval()(torch.ones(2))
        torch.empty(2, device="meta").uniform_()
    assert seen.events == ()


def test_a_generator_of_torch_that_nobody_seeded(torch: Any) -> None:
    with watch() as seen:
        torch.rand(2, generator=torch.Generator())
        torch.rand(2, generator=torch.default_generator)
    assert [(event.kind, event.generator) for event in seen.events] == [
        ("unseeded-generator", "torch"),
        ("draw", "torch"),
    ]
    assert seen.events[0].what == (
        "torch.rand(generator=...) with a torch.Generator() that has torch's default seed"
    )


def test_flags_with_file_and_line(torch: Any) -> None:
    set_seeds(1)
    with watch() as seen:
        torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark
        torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True)
        torch.set_deterministic_debug_mode("warn")
        torch.set_deterministic_debug_mode(0)
        os.environ[CUBLAS] = ":16:8"
    assert [(event.generator, event.what.partition(": ")[2]) for event in seen.flags] == [
        ("cudnn_benchmark", "False -> True"),
        ("default_dtype", "torch.float32 -> torch.float64"),
        ("deterministic_algorithms", "False -> True"),
        ("warn_only", "False -> True"),
        ("deterministic_algorithms", "True -> False"),
        ("warn_only", "True -> False"),
        (CUBLAS, "None -> :16:8"),
    ]
    assert {event.file for event in seen.flags} == {__file__}
    assert seen.events == seen.flags


def test_switches_of_tf32(run_python: Callable[..., Any]) -> None:
    """In a process of its own: torch refuses to read the old switches after the new ones."""
    code = """
import torch
from detaudit.seeding import watch
with watch() as seen:
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = True
with watch() as precision:
    torch.set_float32_matmul_precision("medium")
print(json.dumps([[event.generator, event.line] for watch in (seen, precision)
                  for event in watch.events]))
"""
    found = run_python(code)
    assert {"cudnn_conv", "cuda_matmul", "float32_matmul_precision"} <= {name for name, _ in found}
    assert all(line > 0 for _, line in found)


def test_a_flag_that_changes_unseen_is_said_to_be_so(torch: Any) -> None:
    with watch() as seen:
        torch._C._set_cudnn_benchmark(not torch.backends.cudnn.benchmark)
    (event,) = seen.flags
    assert event.what == (
        "cudnn_benchmark: False -> True, by something that was not seen, after the watch began"
    )
    assert (event.file, event.line) == ("", 0)


def test_torch_that_is_imported_within(run_python: Callable[..., Any]) -> None:
    code = """
import importlib.util
from detaudit.seeding import watch
with watch() as seen:
    importlib.util.find_spec("torch")
    import torch
    loader = torch.__spec__.loader
    torch.nn.Linear(2, 2)
    torch.manual_seed(3)
    torch.backends.cudnn.benchmark = True
kept = [torch.manual_seed.__module__, "uniform_" in vars(torch.Tensor), len(vars(loader))]
finders = [type(finder).__name__ for finder in sys.meta_path]
print(json.dumps([[event.what for event in seen.events], kept, "Arrival" in finders]))
"""
    whats, kept, finder = run_python(code)
    assert whats == [
        "torch.Tensor.uniform_",
        "torch.manual_seed(3)",
        "cudnn_benchmark: False -> True",
    ]
    assert kept == ["torch.random", False, 2]  # a loader knows a name and a path
    assert not finder


def test_the_sequence_of_draws_shows_where_two_runs_part(torch: Any) -> None:
    def run(extra: bool) -> Any:
        with watch(draws=True) as seen:
            torch.manual_seed(1)
            torch.nn.Linear(2, 2)
            if extra:
                torch.rand(1)
            torch.randperm(3)
        return seen.trace

    first, again, other = run(False), run(False), run(True)
    assert [draw.what for draw in first] == ["torch.Tensor.uniform_"] * 2 + ["torch.randperm"]
    assert first == again
    assert other[:2] == first[:2]
    assert (other[2].what, other[2].state) == ("torch.rand", first[2].state)
    assert other[3].state != first[2].state


def test_draws_below_python_are_heard(torch: Any) -> None:
    torch.manual_seed(1)
    lstm = torch.nn.LSTM(2, 2, num_layers=3, dropout=0.5)
    torch.manual_seed(1)
    expected = lstm(torch.ones(4, 2))[0]
    torch.manual_seed(1)
    with watch(draws=True) as seen:
        inside = lstm(torch.ones(4, 2))[0]
    assert torch.equal(inside, expected)
    assert {draw.file for draw in seen.trace} == {__file__}
    assert all(draw.what.startswith("torch.ops.aten.") for draw in seen.trace)
    assert len(seen.trace) == 2  # between three layers


def test_a_trained_model_has_the_same_bits_under_a_watch(torch: Any) -> None:
    def train() -> Any:
        set_seeds(3)
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(), torch.nn.GELU())
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(5, 4)).square().sum().backward()
            optimizer.step()
        return [one.detach().clone() for one in model.parameters()]

    expected, state = train(), get_seeds_state()
    for draws in (False, True):
        with watch(draws=draws):
            assert all(map(torch.equal, train(), expected))
        assert get_seeds_state() == state


def test_watches_that_listen_nest(torch: Any) -> None:
    from torch.utils._python_dispatch import _get_current_dispatch_mode

    with watch(draws=True) as outer:
        with watch(draws=True) as inner:
            torch.rand(1)
        torch.rand(1)
    assert _get_current_dispatch_mode() is None
    assert (len(outer.trace), len(inner.trace)) == (2, 1)


def test_fake_tensors_are_no_trouble(torch: Any) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with watch(draws=True) as seen, FakeTensorMode():
        torch.nn.Linear(2, 2)
        torch.manual_seed(1)
        torch.nn.Linear(2, 2)
    assert [event.kind for event in seen.events] == ["seed"]


def test_wrapped_functions_can_be_pickled(torch: Any) -> None:
    with watch(draws=True):
        for function in (torch.manual_seed, torch.rand, torch.nn.functional.dropout):
            assert pickle.loads(pickle.dumps(function)) is function
        sent = pickle.dumps([torch.manual_seed, torch.rand])
    assert pickle.loads(sent) == [torch.manual_seed, torch.rand]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compilers_work_within_and_after_the_watch(run_python: Callable[..., Any]) -> None:
    code = """
import tempfile, pathlib, importlib
folder = tempfile.mkdtemp()
pathlib.Path(folder, "code_of_the_test.py").write_text('''
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout()
    def forward(self, x):
        return self.drop(x) + torch.rand(3)
def seed(x: torch.Tensor):
    torch.manual_seed(3)
    return x + torch.rand(3)
''')
sys.path.insert(0, folder)
import torch
from code_of_the_test import Net, seed
from detaudit.seeding import watch
def compile():
    torch._dynamo.reset()
    torch.compile(Net(), backend="eager", fullgraph=True)(torch.ones(3))
    torch.compile(seed, backend="eager")(torch.ones(3))
with watch() as scripted:
    torch.jit.script(Net())(torch.ones(3))
    torch.jit.script(seed)(torch.ones(3))
torch.seed()
manual_seed = torch.random.manual_seed
with watch() as compiled:
    compile()
torch.jit.script(seed)(torch.ones(3))
compile()
kept = [torch.random.manual_seed is manual_seed, "uniform_" in vars(torch.Tensor)]
closure = [cell.cell_contents for cell in torch.manual_seed.__closure__ or ()]
kept.append(any("watching" in getattr(one, "__code__", one).__repr__() for one in closure))
whats = [event.what for event in scripted.events if event.generator == "torch"]
whats += [event.what for event in compiled.events if event.generator == "torch"]
print(json.dumps([whats, kept, [*scripted.notes, *compiled.notes]]))
"""
    whats, kept, notes = run_python(code)
    assert whats[0].startswith("seed became 3, by something that was not seen")
    assert whats[1:] == ["torch.manual_seed(3)"]
    assert kept == [True, False, False]
    assert notes == []


def test_threads_draw_and_seed(torch: Any) -> None:
    def work(seed: int) -> None:
        # One of its own: a draw is told by the state that it changes.
        torch.manual_seed(seed)
        torch.rand(1)

    with watch(draws=True) as seen:
        threads = [threading.Thread(target=work, args=(n,), name=f"t{n}") for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    seeds = [event for event in seen.events if event.what.startswith("torch.manual_seed(")]
    assert sorted(event.thread for event in seeds) == ["t0", "t1", "t2", "t3"]
    assert len(seen.trace) == 4


def transform(torch: Any) -> list[Any]:
    """Draws, seeds and states inside of whatever can change what an operator does."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    one = torch.ones(3)

    def draw(x: Any) -> Any:
        return torch.nn.functional.dropout(x * torch.rand(3), 0.5)

    def seed(x: Any) -> Any:
        state = torch.get_rng_state()
        torch.manual_seed(3)
        found = draw(x)
        torch.set_rng_state(state)
        return found

    own = torch.Generator()
    results = [torch.func.grad(lambda x: (x * torch.rand(3, generator=own)).sum())(one)]
    for function in (draw, seed):
        results += [
            torch.func.grad(lambda x, f=function: f(x).sum())(one),
            torch.func.vmap(function, randomness="different")(torch.ones(2, 3)),
            *torch.func.jvp(function, (one,), (one,)),
            torch.func.functionalize(function)(one),
            torch.jit.trace(function, one, check_trace=False)(one),
            make_fx(function)(one)(one),
        ]
        with torch.inference_mode():
            results.append(function(one))
    with FakeTensorMode():
        torch.rand(3)
    with torch.device("meta"):
        torch.rand(3)
    return [*results, torch.rand(3)]


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.filterwarnings("error", "ignore:.*torch.jit:DeprecationWarning")
def test_transforms_draw_the_same_under_a_watch(torch: Any, draws: bool, seeded: bool) -> None:
    torch.manual_seed(7)
    expected = transform(torch)
    torch.manual_seed(7)
    return_to_known(frozenset({"torch"} if seeded else ()))
    with watch(draws=draws) as seen:
        results = transform(torch)
    assert all(map(torch.equal, results, expected))
    assert seen.seeds or seen.reseeds


COMPILING = """
import torch
from torch.nn import functional
from torch._higher_order_ops.while_loop import while_loop
from torch.utils.checkpoint import checkpoint
from detaudit.seeding import watch
def draw(x):
    return functional.dropout(x + torch.rand(3), 0.5)
class Net(torch.nn.Module):  # which cannot be compiled as a whole
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(3, 3, 2, dropout=0.5)
    def forward(self, x):
        return functional.dropout(self.lstm(x)[0], 0.5)
def work():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch.manual_seed(7)
    one, results = torch.ones(3), []
    for backend in ("eager", "aot_eager"):
        compiled = torch.compile(draw, backend=backend, fullgraph=True)
        results += [compiled(one), compiled(one)]
        x = torch.ones(2, 2, 3, requires_grad=True)
        torch.compile(Net(), backend=backend)(x).sum().backward()
        results.append(x.grad)
    results.append(torch.cond(torch.tensor(True), torch.sin, torch.cos, (one,)))
    results += while_loop(lambda i: i < 3, lambda i: (i + 1,), (torch.tensor(0),))
    x = torch.ones(3, requires_grad=True)
    checkpoint(draw, x, use_reentrant=False).sum().backward()
    batch = torch.ones(2, 2, 3)
    results += [x.grad, torch.export.export(Net(), (batch,)).module()(batch)]
    frames = torch._dynamo.utils.counters["frames"]["total"]
    return [result.tolist() for result in results], frames
found = [work()]
for draws in (False, True):
    with watch(draws=draws):
        found.append(work())
listened = hasattr(torch.utils._python_dispatch.TorchDispatchMode, "ignore_compile_internals")
print(json.dumps([found, listened]))
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiled_code_draws_the_same_under_a_watch(run_python: Callable[..., Any]) -> None:
    (plain, watched, told), listened = run_python(COMPILING)
    assert watched == plain  # as many frames too: nothing of the watch was compiled
    assert told[0] == plain[0]
    assert told[1] == plain[1] or not listened


@pytest.mark.parametrize("draws", [False, True])
def test_a_fork_of_a_generator_without_a_seed_leaves_it_without_one(
    torch: Any, draws: bool
) -> None:
    with watch(draws=draws) as seen:
        with torch.random.fork_rng():
            torch.manual_seed(3)
            torch.rand(1)
        line = here() + 1
        torch.rand(1)
        torch.manual_seed(3)
        with torch.random.fork_rng():
            torch.manual_seed(4)
        torch.rand(1)
    assert [event.line for event in seen.early_draws] == [line]


def test_a_state_that_is_set_reaches_no_other_device(torch: Any, fake_cuda: Any) -> None:
    with watch() as seen:
        torch.set_rng_state(torch.Generator().manual_seed(5).get_state())
        torch.cuda.manual_seed_all(6)
    assert [(event.kind, event.generator) for event in seen.events] == [
        ("seed", "torch"),
        ("seed", "cuda"),
    ]


@pytest.mark.parametrize("draws", [False, True])
def test_an_unseen_seed_comes_before_the_draws_that_follow_it(torch: Any, draws: bool) -> None:
    with watch(draws=draws) as seen:
        torch.default_generator.manual_seed(4)
        torch.rand(1)
    assert seen.early_draws == ()
    assert (seen.events[0].kind, seen.events[0].seed) == ("seed", 4)


def test_every_unseen_seed_between_draws_is_told(torch: Any) -> None:
    with watch(draws=True) as seen:
        for seed in (4, 5, 6):
            torch.default_generator.manual_seed(seed)
            torch.rand(1)
    assert [event.seed for event in seen.events if event.kind != "draw"] == [4, 5, 6]
