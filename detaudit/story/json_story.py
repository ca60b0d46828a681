"""The story as JSON."""

from __future__ import annotations

import json
from typing import Any

from detaudit.plain import to_plain
from detaudit.version import __version__

from .seeds import is_unseeded
from .told import Story
from .wording import say_verdict

FORMAT = "detaudit-story"
VERSION = 1


def to_json(story: Story) -> dict[str, Any]:
    """Story in the types that strict JSON has, as ``docs/watching.rst`` describes it.

    Args:
        story: what is written

    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "detaudit": __version__,
        **to_plain(story),
        "runs": [{**to_plain(run), "versions": dict(run.versions)} for run in story.runs],
        "verdict": {
            "unseeded": any(is_unseeded(run) for run in story.runs),
            "parted": story.parted is not None if len(story.runs) > 1 else None,
            "sentences": list(say_verdict(story)),
        },
    }


def render_json(story: Story) -> str:
    """Story as JSON text in ASCII, indented, its last line ended."""
    return json.dumps(to_json(story), indent=2, allow_nan=False) + "\n"
