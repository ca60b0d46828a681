"""From what is asked to what happened: a worker is started, then the libraries are loaded."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from detaudit.capture.launch import launch
from detaudit.capture.progress import Progress
from detaudit.errors import UsageError

if TYPE_CHECKING:
    from detaudit.record import Record
    from detaudit.spec import AuditSpec
    from detaudit.target import Target


def capture(spec: AuditSpec, progress: Progress = lambda *_: None) -> Record:
    """Run a model on every target.

    Ctrl-C ends the target that runs; what was captured before is in the record.

    Args:
        spec: what to run
        progress: told after every call

    Returns:
        what happened; its arrays live as long as the record does

    Raises:
        UsageError: if the command cannot be meant as it stands
        ModelError: if the file is no valid or safe model

    """
    _check_interpreters(spec.targets)
    with (
        tempfile.TemporaryDirectory(prefix="detaudit-") as folder,
        launch(spec.targets[0], spec.timeout) as first,
    ):
        # The worker loads its libraries while this process loads its own.
        from detaudit.capture.course import follow_course

        return follow_course(spec, first, Path(folder), progress)


def _check_interpreters(targets: Sequence[Target]) -> None:
    for target in targets:
        python = target.option("python")
        if python is not None and not Path(python).is_file():
            raise UsageError(f"{python} is no Python interpreter (in target '{target.name}')")
