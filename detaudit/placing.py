"""Putting files in place: whole or not at all, and never in the place of what is no file."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def placed(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file; what was there is replaced at once, when all is written.

    A link stays one and its target is written; into a device or a pipe the bytes are copied.

    Args:
        path: where the file is to be, in a folder that exists

    Yields:
        path to write to

    Raises:
        OSError: if it cannot be written; what was there is left as it was

    """
    path = Path(path)
    stream = is_stream(path)
    target = path if stream else Path(os.path.realpath(path))
    try:
        beside = None if stream else target.parent
        with tempfile.TemporaryDirectory(prefix=".detaudit-", dir=beside) as folder:
            temporary = Path(folder) / path.name
            yield temporary
            if stream:
                with temporary.open("rb") as source, path.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
            else:
                temporary.replace(target)
    except OSError as error:
        # NumPy tells in words of its own that the disk is full, and nobody tells which file it is.
        code = error.errno or errno.ENOSPC
        raise OSError(code, os.strerror(code), str(path)) from None


def is_stream(path: Path) -> bool:
    """Whether a path is a device, a pipe or an open file of a process, and no file of its own."""
    if path.absolute().parts[:2] in (("/", "dev"), ("/", "proc")):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()
