"""What goes wrong, in one line on stderr."""

from __future__ import annotations

import sys


def tell(message: str) -> None:
    """Say what is wrong, if there is anywhere to say it.

    Args:
        message: text; line breaks become blanks

    """
    if sys.stderr is not None:
        print(f"detaudit: {' '.join(message.split())}", file=sys.stderr)


def describe_failure(error: OSError) -> str:
    """What the system refused, and where."""
    if error.errno is None:
        # NumPy counts the bytes that it could not write instead of saying that there is no room.
        import tempfile

        return f"no space left in the temporary folder {tempfile.gettempdir()}: {error}"
    where = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{where}"
