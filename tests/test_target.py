from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detaudit.errors import UsageError
from detaudit.options import ANY_BACKEND, PROVIDER, SESSION, TORCH, Option
from detaudit.target import Target, parse_target, parse_targets, with_variants

FAMILIES = ("cpu", "cuda", "openvino")


@pytest.mark.parametrize(
    ("text", "name", "provider", "index"),
    [
        ("cpu", "cpu", "CPUExecutionProvider", 0),
        ("cuda", "cuda:0", "CUDAExecutionProvider", 0),
        ("cuda:0", "cuda:0", "CUDAExecutionProvider", 0),
        ("cuda:1", "cuda:1", "CUDAExecutionProvider", 1),
        ("cuda:99", "cuda:99", "CUDAExecutionProvider", 99),
        ("cuda:007", "cuda:7", "CUDAExecutionProvider", 7),
        ("openvino", "openvino", "OpenVINOExecutionProvider", 0),
        ("ep:XnnpackExecutionProvider", None, "XnnpackExecutionProvider", 0),
        ("ep:CPUExecutionProvider", "cpu", "CPUExecutionProvider", 0),
        ("ep:CUDAExecutionProvider", "cuda:0", "CUDAExecutionProvider", 0),
        ("ep:OpenVINOExecutionProvider", "openvino", "OpenVINOExecutionProvider", 0),
        (" cpu ", "cpu", "CPUExecutionProvider", 0),
        ("cpu[]", "cpu", "CPUExecutionProvider", 0),
        (
            "cuda:0[cudnn_conv_algo_search=DEFAULT,use_tf32=0]",
            None,
            "CUDAExecutionProvider",
            0,
        ),
        ("cpu[threads=4,opt=off]", "cpu[opt=off,threads=4]", "CPUExecutionProvider", 0),
        ("cpu[python=old/bin/python]", None, "CPUExecutionProvider", 0),
        ("cpu[env.ATEN_CPU_CAPABILITY=avx2]", None, "CPUExecutionProvider", 0),
        ("cpu[ threads = 4 , opt = off ]", "cpu[opt=off,threads=4]", "CPUExecutionProvider", 0),
    ],
)
def test_device(text: str, name: str | None, provider: str, index: int) -> None:
    target = parse_target(text)
    assert (target.name, target.provider, target.index) == (name or text, provider, index)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cpu[opt=all,execution=sequential,deterministic=0,mem_pattern=1]", "cpu"),
        ("cuda[cudnn_conv_algo_search=EXHAUSTIVE,use_tf32=1,prefer_nhwc=0]", "cuda:0"),
        ("openvino[device_type=CPU]", "openvino"),
        ("cpu[opt=OFF]", "cpu[opt=off]"),
        ("cuda[cudnn_conv_algo_search=default]", "cuda:0[cudnn_conv_algo_search=DEFAULT]"),
        ("cuda[use_tf32=false]", "cuda:0[use_tf32=0]"),
        ("cuda[use_tf32=True]", "cuda:0"),
        ("cpu[mem_pattern=off]", "cpu[mem_pattern=0]"),
        ("cpu[threads=04]", "cpu[threads=4]"),
        ("cpu[threads=0]", "cpu[threads=0]"),
        ("openvino[precision=F32]", "openvino[precision=f32]"),
    ],
)
def test_defaults_are_left_out_and_values_have_one_spelling(text: str, name: str) -> None:
    assert parse_target(text).name == name


def test_options_go_where_they_belong() -> None:
    target = parse_target(
        "cuda:1[use_tf32=0,threads=2,config.session.x=7,env.A=b,python=p,batch=3,opt=off]"
    )
    assert target.provider_options == {"use_tf32": "0"}
    assert target.session_options == {"threads": "2", "opt": "off", "config.session.x": "7"}
    assert target.environment == {"A": "b"}
    assert target.option("python") == "p"
    assert target.option("batch") == "3"
    assert target.option("execution") is None


def test_options_of_an_unknown_provider_pass_through() -> None:
    target = parse_target("ep:QNNExecutionProvider[backend_path=lib.so,threads=2]")
    assert target.provider_options == {"backend_path": "lib.so"}
    assert target.session_options == {"threads": "2"}


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ('openvino[load_config={"CPU":{"A":"1","B":"2"}}]', "load_config", None),
        ("cpu[env.OMP_PLACES={0,1},threads=2]", "env.OMP_PLACES", "{0,1}"),
        ("cpu[env.X=[0,1],threads=2]", "env.X", "[0,1]"),
        ("cpu[config.a.b=c=d]", "config.a.b", "c=d"),
        ("cpu[env.X=]", "env.X", ""),
    ],
)
def test_commas_and_equals_signs_inside_a_value(text: str, key: str, value: str | None) -> None:
    target = parse_target(text)
    assert target.option(key) == (value if value is not None else '{"CPU":{"A":"1","B":"2"}}')
    assert parse_target(target.name) == target
    assert parse_targets(f"{text},cpu[opt=off]")[0] == target


@pytest.mark.parametrize("value", ["0,1", "a]b", "a[b", "{", ""])
def test_quotes_keep_a_value_together_and_are_no_part_of_it(value: str) -> None:
    target = parse_target(f'cpu[env.X="{value}",threads=2]')
    assert target.environment == {"X": value}
    assert target.session_options == {"threads": "2"}
    assert parse_target(target.name) == target
    assert parse_targets(f'cuda:0,cpu[env.X="{value}"],cpu')[1].environment == {"X": value}


def test_quotes_that_nothing_needs_make_no_other_target() -> None:
    assert parse_target('cpu[env.X="a"]') == parse_target("cpu[env.X=a]")


def option_values(option: Option) -> st.SearchStrategy[str]:
    if option.kind == "switch":
        return st.sampled_from(["0", "1", "true", "OFF", "on"])
    if option.kind == "count":
        return st.integers(1, 10**6).map(str)
    if option.values:
        return st.sampled_from(option.values)
    return st.from_regex(r"[A-Za-z0-9_./:=+-]{1,12}", fullmatch=True)


@st.composite
def target_texts(draw: st.DrawFn) -> str:
    family = draw(st.sampled_from(FAMILIES))
    known = {**ANY_BACKEND, **SESSION, **PROVIDER[family]}
    # Another model would bring the devices and options of its own library.
    del known["model"]
    keys = draw(st.lists(st.sampled_from(sorted(known)), unique=True, max_size=5))
    items = [f"{key}={draw(option_values(known[key]))}" for key in keys]
    names = draw(st.lists(st.from_regex(r"[A-Z_][A-Z0-9_]{0,6}", fullmatch=True), unique=True))
    items += [f"env.{name}={draw(option_values(Option()))}" for name in names[:2]]
    device = f"cuda:{draw(st.integers(0, 9))}" if family == "cuda" else family
    return f"{device}[{','.join(draw(st.permutations(items)))}]"


@given(text=target_texts())
def test_a_name_parses_back_into_its_target(text: str) -> None:
    target = parse_target(text)
    assert parse_target(target.name) == target
    assert list(target.options) == sorted(target.options)


@given(texts=st.lists(target_texts(), min_size=1, max_size=4))
def test_a_list_is_its_parts(texts: list[str]) -> None:
    expected = tuple(dict.fromkeys(parse_target(text) for text in texts))
    assert parse_targets(",".join(texts)) == expected
    assert parse_targets(texts) == expected
    assert parse_targets(",".join(target.name for target in expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpu", "unknown device 'gpu'"),
        ("gpu:0", "for a GPU write cuda:0"),
        ("GPU", "for a GPU write cuda:0"),
        ("CUDA:0", "did you mean cuda:0?"),
        ("CPU", "did you mean cpu?"),
        ("opnvino", "did you mean openvino?"),
        ("", "unknown device ''"),
        ("cuda:-1", "unknown device 'cuda:-1'"),
        ("cuda:", "unknown device 'cuda:'"),
        ("cuda:x", "unknown device 'cuda:x'"),
        ("cuda:1.5", "unknown device 'cuda:1.5'"),
        ("cuda:²", "unknown device 'cuda:²'"),
        ("cpu:0", "unknown device 'cpu:0'"),
        ("tpu", "unknown device 'tpu'"),
    ],
)
def test_an_unknown_device_lists_the_known_ones(text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=re.escape(expected)) as caught:
        parse_target(text)
    message = str(caught.value)
    assert "known devices: cpu, cuda, cuda:<number>, openvino, ep:<ProviderName>" in message
    assert f"did you mean {text}?" not in message


@pytest.mark.parametrize("text", ["ep:", "ep:Xnnpack", "ep:cpu", "ep:../ExecutionProvider"])
def test_an_unknown_provider_says_what_names_look_like(text: str) -> None:
    with pytest.raises(UsageError, match="such as ep:XnnpackExecutionProvider"):
        parse_target(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu[", "no closing bracket"),
        ("cpu[threads=4", "no closing bracket"),
        ("cpu[threads=4]x", "no closing bracket"),
        ("cpu]", "unknown device 'cpu]'"),
        ("cpu[threads]", "not of the form key=value"),
        ("cpu[=4]", "unknown option"),
        ("cpu[,]", "an item is empty"),
        ("cpu[threads=4,]", "an item is empty"),
        ("cpu[threads=4,threads=4]", "option threads is given twice"),
        ("cpu[thread=4]", "unknown option thread (did you mean threads?); known options: "),
        ("cpu[use_tf32=0]", "unknown option use_tf32"),
        ("cpu[opt=fast]", "option opt=fast is not one of: off, basic, extended, all"),
        ("cpu[opt=]", "option opt= is not one of: off, basic, extended, all"),
        ("cpu[threads=many]", "option threads=many is not a whole number"),
        ("cpu[threads=-1]", "option threads=-1 is not a whole number"),
        ("cpu[threads=1.5]", "option threads=1.5 is not a whole number"),
        ("cpu[threads=²]", "option threads=² is not a whole number"),
        ("cpu[batch=0]", "option batch=0 is not"),
        ("cpu[mem_pattern=maybe]", "option mem_pattern=maybe is neither 0 nor 1"),
        ("cpu[python=]", "option python= has no value"),
        ("cpu[env.=1]", "option env. does not name an environment variable"),
        ("cpu[env.A B=1]", "does not name an environment variable"),
        ("cuda[cudnn_conv_algo_search=FAST]", "is not one of: EXHAUSTIVE, HEURISTIC, DEFAULT"),
        ('cpu[env.X="a]', "do not match"),
        ("cpu[env.X={]", "do not match"),
        ("cpu[env.X=}]", "do not match"),
        ("ep:XnnpackExecutionProvider[a b=1]", "unknown option a b"),
    ],
)
def test_a_wrong_option_is_named(text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=re.escape(expected)) as caught:
        parse_target(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_unknown_key_lists_every_known_one(family: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_target(f"{family}[no_such_key=1]")
    for key in {**ANY_BACKEND, **SESSION, **PROVIDER[family]}:
        assert key in str(caught.value)
    assert "env.<NAME>" in str(caught.value)
    assert "config.<session config key>" in str(caught.value)


@pytest.mark.parametrize("texts", ["", "  ", []])
def test_an_empty_list_is_refused(texts: str | list[str]) -> None:
    with pytest.raises(UsageError, match="known devices"):
        parse_targets(texts)


@pytest.mark.parametrize("text", [",", "cpu,", ",cpu", "cpu,,cuda"])
def test_an_empty_item_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"an item is empty in '{text}'")):
        parse_targets(text)


def test_duplicates_count_once_in_the_order_given() -> None:
    found = parse_targets(["cuda,cpu[opt=all]", "cpu", "cuda:0[use_tf32=1]", "cpu[opt=off]"])
    assert [target.name for target in found] == ["cuda:0", "cpu", "cpu[opt=off]"]


def names(texts: str) -> list[str]:
    return [target.name for target in with_variants(parse_targets(texts))]


def test_every_cuda_device_brings_its_variants() -> None:
    assert names("cpu,cuda:1[prefer_nhwc=1],openvino") == [
        "cpu",
        "cuda:1[prefer_nhwc=1]",
        "cuda:1[cudnn_conv_algo_search=DEFAULT,prefer_nhwc=1]",
        "cuda:1[prefer_nhwc=1,use_tf32=0]",
        "openvino",
    ]


def test_a_variant_never_overrides_what_was_asked() -> None:
    assert names("cuda[cudnn_conv_algo_search=HEURISTIC]") == [
        "cuda:0[cudnn_conv_algo_search=HEURISTIC]",
        "cuda:0[cudnn_conv_algo_search=HEURISTIC,use_tf32=0]",
    ]


def test_a_variant_that_was_asked_for_comes_once() -> None:
    assert names("cuda,cuda[use_tf32=0]") == [
        "cuda:0",
        "cuda:0[cudnn_conv_algo_search=DEFAULT]",
        "cuda:0[use_tf32=0]",
        "cuda:0[cudnn_conv_algo_search=DEFAULT,use_tf32=0]",
    ]


def test_targets_are_values() -> None:
    target = parse_target("cpu[opt=off]")
    assert target == Target("cpu", (("opt", "off"),))
    assert hash(target) == hash(parse_target("cpu[ opt=OFF ]"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cpu", "cpu"),
        ("cuda", "cuda:0"),
        ("cuda:1", "cuda:1"),
        ("mps", "mps"),
        ("cpu[matmul=highest,deterministic=0,compile=off]", "cpu"),
        ("cpu[deterministic=true]", "cpu[deterministic=1]"),
        ("cpu[deterministic=WARN_ONLY]", "cpu[deterministic=warn_only]"),
        ("cuda[tf32=0]", "cuda:0[tf32=0]"),
        ("cuda[tf32=on]", "cuda:0[tf32=1]"),
        (
            "cpu[threads=04,matmul=Medium,dtype=float64,env.A=b]",
            "cpu[dtype=float64,env.A=b,matmul=medium,threads=4]",
        ),
        ("cpu[autocast=bfloat16,inter_threads=2]", "cpu[autocast=bfloat16,inter_threads=2]"),
    ],
)
def test_a_target_of_torch(text: str, name: str) -> None:
    target = parse_target(text, "torch")
    assert (target.name, target.backend) == (name, "torch")
    assert parse_target(name, "torch") == target
    assert target != parse_target("cpu")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("openvino", "openvino is a device of ONNX Runtime, and the model is run by torch"),
        ("ep:XnnpackExecutionProvider", "is a device of ONNX Runtime"),
        ("gpu", "known devices: cpu, cuda, cuda:<number>, mps (for a GPU write cuda:0)"),
        ("mp", "(did you mean mps?)"),
        ("cpu[opt=off]", "unknown option opt; known options: autocast, batch, compile"),
        ("cpu[config.x=1]", "unknown option config.x"),
        ("cpu[deterministic=2]", "is not one of: 0, 1, warn_only"),
        ("cpu[threads=0]", "option threads=0 is not a whole number of at least 1"),
        ("cpu[batch=0]", "option batch=0 is not a whole number of at least 1"),
        ("cpu[matmul=low]", "is not one of: highest, high, medium"),
        ("cuda[matmul=high,tf32=0]", "matmul and tf32 set the same switch of torch"),
        ("cpu[model=]", "option model= has no value"),
    ],
)
def test_what_torch_does_not_have(text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_target(text, "torch")
    assert told in str(caught.value)


def test_a_device_of_torch_is_refused_for_an_onnx_model() -> None:
    with pytest.raises(UsageError, match="mps is a device of torch, and the model is run by ONNX"):
        parse_target("mps")


def test_a_target_with_a_model_of_its_own_is_run_by_that_model_s_library() -> None:
    onnx = parse_target("cpu[model=export.onnx,opt=off]", "torch")
    assert (onnx.backend, onnx.model) == ("ort", "export.onnx")
    assert onnx.session_options == {"opt": "off"}
    torch = parse_target("cpu[model=net.py:make,matmul=medium]")
    assert (torch.backend, torch.model) == ("torch", "net.py:make")
    assert torch.own_options == {"matmul": "medium"}
    with pytest.raises(UsageError, match="unknown option opt"):
        parse_target("cpu[model=net.py:make,opt=off]")


def test_every_option_of_torch_is_listed() -> None:
    with pytest.raises(UsageError) as caught:
        parse_target("cpu[no_such_key=1]", "torch")
    for key in {**ANY_BACKEND, **TORCH}:
        assert key in str(caught.value)


def test_a_cuda_device_of_torch_brings_deterministic_mode() -> None:
    found = with_variants(parse_targets("cpu,cuda:0,cuda:1[deterministic=warn_only]", "torch"))
    assert [target.name for target in found] == [
        "cpu",
        "cuda:0",
        "cuda:0[deterministic=1]",
        "cuda:1[deterministic=warn_only]",
    ]
    assert {target.backend for target in found} == {"torch"}
