"""``detaudit demo``: the main job on the model that ships with detaudit."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Audit the bundled model on the voice that comes with it.

    Args:
        arguments: what follows the command; the options of an audit

    """
    from detaudit.cli import run
    from detaudit.demo import model_path, voice_path

    return run.main(arguments, model=str(model_path()), source=str(voice_path()))
