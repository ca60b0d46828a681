"""The project's checks, each a session: ``nox -f tests/noxfile.py [-s NAME]``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.readme import read_command  # noqa: E402

PRIVATE = shutil.ignore_patterns(".*", "__pycache__", "_build", "build", "dist", "*.egg-info")

TEST_TOOLS = ("docutils", "hypothesis", "jsonschema", "pytest", "pytest-xdist")
PARALLEL = ("-n", "auto", "--maxprocesses", "4", "--dist", "loadfile")

nox.options.default_venv_backend = "venv"
nox.options.envdir = str(ROOT / ".nox")
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "tests", "oldest", "oldest_torch", "docs", "demo"]


def install(session: nox.Session, *packages: str, constraints: str = "constraints.txt") -> None:
    """Go to the repository's root and install packages in their pinned versions."""
    session.chdir(ROOT)
    session.install("-c", constraints, *packages)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    install(session, "ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types."""
    install(session, "mypy", "pytest", "-e", ".")
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the whole suite, doctests included, that needs no GPU."""
    install(session, "-e", ".[all-cpu,test]")
    session.run("pytest", *PARALLEL, *session.posargs)


@nox.session
def oldest(session: nox.Session) -> None:
    """Run the suite's core on the oldest supported versions."""
    install_oldest(session)
    session.run(
        "pytest", *PARALLEL, "tests", "-m", "not gpu and not modern and not torch", *session.posargs
    )


@nox.session
def oldest_torch(session: nox.Session) -> None:
    """Run the tests of torch on its oldest supported version, with the other oldest versions."""
    install_oldest(session, "torch", "transformers")
    session.run(
        "pytest", *PARALLEL, "tests", "-m", "torch and not gpu and not modern", *session.posargs
    )


def install_oldest(session: nox.Session, *packages: str) -> None:
    """Install the oldest supported versions of what the tests need and of further packages."""
    if sys.version_info >= (3, 12):
        session.skip("the oldest supported versions have wheels for Python 3.10 and 3.11 only")
    core = ("-e", ".", "onnxruntime", "audiofile", *TEST_TOOLS)
    install(session, *core, *packages, constraints="constraints-oldest.txt")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation; a warning is an error."""
    install(session, "-e", ".[docs]")
    session.run("sphinx-build", "-q", "-W", "-b", "html", "docs", "docs/_build/html")


@nox.session(venv_backend="none")
def demo(session: nox.Session) -> None:
    """Run the README's main command in a fresh copy of the repository."""
    copy = Path(session.create_tmp()) / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT, copy, ignore=PRIVATE)
    session.chdir(copy)
    session.run("bash", "-euo", "pipefail", "-c", read_command("demo"))
