"""Would this model give me the same number again?

Examples:
    >>> import detaudit
    >>> detaudit.__all__
    ['audit', 'get_seeds_state', 'set_seeds']

"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detaudit.audit import audit
from detaudit.version import __version__ as __version__

if TYPE_CHECKING:
    from detaudit.seeding import get_seeds_state, set_seeds

__all__ = ["audit", "get_seeds_state", "set_seeds"]


def __getattr__(name: str) -> Any:
    """Seeding functions, whose module needs NumPy and is loaded when they are first asked for."""
    if name in ("get_seeds_state", "set_seeds"):
        from detaudit import seeding

        return getattr(seeding, name)
    raise AttributeError(f"module 'detaudit' has no attribute '{name}'")
