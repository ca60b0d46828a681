from __future__ import annotations

from typing import Any

import pytest

from detaudit.judge.judge import judge
from detaudit.record import Record
from detaudit.report import Finding
from detaudit.traits import OpTrait, TrainingTrait, Traits
from tests.records import (
    Call,
    Facts,
    Plan,
    always,
    by_run,
    floats,
    make_model,
    make_record,
    make_torch_record,
    torch_facts,
)

THREE = by_run(floats(1), floats(2), floats(4))
STEADY = always(floats(1))
DROPOUT = OpTrait("aten.bernoulli_", "drop (Dropout)")
DROPPING = Traits(random_ops=(DROPOUT,), draws=("torch",), reseeded_calls=3, reseeded_equal=True)
SCATTER = Traits(unordered_ops=(OpTrait("aten.scatter_", ""),))
STEADY_SCOPES = " The first calls of fresh sessions and fresh processes are equal."


def audited(
    traits: Traits, call: Call = STEADY, target: str = "cpu", plan: Plan | None = None, **asked: Any
) -> Record:
    facts = {target: torch_facts(traits=traits)}
    return make_torch_record({target: call}, plan, facts=facts, asked=asked)


def found(record: Record, kind: str) -> Finding:
    (finding,) = [finding for finding in judge(record).findings if finding.kind == kind]
    return finding


def kinds(record: Record) -> list[str]:
    return [finding.kind for finding in judge(record).findings]


UNSEEN = (
    "What makes calls differ, no look at them showed: it may be something that the model keeps from"
    " call to call (a cache, a counter), what it draws or reads elsewhere (the time, the system, a"
    " generator of its own), or threads that finish in any order: compare threads=1."
)


@pytest.mark.parametrize(
    ("traits", "cause"),
    [
        (
            DROPPING,
            (
                "The model draws random numbers: aten.bernoulli_ in drop (Dropout). Every call goes"
                " on where the last one ended. With the seed set right before each call, 3 calls"
                " gave the same bits."
            ),
        ),
        (
            Traits(random_ops=(OpTrait("aten.rand", ""),), draws=("torch", "numpy")),
            (
                "The model draws random numbers: aten.rand, and from the generators of NumPy. Every"
                " call goes on where the last one ended."
            ),
        ),
        (
            Traits(draws=("torch", "python")),
            (
                "The model draws random numbers from the generators of torch, Python's random."
                " Every call goes on where the last one ended."
            ),
        ),
        (
            Traits(random_ops=(DROPOUT,), reseeded_calls=3, reseeded_equal=False),
            (
                "The model draws random numbers: aten.bernoulli_ in drop (Dropout). Every call goes"
                " on where the last one ended. With the seed set right before each call, 3 calls"
                f" still differed: a seed alone does not cure it. {UNSEEN}"
            ),
        ),
        (
            Traits(draws=("torch",), seeds=("torch.manual_seed(7) at net.py:3",)),
            (
                "The model draws random numbers from the generators of torch. It seeds them itself"
                " at every call, with another seed each time."
            ),
        ),
        (
            Traits(changed_weights=("cell.state", "count")),
            (
                "Calls change what the model holds (cell.state, count), and later ones go on from"
                " there."
            ),
        ),
        (
            Traits(),
            UNSEEN,
        ),
    ],
    ids=["ops", "ops and generators", "generators", "no cure", "own seeds", "state", "unseen"],
)
def test_drift_from_run_to_run_is_explained(traits: Traits, cause: str) -> None:
    """J10, J18: a seed is never said to cure what it was not seen to cure."""
    finding = found(audited(traits, THREE), "run-drift")
    what = "3 distinct results in 4 runs of y, up to 3.0e+00 apart."
    assert (finding.level, finding.message) == ("warning", f"{what} {cause}{STEADY_SCOPES}")


def test_draws_that_differ_from_process_to_process() -> None:
    call: Call = lambda process, *_: {"y": floats(process)}  # noqa: E731
    what = "2 distinct results in 2 processes of y, up to 1.0e+00 apart."
    drawn = "The model draws random numbers: aten.bernoulli_ in drop (Dropout)."
    traits = Traits(random_ops=(DROPOUT,))
    cure = "Nothing seeded them: leave out --no-seed."
    plan = Plan(sessions=1)
    record = audited(traits, call, plan=plan, seeded=False)
    assert found(record, "process-drift").message == f"{what} {drawn} {cure}"
    reach = "All had the same seed: one generator is out of its reach, or another cause adds to it."
    record = audited(traits, call, plan=plan)
    assert found(record, "process-drift").message == f"{what} {drawn} {reach}"


@pytest.mark.parametrize(
    ("target", "traits", "effective", "call", "cause"),
    [
        (
            "cuda:0",
            Traits(),
            {},
            THREE,
            "Sums with atomic additions finish in any order on a GPU: compare deterministic=1.",
        ),
        (
            "cuda:0",
            Traits(nondeterministic=("put_", "index_add_cuda_")),
            {},
            THREE,
            (
                "Sums with atomic additions finish in any order on a GPU: compare deterministic=1,"
                " which refuses put_, index_add_cuda_."
            ),
        ),
        (
            "cuda:0[deterministic=1]",
            Traits(),
            {},
            THREE,
            (
                "Sums with atomic additions finish in any order on a GPU: this was in deterministic"
                " mode, which torch's own operators obey alone."
            ),
        ),
        (
            "cuda:0",
            Traits(),
            {"flags": {"cudnn_benchmark": True}},
            lambda _p, session, *_: {"y": floats(session)},
            (
                "cuDNN and cuBLAS may choose their algorithms anew (torch.backends.cudnn.benchmark"
                " is on, which times them): compare deterministic=1."
            ),
        ),
        (
            "cuda:0",
            Traits(),
            {"flags": {"cudnn_benchmark": False}},
            lambda process, *_: {"y": floats(process)},
            (
                "What is chosen once per process, such as an algorithm or a plan, differs: compare"
                " deterministic=1."
            ),
        ),
        (
            "cpu",
            Traits(),
            {},
            lambda _p, session, *_: {"y": floats(session)},
            "Something is chosen when the model is built or first called.",
        ),
        (
            "cpu",
            Traits(),
            {},
            lambda process, *_: {"y": floats(process)},
            "Something is drawn or chosen once per process: seeds, hash order, addresses.",
        ),
        (
            "cpu",
            Traits(),
            {},
            by_run(floats(1), floats(2)),
            (
                "The first call may run in another way than later ones (torch.compile, TorchScript"
                " and cuDNN choose and optimise as they go): never drop it as a warm-up."
            ),
        ),
    ],
)
def test_drift_without_random_numbers_is_explained_in_torch_s_own_terms(
    target: str, traits: Traits, effective: dict[str, Any], call: Call, cause: str
) -> None:
    facts = {target: torch_facts(traits=traits, effective=effective)}
    first, *_ = [
        finding.message
        for finding in judge(make_torch_record({target: call}, facts=facts)).findings
        if finding.kind.endswith(("-drift", "run-differs"))
    ]
    assert f"apart. {cause}" in first
    for foreign in ("mem_pattern", "--seed-runtime", "ONNX", "cudnn_conv_algo_search"):
        assert foreign not in first


def test_onnx_models_keep_their_own_advice() -> None:
    finding = found(make_record({"cpu": by_run(floats(1), floats(2))}), "first-run-differs")
    assert "mem_pattern=0" in finding.message
    record = make_torch_record(
        {"cpu": STEADY, "cpu[model=export.onnx]": by_run(floats(1), floats(2))}
    )
    assert "mem_pattern=0" in found(record, "first-run-differs").message


def test_draws_without_effect() -> None:
    record = audited(DROPPING)
    assert found(record, "random-ops-without-effect") == Finding(
        "info",
        "random-ops-without-effect",
        "cpu",
        None,
        "The model draws random numbers: aten.bernoulli_ in drop (Dropout). But no difference was"
        " seen: they may have no effect on the outputs, or need a rarer input.",
    )
    assert "random-ops-without-effect" not in kinds(audited(DROPPING, THREE))
    assert kinds(audited(Traits())) == []


def test_draws_that_could_not_show() -> None:
    """Seeded sessions begin alike, so that one call in each of them is always the same."""
    record = audited(DROPPING, plan=Plan(runs=1))
    assert found(record, "random-ops") == Finding(
        "warning",
        "random-ops",
        "cpu",
        None,
        "The model draws random numbers: aten.bernoulli_ in drop (Dropout). Each session made one"
        " call per input, which cannot show what they change: let --runs be 2 or more.",
    )


TRAINING = Traits(
    training=(
        TrainingTrait("drop", "Dropout", "draws a new mask at every call (p=0.5)"),
        TrainingTrait("", "Net", "is in training mode"),
    )
)
MODULES = (
    "drop (Dropout) draws a new mask at every call (p=0.5), the model itself (Net) is in training"
    " mode. "
)


@pytest.mark.parametrize(
    ("evaluate", "cure"),
    [
        (False, "Nothing was switched; --eval switches the model to evaluation mode."),
        (True, "--eval switched the model to evaluation mode, which does not change that."),
    ],
)
def test_training_mode_is_told_although_nothing_drifts(evaluate: bool, cure: str) -> None:
    """J17."""
    record = audited(TRAINING, evaluate=evaluate)
    assert judge(record).findings == (
        Finding("warning", "training-mode", "cpu", None, MODULES + cure),
    )
    assert judge(record).model["evaluate"] is evaluate


def test_weights_that_calls_change() -> None:
    record = audited(Traits(changed_weights=("norm.running_mean", "norm.running_var")))
    assert judge(record).findings == (
        Finding(
            "warning",
            "weights-changed",
            "cpu",
            None,
            "Calls change weights or buffers of the model (norm.running_mean, norm.running_var): a"
            " result may depend on how often it was called before.",
        ),
    )


def test_operators_that_warn_are_all_named() -> None:
    names = ("put_", "index_add_cuda_", "cumsum_cuda_kernel", "a", "b", "c")
    record = audited(Traits(nondeterministic=names), target="cpu[deterministic=warn_only]")
    assert judge(record).findings == (
        Finding(
            "warning",
            "nondeterministic-ops",
            "cpu[deterministic=warn_only]",
            None,
            "Operators without a deterministic implementation ran: put_, index_add_cuda_,"
            " cumsum_cuda_kernel, a, b, c.",
        ),
    )


@pytest.mark.parametrize(
    ("own", "other", "seen"),
    [
        (STEADY, STEADY, "No difference was seen here; other devices may differ."),
        (
            STEADY,
            always(floats(2)),
            (
                "Results differ here, which is undefined by specification where places repeat, and"
                " no defect of a device."
            ),
        ),
        (
            by_run(floats(1), floats(2), floats(3)),
            STEADY,
            (
                "Results differ here, which is undefined by specification where places repeat, and"
                " no defect of a device."
            ),
        ),
    ],
)
def test_results_that_no_specification_defines(own: Call, other: Call, seen: str) -> None:
    """J6: told of the target that differs, by its own runs or from the reference."""
    told = torch_facts(traits=SCATTER)
    name = "cpu" if own is not STEADY else "cuda:0"
    record = make_torch_record({"cpu": own, "cuda:0": other}, facts={name: told})
    assert found(record, "undefined-order") == Finding(
        "info",
        "undefined-order",
        name,
        None,
        "aten.scatter_: which of several values for one place counts is undefined. " + seen,
    )


def test_compiled_draws_are_others_by_design() -> None:
    """J16, also where the compiled code does not tell its operators."""
    name = "cpu[compile=1]"
    calls: dict[str, Call | str] = {"cpu": THREE, name: THREE}
    record = make_torch_record(calls, facts={"cpu": torch_facts(traits=DROPPING)})
    assert found(record, "compiled-random") == Finding(
        "info",
        "compiled-random",
        name,
        None,
        "torch.compile draws random numbers of its own: what depends on them differs by design from"
        " results without compile=1. torch._inductor.config.fallback_random = True lets both draw"
        " the same.",
    )
    assert "compiled-random" not in kinds(make_torch_record(calls))
    without = make_torch_record({"cpu": THREE}, facts={"cpu": torch_facts(traits=DROPPING)})
    assert "compiled-random" not in kinds(without)


def test_notes_are_passed_on() -> None:
    record = audited(Traits(notes=("one", "two")))
    assert [(f.level, f.kind, f.target, f.message) for f in judge(record).findings] == [
        ("info", "note", "cpu", "one"),
        ("info", "note", "cpu", "two"),
    ]


def test_a_model_in_training_mode_without_a_module_that_acts_on_it_is_no_warning() -> None:
    whole = TrainingTrait("", "Net", "is in training mode, which its code may ask for")
    (finding,) = judge(audited(Traits(training=(whole,)))).findings
    assert (finding.level, finding.kind) == ("info", "training-mode")


def test_a_model_that_seeds_itself_is_told_with_the_place() -> None:
    record = audited(Traits(draws=("torch",), seeds=("torch.manual_seed(5) at net.py:51",)))
    (finding,) = judge(record).findings
    assert (finding.level, finding.kind) == ("warning", "seeds-itself")
    assert finding.message == (
        "Calls seed generators themselves (torch.manual_seed(5) at net.py:51): their random numbers"
        " are those of that seed, and so are the numbers that others draw afterwards."
    )


def test_traits_are_told_once_per_target_and_stand_in_the_report() -> None:
    record = make_torch_record(
        {"cpu": STEADY, "cpu[threads=1]": STEADY},
        facts={name: torch_facts(traits=TRAINING) for name in ("cpu", "cpu[threads=1]")},
    )
    assert kinds(record) == ["training-mode", "training-mode"]
    assert [row.traits for row in judge(record).targets] == [TRAINING, TRAINING]


def test_random_operators_of_the_model_that_ran_are_the_cause() -> None:
    """The other model is asked, and not the audited one."""
    from detaudit.models.model import RandomOp

    draw = RandomOp("RandomUniform", "draw", "", seeded=False)
    export = make_model("y", random_ops=(draw,))
    name = "cpu[model=export.onnx]"
    told = Facts(model=export)
    record = make_torch_record({"cpu": STEADY, name: THREE}, facts={name: told})
    assert "RandomUniform 'draw'" in found(record, "run-drift").message
