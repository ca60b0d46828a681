"""Watching what happens to the randomness of a process."""

from __future__ import annotations

from .opening import watch
from .record import Watch

__all__ = ["Watch", "watch"]
