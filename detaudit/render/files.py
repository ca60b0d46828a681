"""Writing text files whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from detaudit.placing import placed


def write_file(path: Path, text: str) -> None:
    """Write a text in UTF-8; a file that was there is replaced at once, when all is written.

    Args:
        path: file, in a folder that exists
        text: content; its line ends are kept

    Raises:
        OSError: if it cannot be written; what was there is left as it was

    """
    write_files(path.parent, {path.name: text})


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write several texts; none is put in place before all are written.

    Args:
        folder: where, exists
        texts: content by file name

    Raises:
        OSError: if one cannot be written

    """
    with ExitStack() as stack:
        for name, text in texts.items():
            # Halves of surrogate pairs, which names of files may hold, become escapes.
            data = text.encode("utf-8", "backslashreplace")
            stack.enter_context(placed(folder / name)).write_bytes(data)
