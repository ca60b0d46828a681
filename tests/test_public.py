"""What the package offers, and which part of it knows which."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import detaudit

PACKAGE = Path(detaudit.__file__).parent
ROOT = PACKAGE.parent
HEAVY = ("numpy", "torch", "onnx", "onnxruntime", "pandas", "rich", "scipy", "yaml", "audonnx")


def run(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def loaded_by(code: str) -> set[str]:
    """Heavy packages that a fresh interpreter has loaded after some code."""
    tail = "import sys, json; print(json.dumps([m.split('.')[0] for m in sys.modules]))"
    return set(json.loads(run(f"{code}\n{tail}").splitlines()[-1])) & set(HEAVY)


def test_the_surface_is_small() -> None:
    assert detaudit.__all__ == ["audit", "get_seeds_state", "set_seeds"]
    assert all(callable(getattr(detaudit, name)) for name in detaudit.__all__)
    assert detaudit.__version__
    with pytest.raises(AttributeError, match="module 'detaudit' has no attribute 'nothing'"):
        detaudit.nothing  # noqa: B018


@pytest.mark.parametrize(
    "code",
    [
        "import detaudit",
        "import detaudit.audit; detaudit.audit.__call__",
        "import detaudit.cli, detaudit.errors, detaudit.spec, detaudit.target",
        "import detaudit; from detaudit.audit import plan_audit; plan_audit('m', 'cpu,cuda')",
        "import detaudit.pytest_plugin",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code: str) -> None:
    assert loaded_by(code) == set()


def test_seeding_loads_numpy_and_nothing_else() -> None:
    assert loaded_by("import detaudit; detaudit.set_seeds(1)") == {"numpy"}


@pytest.mark.parametrize(
    "code",
    [
        "import detaudit.audit",
        "import detaudit.audit as module",
        "from detaudit import audit",
        "from detaudit.audit import plan_audit",
        "import detaudit.cli, detaudit.cli.run, detaudit.capture.capture, detaudit.judge.judge",
    ],
)
def test_the_function_is_not_hidden_by_its_module(code: str) -> None:
    print(run(f"import detaudit\n{code}\nassert callable(detaudit.audit)"))


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(name: str, *, lazy: bool = True, typing: bool = False) -> set[str]:
    """Modules of detaudit that a module imports.

    Args:
        name: the module
        lazy: whether imports inside functions count
        typing: whether imports for annotations count

    """
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and not typing:
            return
        if isinstance(node, ast.FunctionDef) and not lazy:
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                above = ".".join(parts[: len(parts) - node.level + 1])
                base = f"{above}.{base}" if base else above
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in MODULES else base)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return {module for module in found if module.split(".")[0] == "detaudit"}


def area(module: str) -> str:
    return ".".join(module.split(".")[:2])


NOUNS = {
    f"detaudit.{name}"
    for name in (
        *("errors", "target", "options", "spec", "record", "report", "rows", "plain"),
        *("target_row", "requirement", "version", "archive", "placing", "traits", "items"),
        "comparison",
        *("command", "project"),
    )
}
MAY_IMPORT = {
    "detaudit.metrics": set(),
    "detaudit.seeding": set(),
    "detaudit.worker": {"detaudit.seeding"},
    "detaudit.models": NOUNS,
    # Records hold what metrics summed up and what models declare, never how it was done.
    **{noun: NOUNS | {"detaudit.metrics", "detaudit.models"} for noun in NOUNS},
    "detaudit.judge": NOUNS | {"detaudit.metrics", "detaudit.models"},
    "detaudit.capture": NOUNS
    | {"detaudit.metrics", "detaudit.models", "detaudit.seeding", "detaudit.worker"},
    "detaudit.render": NOUNS,
    "detaudit.demo": {"detaudit.seeding", "detaudit"},
    "detaudit.story": NOUNS | {"detaudit.render", "detaudit.seeding"},
    "detaudit.audit": NOUNS
    | {*("detaudit.capture", "detaudit.judge", "detaudit.models", "detaudit.worker")},
    "detaudit.cli": NOUNS
    | {
        *("detaudit.audit", "detaudit.capture", "detaudit.judge", "detaudit.render"),
        *("detaudit.demo", "detaudit.models", "detaudit.story"),
    },
    "detaudit.__main__": {"detaudit.cli"},
    "detaudit.pytest_plugin": NOUNS
    | {*("detaudit.audit", "detaudit.capture", "detaudit.judge", "detaudit.render")},
    "detaudit": {"detaudit.audit", "detaudit.seeding", "detaudit.version"},
}


@pytest.mark.parametrize("name", MODULES)
def test_everything_depends_in_one_direction(name: str) -> None:
    own = area(name)
    foreign = {area(module) for module in imports(name)} - {own}
    assert foreign <= MAY_IMPORT[own], f"{name} imports {sorted(foreign - MAY_IMPORT[own])}"


@pytest.mark.parametrize("name", [n for n in MODULES if area(n) == "detaudit.render"])
def test_renderers_know_the_report_and_nothing_of_the_record(name: str) -> None:
    known = {module for module in imports(name, typing=True) if area(module) != "detaudit.render"}
    assert known <= {
        f"detaudit.{n}"
        for n in (
            *("report", "rows", "target_row", "plain", "placing", "spec", "errors", "version"),
            "comparison",
        )
    }


def test_nothing_goes_in_circles() -> None:
    graph = {name: imports(name, lazy=False) & set(MODULES) for name in MODULES}
    # Importing a module runs the packages above it first.
    graph = {
        name: {m for m in found if m != name and not name.startswith(f"{m}.")}
        for name, found in graph.items()
    }
    done: set[str] = set()

    def walk(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for found in sorted(graph[name]):
                walk(found, (*trail, name))
            done.add(name)

    for name in graph:
        walk(name, ())


@pytest.mark.parametrize("name", [n for n in MODULES if area(n) == "detaudit.worker"])
def test_a_worker_needs_numpy_and_the_runtime_only(name: str) -> None:
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    allowed = {
        *("detaudit", "numpy", "onnxruntime", "onnxruntime_ep_openvino", "audonnx"),
        *("torch", "safetensors"),
    }
    assert found - set(sys.stdlib_module_names) <= allowed


USE = """
import sys
for name in ("torch", "onnx", "onnxruntime", "audonnx"):
    sys.modules[name] = None
import io, json
from pathlib import Path
import pkgutil, importlib
import detaudit.judge, detaudit.metrics, detaudit.render
for package in (detaudit.judge, detaudit.metrics, detaudit.render):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
from detaudit.archive import open_record
from detaudit.judge.judge import judge
from detaudit.render.csv_tables import write_csv
from detaudit.render.json_report import render_json
from detaudit.render.terminal import print_report
folder = Path(sys.argv[1])
with open_record(folder / "r.audit") as record:
    report = judge(record)
write_csv(report, folder / "rows.csv", directory=False)
write_csv(report, folder / "tables", directory=True)
text = io.StringIO()
print_report(report, text)
assert json.loads(render_json(report))["verdict"]["sentence"] == report.verdict.sentence
assert len(report.frame()) > 100
print(len(text.getvalue()) > 500, (folder / "tables" / "targets.csv").stat().st_size > 0)
"""


def test_a_record_is_judged_and_rendered_without_any_runtime(tmp_path: Path) -> None:
    from detaudit.archive import save_record
    from tests.records import Plan, always, by_run, floats, make_record

    record = make_record(
        {
            "cpu": by_run(floats(0.25, 0.5), floats(0.25, 0.625)),
            "cpu[opt=off]": always(floats(0.25, 0.75)),
            "cuda:0": "no driver",
        },
        Plan(samples=2),
        labels=(("y", ("cat", "dog")),),
        requirement="decimals=2",
    )
    save_record(record, tmp_path / "r.audit")
    assert run(USE, str(tmp_path)) == "True True"
