"""How far an audit is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with the target's name, the calls that ended and the calls that are planned."""
